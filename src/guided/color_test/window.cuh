// SPDX-License-Identifier: MIT
#pragma once
#include "guided/color_test/color_test.hpp"

/// The color test of a pixel on CUDA.
namespace parafield {

/// Mean difference over the window around (x, y), moved by the flow; NaN if (x, y) moves outside.
__device__ inline float window_difference(const ColorTest& test, int x, int y, Motion flow) {
  const View<Color>&frame0 = test.frame0.pixels, &frame1 = test.frame1.pixels;
  const int radius = test.window / 2;
  float sum = 0;
  for (int dy = -radius; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx) sum += moved_difference(frame0, frame1, x + dx, y + dy, flow);
  return window_mean(frame0, sum, test.window, x, y, flow);
}

/// Tests a pixel. `flow` becomes the rotation's if only that passes. If neither passes, NaN becomes 0.
__device__ inline bool passes_test(const ColorTest& test, int x, int y, Motion& flow) {
  const auto passes = [&](Motion hypothesis) {
    return window_difference(test, x, y, hypothesis) < test.threshold;
  };
  if (passes(flow)) return true;
  if (test.rotation) {
    const Motion rotated = test.rotation->flow(float(x), float(y));
    if (passes(rotated)) {
      flow = rotated;
      return true;
    }
  }
  flow = {known(flow.u), known(flow.v)};
  return false;
}

}  // namespace parafield
