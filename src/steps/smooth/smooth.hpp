// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"

namespace parafield {

/// Half of a symmetric 1-D kernel with sum 1: weight[0] is for the middle, weight[k] for the neighbors k px
/// away.
struct Taps {
  static constexpr int max_radius = 13;
  int radius = 0;
  float weight[max_radius + 1] = {1};
};

/// A Gaussian cut off at 2.5 sigma, rounded up to whole pixels. `sigma`: px, at most 5; 0 or less gives a
/// single tap.
Taps gaussian_taps(float sigma);

/// Smooths one or two images, first along columns and then along rows. Pixels beyond the border repeat the
/// nearest pixel. All images must have the same size and must not overlap.
template <class Backend>
void smooth(Backend& backend, const View<float>* in, const Taps& taps, const View<float>* out, int count);

/// Smooths the luma of one or two frames of any format: the same bits as `convert` and `smooth`, but in one
/// pass. On the CPU, each thread needs `smooth_scratch` bytes of scratch memory.
template <class Backend>
void smooth_luma(Backend& backend, const Frame* frames, const Taps& taps, const View<float>* out, int count);

/// Bytes of scratch memory for a ring of converted rows.
inline std::size_t smooth_scratch(const Taps& taps, int width) {
  return sizeof(float) * std::size_t(2 * taps.radius + 1) * std::size_t((width + 15) / 16 * 16);
}

}  // namespace parafield
