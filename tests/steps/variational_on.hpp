// SPDX-License-Identifier: MIT
#pragma once
// Two frames and a flow between them, and its variational refinement on a target.
#include <cmath>
#include <random>
#include <vector>

#include "core/backend.hpp"
#include "noise.hpp"
#include "planes_on.hpp"
#include "steps/variational/refiner.hpp"
#include "targets.hpp"

namespace parafield {

struct RefinementCase {
  Size size;
  std::vector<float> frames[2];       // three channels, interleaved, 0 to 255
  std::vector<float> u, v;            // to refine
  std::vector<float> back_u, back_v;  // of the second frame; may be empty

  /// Moving colors, with an edge beyond which they move otherwise. The flow is off by up to `error` px.
  RefinementCase(Size s, unsigned seed, float error, bool has_back) : size(s) {
    std::mt19937 random(seed);
    const auto noise = [&](float most) { return most * (float(random() % 2001) / 1000 - 1); };
    const float motion_u = noise(1.5f), motion_v = noise(1.5f), phase = noise(3);
    const auto moves = [&](int x) { return x > s.width / 2 ? 1.0f : 0.4f; };
    const auto texture = [&](float x, float y, int channel) {
      const float c = 0.2f * float(channel);
      return 128 + 50 * std::sin((0.35f + c) * x + 0.1f * y + phase) +
             40 * std::sin((0.5f - c) * y - 0.2f * x) + 25 * std::sin(0.8f * x + 0.7f * y + phase * c);
    };
    for (int time = 0; time < 2; ++time)
      for (int y = 0; y < s.height; ++y)
        for (int x = 0; x < s.width; ++x)
          for (int c = 0; c < 3; ++c) {
            const float moved = time == 1 ? moves(x) : 0;
            const float value = texture(float(x) - moved * motion_u, float(y) - moved * motion_v, c) +
                                (x > s.width / 2 ? 30.0f : 0.0f);
            frames[time].push_back(value + noise(3));
          }
    const float drift_x = noise(0.01f), drift_y = noise(0.01f);
    for (int y = 0; y < s.height; ++y)
      for (int x = 0; x < s.width; ++x) {
        u.push_back(moves(x) * motion_u + drift_x * float(y) + noise(error));
        v.push_back(moves(x) * motion_v + drift_y * float(x) + noise(error));
        if (!has_back) continue;
        back_u.push_back(-moves(x) * motion_u + noise(0.4f));
        back_v.push_back(-moves(x) * motion_v + noise(0.4f));
      }
  }

  std::size_t at(int x, int y) const { return std::size_t(y) * std::size_t(size.width) + std::size_t(x); }
  /// Sets all channels of a pixel.
  void set(int frame, int x, int y, float value) {
    for (std::size_t c = 0; c < 3; ++c) frames[frame][3 * at(x, y) + c] = value;
  }
  Frame frame(int which) const {
    return {frames[which].data(), size.width, size.height, std::ptrdiff_t(sizeof(float)) * 3 * size.width,
            PixelFormat::rgb_f32};
  }
};

struct RefinedValues {
  std::vector<float> u, v;
  bool operator==(const RefinedValues&) const = default;
};

/// The refined flow. On CUDA it is recorded, then replayed.
inline RefinedValues refined_on(const Target& target, const RefinementCase& c,
                                const VariationalRefinement& parameters, int threads = 1) {
  const Forced forced(target);
  const Device device = target.device(threads);
  return with_backend(device, [&]<class Backend>() {
    Backend backend(device, {});
    const auto active = backend.activate();
    Workspace workspace(backend.memory());
    Frame frames[2];
    for (int i = 0; i < 2; ++i) {
      const View<float> plane = stored(backend, workspace, {3 * c.size.width, c.size.height}, c.frames[i]);
      frames[i] = {plane.data,  c.size.width,         c.size.height,
                   plane.pitch, PixelFormat::rgb_f32, backend.memory()};
    }
    SharedWorkspace shared(workspace);
    for (int i = 0; i < 4; ++i)  // what a solver lends holds anything
      shared.lend(stored(backend, workspace, c.size, std::vector<float>(c.u.size(), std::nanf(""))));
    FlowRefiner<Backend> refiner(backend, shared, c.size, parameters, 2, nullptr);
    const FlowPlanes flow = workspace.flow(c.size);
    FlowPlanes back;
    if (!c.back_u.empty())
      back = {stored(backend, workspace, c.size, c.back_u), stored(backend, workspace, c.size, c.back_v)};
    for (int i = 0; i < 2; ++i) {
      store(backend, flow.u, c.u);
      store(backend, flow.v, c.v);
      backend.replay({}, [&] {
        refiner.prepare(frames, 0, 2);
        refiner.refine(0, 1, flow, back);
      });
      backend.synchronize();
    }
    return RefinedValues{values_of(backend, flow.u), values_of(backend, flow.v)};
  });
}

}  // namespace parafield
