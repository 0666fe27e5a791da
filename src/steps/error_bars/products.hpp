// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"

/// Arithmetic that error bars of flow and of disparities share, for both backends.
namespace parafield {

constexpr int tensor_reach = 3;  ///< px: products are averaged over 7x7 pixels

/// Rows of scratch memory of a CPU thread, with a margin on both sides.
constexpr int bars_margin = 16;
PF_HD constexpr int bars_pitch(int width) { return (width + 2 * bars_margin + 15) / 16 * 16; }

/// Sums with the order of their terms fixed.
template <class At>
PF_HD float sum_of_7(At at) {
  return ((at(0) + at(6)) + (at(1) + at(5))) + ((at(2) + at(4)) + at(3));
}
template <class At>
PF_HD float sum_of_9(At at) {
  return (((at(0) + at(8)) + (at(1) + at(7))) + ((at(2) + at(6)) + (at(3) + at(5)))) + at(4);
}

/// A value of step 1, smoothed across the direction of its derivative.
PF_HD float smoothed_across(float before, float here, float after) {
  return fma(0.19f, before + after, 0.62f * here);
}

/// A pixel's weighted products.
struct ErrorProducts {
  float xx, xy, yy, tt;

  /// The derivatives may be NaN: then the pixel has no weight.
  PF_HD static ErrorProducts make(float gx, float gy, float gt) {
    constexpr float contrast = 20, inverse_robust2 = 1 / (1.5f * 1.5f);
    constexpr float most = 1e12f;  // far above 255
    const bool counts = (magnitude(gx) < most) & (magnitude(gy) < most) & (magnitude(gt) < most);
    const float x = counts ? gx : 0.0f, y = counts ? gy : 0.0f, t = counts ? gt : 0.0f;
    const float weight = reciprocal(fma(x, x, fma(y, y, fma(t * t, inverse_robust2, contrast))));
    const float wx = counts ? weight * x : 0.0f, wy = weight * y, wt = weight * t;
    return {wx * x, wx * y, wy * y, wt * t};
  }
};

/// Probability from odds.
PF_HD float probability_of(float odds) {
  const float limited = smaller(odds, 1e30f);
  return quotient(limited, 1 + limited);
}

}  // namespace parafield
