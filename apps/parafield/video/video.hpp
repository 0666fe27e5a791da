// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "estimation.hpp"
#include "parafield/pipeline.hpp"
#include "video/flows.hpp"
#include "video/painter.hpp"

/// The command video: flow along videos, with overlapped reading, computing and writing.
namespace parafield::command {

struct VideoCommandOptions {
  std::vector<std::string> inputs;
  std::string output, flow_folder, view = "color", flow_format = "flo", codec;
  float max_motion = 0, bound = 20;
  int step = 16, every = 1, frames = 0, quality = 18, jobs = 0;
  double rate = 0;
  bool resume = false, json = false, quiet = false;
  DeviceOptions device;
  FlowOptions task;
  MethodOptions<FlowMethod> method;
};

/// An input and the outputs made from it; empty = none.
struct VideoTarget {
  std::string input, output, flow_folder;
  bool in_folder = false;  ///< `output` is in a folder that is made if it is missing
};

/// The result of processing one input.
struct VideoResult {
  VideoInfo info;
  std::int64_t skipped = 0;  ///< flows that existed already: --resume
  bool whole = false;        ///< all outputs existed already
  PipelineReport report;
  double encode = 0;  ///< seconds of drawing and encoding, without waiting
};

/// The work on one input. One thread calls run(); other threads may watch its progress.
class VideoJob {
 public:
  /// `threads`: threads for decoding and for encoding; 0 = all. `at_once`: number of jobs that run at the
  /// same time.
  VideoJob(const VideoCommandOptions& options, VideoTarget target, FlowMethod method, int threads,
           int at_once);

  /// Reads, estimates and writes to the end. Throws Error, after which everything written so far is complete.
  void run(const std::stop_token& stop);

  const VideoTarget& target() const { return target_; }
  /// The input's name, for messages.
  std::string name() const { return target_.input == "-" ? "standard input" : target_.input; }
  /// Complete once run() has returned.
  const VideoResult& result() const { return result_; }
  /// Number of flows that exist, the part of them that existed before, and the expected total (0 = unknown).
  std::int64_t written() const { return written_; }
  std::int64_t skipped() const { return skipped_; }
  std::int64_t expected() const { return expected_; }
  /// Returns whether the files are complete: the job has not begun to write, or has finished all its outputs.
  bool is_whole() const { return whole_; }

 private:
  bool output_is_whole(const VideoInfo& info) const;
  std::int64_t flows_of(const VideoInfo& info) const;

  const VideoCommandOptions& options_;
  const VideoTarget target_;
  const FlowMethod method_;
  const int window_, threads_, at_once_;
  VideoResult result_;
  std::atomic<std::int64_t> written_ = 0, skipped_ = 0, expected_ = 0;
  std::atomic<bool> whole_ = true;
};

/// Runs the jobs, `at_once` at a time, and shows their progress. Ctrl-C ends them early with complete files.
/// Returns the error of each job, null if it had none.
std::vector<std::exception_ptr> run_jobs(const VideoCommandOptions& options,
                                         const std::vector<std::unique_ptr<VideoJob>>& jobs, int at_once);

/// Returns whether the method compares colors, not only brightness.
bool compares_colors(const FlowMethod& method);

}  // namespace parafield::command
