// SPDX-License-Identifier: MIT
#pragma once
#include "steps/resize/resize.hpp"

/// Rows of enlarged flow on the CPU. In an unnamed namespace, so that each instruction set has its own copy.
namespace parafield {
namespace {

/// Row y of one flow component at the finer level.
inline void enlarge_row(View<const float> coarse, int y, int width, float* __restrict out) {
  const int last = coarse.width - 1;
  const float *top = coarse.row(y >> 1), *bottom = coarse.row(smaller((y >> 1) + 1, coarse.height - 1));
  const float share = 0.5f * float(y & 1);
  const int pairs = smaller(last, width / 2);  // columns 2i and 2i + 1 use coarse columns i and i + 1
  for (int i = 0; i < pairs; ++i) {
    const float left = interpolate(top[i], bottom[i], share),
                right = interpolate(top[i + 1], bottom[i + 1], share);
    out[2 * i] = 2 * interpolate(left, right, 0.0f);
    out[2 * i + 1] = 2 * interpolate(left, right, 0.5f);
  }
  for (int x = 2 * pairs; x < width; ++x) out[x] = enlarged_flow(top, bottom, share, x, last);
}

}  // namespace
}  // namespace parafield
