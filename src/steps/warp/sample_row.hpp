// SPDX-License-Identifier: MIT
#pragma once
#include "steps/warp/warp.hpp"

/// Bilinear values at the matches of a row, on the CPU. In an unnamed namespace, so that each instruction set
/// has its own copy.
namespace parafield {
namespace {

/// Whether loops that load from computed addresses are vectorized. SSE and NEON lack such loads, and a loop
/// that needs them does not use full registers. There, a separate loop loads the pixels.
#ifdef __AVX2__
constexpr bool has_gathers = true;
#else
constexpr bool has_gathers = false;
#endif

/// Calls use(x, value, inside) for each column x from `begin` to `end` - 1. `value` is the bilinear value of
/// an image at the match (x_at(x), y_at(x)), and `inside` tells whether the match is inside the image. The
/// functions must be inline, and `use` must not write to memory that they read.
template <class XAt, class YAt, class Use>
PF_HD void for_samples(const float* pixels, int pitch, int width, int height, int begin, int end, XAt x_at,
                       YAt y_at, Use use) {
  if constexpr (has_gathers) {
#pragma GCC ivdep
    for (int x = begin; x < end; ++x) {
      const Match match = locate(x_at(x), y_at(x), width, height);
      use(x, sample(pixels, pitch, width, height, match), match.inside);
    }
  } else {
    constexpr int block = 64;
    const int right = width > 1 ? 1 : 0, down = height > 1 ? pitch : 0;
    for (int x0 = begin; x0 < end; x0 += block) {
      const int count = smaller(block, end - x0);
      int index[block], inside[block];
      float share_x[block], share_y[block], top[2 * block], bottom[2 * block];
#pragma GCC ivdep
      for (int i = 0; i < count; ++i) {
        const Match match = locate(x_at(x0 + i), y_at(x0 + i), width, height);
        index[i] = match.y * pitch + match.x, inside[i] = match.inside;
        share_x[i] = match.share_x, share_y[i] = match.share_y;
      }
      for (int i = 0; i < count; ++i) {
        const float *const at = pixels + index[i], *const below = at + down;
        top[2 * i] = at[0], top[2 * i + 1] = at[right];
        bottom[2 * i] = below[0], bottom[2 * i + 1] = below[right];
      }
#pragma GCC ivdep
      for (int i = 0; i < count; ++i) {
        const float above = interpolate(top[2 * i], top[2 * i + 1], share_x[i]),
                    below = interpolate(bottom[2 * i], bottom[2 * i + 1], share_x[i]);
        use(x0 + i, interpolate(above, below, share_y[i]), inside[i] != 0);
      }
    }
  }
}

}  // namespace
}  // namespace parafield
