// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"

namespace parafield {

/// First derivative by (1 -8 0 8 -1) / 12, from the two neighbors on each side.
PF_HD float derivative(float minus2, float minus1, float plus1, float plus2) {
  return fma(8, plus1 - minus1, minus2 - plus2) * (1.0f / 12);
}

/// The derivative along a row at column x. Pixels beyond the border repeat the nearest pixel.
PF_HD float derivative_at(const float* row, int x, int width) {
  const auto at = [=](int column) { return row[clamp(column, 0, width - 1)]; };
  return derivative(at(x - 2), at(x - 1), at(x + 1), at(x + 2));
}

/// Smaller eigenvalue of a gradient tensor (xx xy; xy yy), at least 0.
PF_HD float smaller_eigenvalue(float xx, float xy, float yy) {
  const float half_difference = 0.5f * (xx - yy);
  const float root = __builtin_sqrtf(fma(half_difference, half_difference, xy * xy));
  return larger(fma(0.5f, xx + yy, -root), 0.0f);
}

}  // namespace parafield
