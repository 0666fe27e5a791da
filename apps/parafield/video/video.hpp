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

/// The command video: flow along videos, with reading, computing and writing at the same time.
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

/// An input and what is written of it; empty = nothing.
struct VideoTarget {
  std::string input, output, flow_folder;
  bool in_folder = false;  ///< `output` lies in a folder that is made if it is missing
};

/// What was done with one input.
struct VideoResult {
  VideoInfo info;
  std::int64_t skipped = 0;  ///< flows that were there: --resume
  bool whole = false;        ///< all was there
  PipelineReport report;
  double encode = 0;  ///< seconds of drawing and writing, without waits for one another
};

/// The work on one input. run() is for one thread; the others watch.
class VideoJob {
 public:
  /// `threads`: those that decode, and encode; 0 = all. `at_once`: the number of jobs that run at the same time.
  VideoJob(const VideoCommandOptions& options, VideoTarget target, FlowMethod method, int threads,
           int at_once);

  /// Reads, estimates and writes to the end. Throws Error; what was written before is whole then.
  void run(const std::stop_token& stop);

  const VideoTarget& target() const { return target_; }
  /// The input's name, for messages.
  std::string name() const { return target_.input == "-" ? "standard input" : target_.input; }
  /// Complete when run() has returned.
  const VideoResult& result() const { return result_; }
  /// Flows that are there, those of them that were there before, and how many there will be; 0 = not known.
  std::int64_t written() const { return written_; }
  std::int64_t skipped() const { return skipped_; }
  std::int64_t expected() const { return expected_; }
  /// Whether its files are whole: it has not begun, or has ended but for reading.
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

/// Runs the jobs, some at once, and tells how far they are. Ctrl-C ends them early, with whole files. Returns the
/// error of each, null if it has none.
std::vector<std::exception_ptr> run_jobs(const VideoCommandOptions& options,
                                         const std::vector<std::unique_ptr<VideoJob>>& jobs, int at_once);

/// Whether the method compares colors, not only brightness.
bool compares_colors(const FlowMethod& method);

}  // namespace parafield::command
