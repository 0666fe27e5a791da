// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

namespace parafield::frei0r {

/// Tells from the times of frames whether one follows the other. Programs do not say how long a frame is
/// shown, and their times are seconds, or milliseconds (FFmpeg 5.1). So it is learned.
class Clock {
 public:
  /// Takes the time of the next frame. Returns whether it follows the last one. It does not if time goes
  /// back, or ahead by more than three frames. The second frame of all follows the first, whenever it comes.
  /// Where a program gives no time (not finite, always the same), every frame follows.
  bool follows(double time) {
    const double step = time - last_;
    last_ = time;
    if (!std::isfinite(step)) return true;
    if (step <= 0) return step == 0;
    const double longest = usual_ > 0 ? 3.5 * usual_ : step;
    // It may rise slowly: two frames that came close together are forgotten.
    usual_ = usual_ > 0 ? std::min(step, 1.25 * usual_) : step;
    return step <= longest;
  }
  bool is_at(double time) const { return time == last_; }

 private:
  double last_ = std::numeric_limits<double>::quiet_NaN();
  double usual_ = 0;  ///< from one frame to the next; 0 = not known
};

}  // namespace parafield::frei0r
