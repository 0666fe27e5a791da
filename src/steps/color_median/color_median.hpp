// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"

namespace parafield {

/// Disparities to filter, and the parameters of the filter.
struct ColorMedian {
  View<const float> disparities;     // integers from `least` to `most`
  View<const std::uint32_t> colors;  // three bytes per pixel
  View<const std::uint8_t> valid;    // 0: not valid; such disparities weigh less
  View<const std::uint8_t> unsure;   // may be empty
  int side = 17;                     // px, window side; must be 4 k + 1
  int least = 0, most = 0;
};

/// Weighted median at pixels that are not valid or are unsure; other pixels are copied. It uses every second
/// pixel of the window in x and in y. A neighbor's weight decreases with its distance and with its color
/// difference.
template <class Backend>
void color_median(Backend& backend, const ColorMedian& median, View<float> out);

// Shared by both backends.

PF_HD bool is_filtered(const ColorMedian& median, int x, int y) {
  return median.valid(x, y) == 0 || (median.unsure && median.unsure(x, y) != 0);
}

/// Largest absolute difference of three bytes.
PF_HD int color_difference(std::uint32_t a, std::uint32_t b) {
  const auto difference = [=](int shift) {
    const int d = int(a >> shift & 255) - int(b >> shift & 255);
    return d < 0 ? -d : d;
  };
  return larger(larger(difference(0), difference(8)), difference(16));
}

/// Weight of a neighbor from its color difference and its squared distance `square`. Weights are integers, so
/// that their sums do not depend on the order. `falloff`: see falloff_of.
PF_HD int median_weight(int difference, int square, float falloff, bool valid) {
  constexpr float color_scale = 5, all = 1 << 20;
  const float share = exponential(fma(float(difference), -1 / color_scale, float(square) * falloff));
  return int(fma(share, valid ? all : 0.3f * all, 0.5f));
}
/// Factor of squared distances: a Gaussian with sigma 9 / 17 of the side.
PF_HD float falloff_of(int side) {
  const float sigma = float(side) * (9.0f / 17);
  return -0.5f / (sigma * sigma);
}

/// The smallest v in least..most for which `weight_up_to(v)` is at least half of `all`.
template <class WeightUpTo>
PF_HD int weighted_median(int least, int most, int all, WeightUpTo weight_up_to) {
  while (least < most) {
    const int middle = (least + most) >> 1;
    if (2 * weight_up_to(middle) >= all)
      most = middle;
    else
      least = middle + 1;
  }
  return least;
}

}  // namespace parafield
