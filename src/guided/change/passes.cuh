#pragma once
#include "guided/change/change.hpp"
#include "guided/colors/color.cuh"

/// The change test of a pixel on CUDA.
namespace parafield {

/// The mean over the channels of |frame0(x, y) - frame1(x + u, y + v)|, frame 1 bilinear, beyond its border the nearest pixel;
/// NaN where a pixel is none.
__device__ inline float color_difference(const Colors& frame0, const Colors& frame1, int x, int y,
                                          const Match& match) {
  const Color here = load(&frame0.pixels(x, y)), there = sample(frame1.pixels, match);
  return ((magnitude(here.red - there.red) + magnitude(here.green - there.green)) +
          magnitude(here.blue - there.blue)) *
         (1.0f / 3);
}

/// The same over the window; beyond the border of frame 0 the nearest pixel stands in. NaN where (x, y) itself moves outside.
__device__ inline float window_difference(const Colors& frame0, const Colors& frame1, int window, int x,
                                          int y, Motion motion) {
  const int width = frame0.pixels.width, height = frame0.pixels.height, radius = window / 2;
  float sum = 0;
  for (int j = -radius; j <= radius; ++j)
    for (int i = -radius; i <= radius; ++i) {
      const int column = clamp(x + i, 0, width - 1), row = clamp(y + j, 0, height - 1);
      sum += color_difference(frame0, frame1, column, row,
                               locate(float(column) + motion.u, float(row) + motion.v, width, height));
    }
  const bool inside = locate(float(x) + motion.u, float(y) + motion.v, width, height).inside;
  return inside ? sum * (1 / float(window * window)) : __builtin_nanf("");
}

/// One pixel's test; its motion becomes that which passes.
__device__ inline bool passes(const HypothesisTest& test, int x, int y, Motion& motion) {
  const auto is_unchanged = [&](Motion hypothesis) {
    return window_difference(test.frame0, test.frame1, test.change.window, x, y, hypothesis) <
           test.change.threshold;
  };
  if (is_unchanged(motion)) return true;
  if (test.turn) {
    const Motion turned = test.turn->flow(float(x), float(y));
    if (is_unchanged(turned)) {
      motion = turned;
      return true;
    }
  }
  motion = {known(motion.u), known(motion.v)};
  return false;
}

}  // namespace parafield
