// SPDX-License-Identifier: MIT
#pragma once
#include <string>
#include <vector>

#include "estimation.hpp"
#include "frames.hpp"
#include "video/jobs.hpp"
#include "video/painter.hpp"

/// The command video: flow along videos, with overlapped reading, computing and writing.
namespace parafield::command {

inline const std::vector<std::string> flow_file_formats = {"flo", "kitti", "npy", "pfm", "jpg", "png"};

struct VideoCommandOptions : EstimatorOptions<Flow> {
  std::vector<std::string> inputs;
  std::string output, flow_folder, view = "color", flow_format = "flo", codec;
  float max_motion = 0, bound = 20;
  int step = 16, every = 1, frames = 0, quality = 18, jobs = 0;
  double rate = 0;
  bool resume = false, skip_damaged = false;
  FrameOptions reading;  ///< only --range

  /// Replaces names with wildcards by the videos that they match. One that matches pictures is a video of
  /// them.
  void expand();
};

/// An input and the outputs made from it; empty = none.
struct VideoTarget {
  std::string input, output, flow_folder;
  bool in_folder = false;  ///< `output` is in a folder that is made if it is missing
};

class VideoJob : public StreamJob {
 public:
  /// `threads`: threads for decoding and for encoding; 0 = all. `at_once`: number of jobs that run at the
  /// same time.
  VideoJob(const VideoCommandOptions& options, VideoTarget target, const FlowMethod& method, int threads,
           int at_once);
  void run(const std::stop_token& stop) override;

  const VideoTarget target;
  // Complete once run() has returned:
  VideoInfo info;
  bool all_there = false;          ///< all outputs existed already: --resume
  ValueRange range;                ///< of the frames
  double encode = 0;               ///< seconds of drawing and encoding, without waiting
  std::vector<std::string> notes;  ///< on the input and its range

 private:
  bool output_is_whole() const;
  std::int64_t expected_flows() const;

  const VideoCommandOptions& options_;
  const FlowMethod method_;
  const int window_, threads_, at_once_;
};

/// Returns whether the method compares colors, not only brightness.
bool compares_colors(const FlowMethod& method);

}  // namespace parafield::command
