// SPDX-License-Identifier: MIT
// The C++ side of calls.py: times calls of an estimator. Reads requests from standard input, a line each:
//   DEVICE METHOD PRESET WIDTH HEIGHT CALLS THREADS
// and writes a line for each: microseconds of the thread that calls, and microseconds from call to call with
// the device's work, both for one call. Frames and results lie on the device.
#include <array>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <parafield/parafield.hpp>
#include <sstream>

namespace {

using namespace parafield;
using Clock = std::chrono::steady_clock;

double microseconds(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

void measure(const Device& device, const std::string& method, const std::string& preset, Size size,
             int calls) {
  FlowMethod chosen = method_named<FlowMethod>(method);
  std::visit([&]<class Method>(Method& value) { value = parafield::preset<Method>(preset); }, chosen);
  FlowEstimator estimator(chosen, size, {.device = device});
  const Memory memory = device.kind == Device::Kind::cpu ? Memory::host() : Memory::cuda(device.index);
  const Scene scene = render_scene("rotation", {.size = size});
  const FrameBuffer first = scene.frames[0].to(memory), second = scene.frames[1].to(memory);
  FlowField output(size, memory);
  const std::array<Frame, 2> frames = {first, second};
  const auto call = [&] { estimator(FlowInput{.frames = frames}, output); };
  for (int i = 0; i < 10; ++i) call();
  estimator.synchronize();

  Clock::duration issued = {};
  constexpr int queued = 100;  // few enough that no call waits for room
  for (int done = 0; done < calls; done += queued) {
    const auto begin = Clock::now();
    for (int i = 0; i < queued; ++i) call();
    issued += Clock::now() - begin;
    estimator.synchronize();
  }
  const auto begin = Clock::now();
  for (int i = 0; i < calls; ++i) call();
  estimator.synchronize();
  const auto all = Clock::now() - begin;
  std::printf("%.3f %.3f\n", microseconds(issued) / ((calls + queued - 1) / queued * queued),
              microseconds(all) / calls);
  std::fflush(stdout);
}

}  // namespace

int main() {
  try {
    for (std::string line; std::getline(std::cin, line);) {
      std::istringstream words(line);
      std::string device, method, preset;
      Size size;
      int calls = 0, threads = 0;
      if (!(words >> device >> method >> preset >> size.width >> size.height >> calls >> threads))
        throw std::invalid_argument("not a request: " + line);
      measure(parse_device(device, threads), method, preset, size, calls);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
