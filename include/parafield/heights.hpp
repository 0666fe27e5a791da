// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/fields.hpp"

/// Heights of cloud tops from the disparities of a stereo pair, smoothed over a sequence. Everything is in host
/// memory.
namespace parafield {

/// Heights: scale * d + offset, in any unit. NaN where the disparity is not valid or not finite. Throws
/// Error(invalid_argument) for a scale that is 0, or a scale or an offset that is not finite.
PARAFIELD_API Image<float> height_of(const In<DisparityView>& disparity, double scale, double offset = 0);

/// Options of HeightFilter.
struct HeightFilterOptions {
  int frames = 4;       ///< the mean along a trajectory has about as many frames; 1 = no smoothing
  float tolerance = 1;  ///< a height that is further from the mean begins a new one
};

/// Means of heights along the trajectories of the motion. For each frame call operator() with its heights,
/// then move() with the flow to the next frame:
///   mean += (height - mean) / min(number of frames in it + 1, frames)
/// Where a frame has no height, its trajectory's mean stands in, but not with `frames` 1. Where several
/// trajectories meet, the highest goes on, as it hides the others.
class PARAFIELD_API HeightFilter {
 public:
  /// Throws Error(invalid_argument) for a size below 1x1, fewer than 1 frame, or a tolerance that is negative or
  /// NaN.
  explicit HeightFilter(Size size, HeightFilterOptions options = {});

  /// Takes the heights of a frame, NaN where unknown, and returns the means, until the next call. Throws
  /// Error(invalid_argument) for another size.
  View<const float> operator()(View<const float> heights);

  /// Moves the means to the next frame. Flow that is unknown or not valid ends its trajectory. Throws
  /// Error(invalid_argument) for another size.
  void move(const In<FlowView>& flow);

 private:
  HeightFilterOptions options_;
  Image<float> mean_, moved_mean_;  // NaN where there is none
  Image<std::uint8_t> count_, moved_count_;
};

}  // namespace parafield
