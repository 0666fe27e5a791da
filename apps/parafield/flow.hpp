// SPDX-License-Identifier: MIT
#pragma once
#include <deque>
#include <vector>

#include "estimation.hpp"
#include "frames.hpp"

namespace parafield::command {

/// The flow of each window of consecutive frames of a sequence, for the commands flow and clouds.
class FlowSequence {
 public:
  /// `ahead`: frames that suggest the range. Throws UsageError if there are fewer frames than the method
  /// takes, and whatever InputFrames and FlowEstimator throw.
  FlowSequence(const std::vector<std::string>& files, const FrameOptions& reading, int ahead, bool quiet,
               const FlowMethod& method, const FlowOptions& task);

  /// Estimates the next flow, and returns whether there is one. Between two calls, take_frame() must be
  /// called. No flow spans frames that were skipped.
  bool next(FlowField& flow);
  /// The number of the last flow, from 1. Numbers of flows that skipped frames would have are left out.
  int number() const { return number_; }
  /// Removes and returns the frame that the last flow belongs to: the first of two, the middle one of more.
  InputFrame take_frame();

  /// Adds the times, the number of frames and flows, and which flows are not reliable. `noun`: what a flow is
  /// called in notes, such as "motion".
  void add_to(Report& report, std::string_view method, const DeviceInfo& info, const char* noun);

  InputFrames source;
  FlowEstimator estimator;
  /// The frames, starting with the one that the next flow belongs to.
  std::deque<InputFrame> frames;

 private:
  const int middle_;
  const bool quiet_;
  int pushed_ = 0, number_ = 0;
  FramesFindings unusable_;
  Timer timer_, whole_;
  std::vector<double> milliseconds_;
};

}  // namespace parafield::command
