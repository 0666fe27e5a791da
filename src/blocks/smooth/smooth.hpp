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

/// Gaussian smoothing of one or two images, down the columns and then along the rows; beyond the border the nearest
/// pixel stands in. All have the same size and none overlap.
template <class Backend>
void smooth(Backend& backend, const View<float>* in, const GaussianTaps& taps, const View<float>* out,
            int count);

}  // namespace parafield
