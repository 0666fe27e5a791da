// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

namespace parafield::frei0r {

/// Decides from the times of two frames whether they are consecutive. Host programs do not say how long a
/// frame is shown, and give times in seconds or in milliseconds (FFmpeg 5.1), so the usual step between
/// frames is learned.
class Clock {
 public:
  /// Returns whether the frame at `time` is the successor of the last one. It is not if time goes back, or
  /// jumps ahead by more than three frames. The second frame of all always counts as the successor of the
  /// first. If a program gives no usable time (not finite, or always the same), every frame does.
  bool follows(double time) {
    const double step = time - last_;
    last_ = time;
    if (!std::isfinite(step)) return true;
    if (step <= 0) return step == 0;
    const double longest = usual_ > 0 ? 3.5 * usual_ : step;
    // The usual step shrinks at once but grows slowly, so that one pair of frames close together is soon
    // forgotten.
    usual_ = usual_ > 0 ? std::min(step, 1.25 * usual_) : step;
    return step <= longest;
  }
  bool is_at(double time) const { return time == last_; }

 private:
  double last_ = std::numeric_limits<double>::quiet_NaN();
  double usual_ = 0;  ///< time from one frame to the next; 0 = unknown
};

}  // namespace parafield::frei0r
