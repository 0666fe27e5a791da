#pragma once
#include "core/arithmetic.hpp"

namespace parafield {

/// Half of a symmetric, normalised 1-D gaussian: weight[0] for the middle.
struct GaussianTaps {
  static constexpr int max_radius = 13;
  int radius = 0;
  float weight[max_radius + 1] = {1};
};

/// Taps out to 2.5 sigma; sigma in px, at most 5.
GaussianTaps gaussian_taps(float sigma);

/// Gaussian smoothing, down the columns and then along the rows; beyond the border the nearest pixel stands
/// in. `in` and `out` have the same size and do not overlap.
template <class Backend>
void smooth(Backend& backend, View<const float> in, const GaussianTaps& taps, View<float> out);

}  // namespace parafield
