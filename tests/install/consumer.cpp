// SPDX-License-Identifier: MIT
// Uses the installed library, catches its exception and prints its version.
#include <iostream>
#include <parafield/parafield.hpp>
#include <string>

static_assert(PARAFIELD_VERSION_NUMBER ==
              parafield::version_major * 10000 + parafield::version_minor * 100 + parafield::version_patch);

int main() {
  const std::string headers = std::to_string(parafield::version_major) + "." +
                              std::to_string(parafield::version_minor) + "." +
                              std::to_string(parafield::version_patch);
  if (headers != parafield::version()) return 2;
  try {
    parafield::FlowEstimator(parafield::LucasKanade{.window = -1}, {64, 48},
                             {.device = parafield::Device::cpu()});
    return 3;
  } catch (const parafield::Error& error) {
    if (error.code() != parafield::ErrorCode::invalid_argument) return 4;
  }
  const parafield::Scene scene = parafield::render_scene("translation", {.size = {64, 48}});
  const parafield::FlowField flow = parafield::estimate_flow(scene.frames[0], scene.frames[1]);
  if (!(parafield::evaluate(flow, scene.flow[0]).epe < 1)) return 5;
  std::cout << parafield::version() << '\n';
}
