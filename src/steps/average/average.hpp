// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"
#include "core/views.hpp"

/// Averages over time of the frames of a video, at pixels that do not change.
namespace parafield {

constexpr float most_averaged = 8;    // largest number of frames in an average
constexpr float averaging_sigma = 2;  // px, of the Gaussian that smooths changes
constexpr float same_below = 1.35f;   // changes up to this many standard deviations of the noise are noise
constexpr float other_above = 1.85f;  // from this many on, the pixel shows something else

/// Planes of a frame and their means, all of the same size.
struct AveragedPlanes {
  static constexpr int most = 4;
  View<const float> fresh[most];  // planes of the new frame
  View<float> mean[most];
  int planes = 0;
  View<float> count;  // number of averaged frames per pixel

  void add(View<const float> new_plane, View<float> mean_plane) {
    fresh[planes] = new_plane;
    mean[planes++] = mean_plane;
  }
};

/// Computes the absolute difference of plane 0 from its mean, for one or two frames.
template <class Backend>
void find_changes(Backend& backend, const AveragedPlanes* frames, const View<float>* changes, int count);

/// Adds one or two new frames to their means. `changes`: smoothed differences; `noise`: their noise scale.
template <class Backend>
void average(Backend& backend, const AveragedPlanes* frames, const View<float>* changes, float noise,
             int count);

/// Starts one or two averages of a single frame each; the means must already hold that frame.
template <class Backend>
void begin_average(Backend& backend, const View<float>* counts, int count);

// Shared by both backends.

/// Number of averaged frames including a new one. `last`: the number before; `change`: the pixel's change.
PF_HD float averaged_frames(float last, float change, float same, float other) {
  const float share = clamp((other - change) / (other - same), 0.0f, 1.0f);
  return smaller(fma(share, last, 1.0f), most_averaged);
}
/// Mean of `count` frames. A single frame keeps its bits.
PF_HD float averaged(float mean, float fresh, float count) {
  return count > 1 ? mean + (fresh - mean) / count : fresh;
}

}  // namespace parafield
