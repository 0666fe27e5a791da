// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"
#include "core/views.hpp"

/// Averages over time of the frames of a video, where they stay as they are.
namespace parafield {

constexpr float most_averaged = 8;    // frames in an average
constexpr float averaging_sigma = 2;  // px, of the gaussian that smooths changes
constexpr float same_below = 1.35f;   // changes up to this, in standard deviations of the noise, are noise
constexpr float other_above = 1.85f;  // from this on a pixel shows another thing

/// Planes of a frame and their means, of one size.
struct AveragedPlanes {
  static constexpr int most = 4;
  View<const float> fresh[most];  // of the new frame
  View<float> mean[most];
  int planes = 0;
  View<float> count;  // frames that are averaged

  void add(View<const float> new_plane, View<float> mean_plane) {
    fresh[planes] = new_plane;
    mean[planes++] = mean_plane;
  }
};

/// Computes how far plane 0 differs from its mean, for one frame or two.
template <class Backend>
void find_changes(Backend& backend, const AveragedPlanes* frames, const View<float>* changes, int count);

/// Takes new frames, one or two, into their means. `changes`: smoothed; `noise`: their scale.
template <class Backend>
void average(Backend& backend, const AveragedPlanes* frames, const View<float>* changes, float noise,
             int count);

/// Begins averages, one or two: each is of one frame, which is in the means already.
template <class Backend>
void begin_average(Backend& backend, const View<float>* counts, int count);

// Both backends compute these.

/// Number of frames that are averaged with a new one, by that of the last frame and the change.
PF_HD float averaged_frames(float last, float change, float same, float other) {
  const float share = clamp((other - change) / (other - same), 0.0f, 1.0f);
  return smaller(fma(share, last, 1.0f), most_averaged);
}
/// Mean of `count` frames. One frame keeps its bits.
PF_HD float averaged(float mean, float fresh, float count) {
  return count > 1 ? mean + (fresh - mean) / count : fresh;
}

}  // namespace parafield
