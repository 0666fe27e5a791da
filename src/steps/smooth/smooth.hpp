#pragma once
#include "core/arithmetic.hpp"

namespace parafield {

/// Half of a symmetric 1-D kernel with sum 1: weight[0] for the middle.
struct Taps {
  static constexpr int max_radius = 13;
  int radius = 0;
  float weight[max_radius + 1] = {1};
};

/// A gaussian out to 2.5 sigma; sigma in px, at most 5.
Taps gaussian_taps(float sigma);

/// Smoothing of one or two images, down the columns and then along the rows; beyond the border the nearest pixel stands
/// in. All have the same size and none overlap.
template <class Backend>
void smooth(Backend& backend, const View<float>* in, const Taps& taps, const View<float>* out, int count);

/// The luma of one or two frames of any format (convert.hpp), smoothed: the bits of `convert` and `smooth`, in one pass. On
/// the CPU it needs smooth_scratch bytes of a thread.
template <class Backend>
void smooth(Backend& backend, const Frame* frames, const Taps& taps, const View<float>* out, int count);

/// A ring of converted rows.
inline std::size_t smooth_scratch(const Taps& taps, int width) {
  return sizeof(float) * std::size_t(2 * taps.radius + 1) * std::size_t((width + 15) / 16 * 16);
}

}  // namespace parafield
