#pragma once
#include "core/arithmetic.hpp"

namespace parafield {

/// First derivative by (1 -8 0 8 -1) / 12, from the two neighbors on either side.
PF_HD float derivative(float minus2, float minus1, float plus1, float plus2) {
  return fma(8, plus1 - minus1, minus2 - plus2) * (1.0f / 12);
}

/// The smaller eigenvalue of a gradient tensor (xx xy; xy yy).
PF_HD float smaller_eigenvalue(float xx, float xy, float yy) {
  const float half_difference = 0.5f * (xx - yy);
  const float root = __builtin_sqrtf(fma(half_difference, half_difference, xy * xy));
  return larger(fma(0.5f, xx + yy, -root), 0.0f);
}

}  // namespace parafield
