// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"

namespace parafield {

/// Half of a symmetric 1-D kernel with sum 1: weight[0] for the middle, weight[k] for the neighbors k px
/// away.
struct Taps {
  static constexpr int max_radius = 13;
  int radius = 0;
  float weight[max_radius + 1] = {1};
};

/// A gaussian that ends at 2.5 sigma, rounded up. `sigma`: px, at most 5; 0 or less = one tap.
Taps gaussian_taps(float sigma);

/// Smooths one or two images, down the columns and then along the rows; beyond the border the nearest pixel
/// stands in. All images have the same size, and none overlap.
template <class Backend>
void smooth(Backend& backend, const View<float>* in, const Taps& taps, const View<float>* out, int count);

/// Smooths the luma of one or two frames of any format: the bits of `convert` and `smooth`, in one pass. On
/// the CPU each thread needs `smooth_scratch` bytes.
template <class Backend>
void smooth_luma(Backend& backend, const Frame* frames, const Taps& taps, const View<float>* out, int count);

/// Bytes of scratch memory for a ring of converted rows.
inline std::size_t smooth_scratch(const Taps& taps, int width) {
  return sizeof(float) * std::size_t(2 * taps.radius + 1) * std::size_t((width + 15) / 16 * 16);
}

}  // namespace parafield
