// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/fields.hpp"

/// Heights of cloud tops from the disparities of a stereo pair, smoothed over a sequence. All data are in
/// host memory.
namespace parafield {

/// Converts disparities to heights, scale * d + offset, in any unit. The height is NaN where the disparity is
/// not valid or not finite. Throws Error(invalid_argument) for a scale that is 0, or a scale or offset that
/// is not finite.
PARAFIELD_API Image<float> height_of(const In<DisparityView>& disparity, double scale, double offset = 0);

/// Options of HeightFilter.
struct HeightFilterOptions {
  int frames = 4;  ///< approximate number of frames in the mean along a trajectory, 1..255; 1 = no smoothing
  /// >= 0, in the unit of the heights: a height that differs more from the mean starts a new mean
  float tolerance = 1;
};

/// Averages heights along the trajectories of the motion. For each frame, call operator() with its heights,
/// then move() with the flow to the next frame:
///   mean += (height - mean) / min(number of heights in the mean + 1, frames)
/// Where a frame has no height, the result is the trajectory's mean, unless `frames` is 1. Where several
/// trajectories meet, the one with the greatest height continues, because it hides the others.
class PARAFIELD_API HeightFilter {
 public:
  /// Throws Error(invalid_argument) for a size below 1x1, `frames` outside 1..255, or a tolerance that is
  /// negative or NaN; Error(memory).
  explicit HeightFilter(Size size, HeightFilterOptions options = {});

  /// Adds the heights of a frame, NaN where unknown, and returns the means. The view is valid until the next
  /// call. Throws Error(invalid_argument) for another size.
  View<const float> operator()(View<const float> heights);

  /// Moves the means along the flow to the next frame. A trajectory ends where its flow is unknown or not
  /// valid. Throws Error(invalid_argument) for another size.
  void move(const In<FlowView>& flow);

 private:
  HeightFilterOptions options_;
  Image<float> mean_, moved_mean_;  // mean_ is NaN where there is no mean
  Image<std::uint8_t> count_, moved_count_;
};

}  // namespace parafield
