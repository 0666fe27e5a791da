// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <exception>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "parafield/pipeline.hpp"
#include "report.hpp"

/// Work on videos, in which reading, computing and writing overlap: the commands video and detect.
namespace parafield::command {

/// The work on one input. One thread calls run(); other threads may watch its progress.
class StreamJob {
 public:
  /// `noun`: what a result is called, such as "flow".
  StreamJob(std::string input, const char* noun)
      : name(input == "-" ? "standard input" : std::move(input)), noun(noun) {}
  virtual ~StreamJob() = default;

  /// Reads, estimates and writes to the end. Throws Error, after which everything written so far is complete.
  virtual void run(const std::stop_token& stop) = 0;

  const std::string name;  ///< of the input, for messages
  const char* const noun;
  PipelineReport report;  ///< complete once run() has returned
  /// Number of results that exist, the part of them that existed before, and the expected total (0 =
  /// unknown).
  std::atomic<std::int64_t> written = 0, skipped = 0, expected = 0;
  /// Whether the files are complete: the job has not begun to write, or has finished all its outputs.
  std::atomic<bool> whole = true;

 protected:
  /// While an object exists, the files are not complete. Declare it before the outputs.
  class Writing {
   public:
    explicit Writing(StreamJob& job) : job_(job) { job_.whole = false; }
    ~Writing() { job_.whole = true; }

   private:
    StreamJob& job_;
  };
};

/// Runs the jobs, `at_once` at a time, and shows their progress unless `quiet`. Ctrl-C ends them early with
/// complete files. Returns the error of each job, null if it had none.
std::vector<std::exception_ptr> run_jobs(const std::vector<StreamJob*>& jobs, int at_once, bool quiet);

/// Returns whether a signal has ended the jobs, and says how many results are written.
bool say_interrupted(std::int64_t results, const char* noun, bool quiet);

/// Adds fps and the milliseconds that each stage took for a frame, and returns the latter as text. `encode`:
/// seconds of the last stage. `compute_key`: key of the estimator's milliseconds.
std::string add_stages(Json& report, const PipelineReport& done, double encode,
                       const char* compute_key = "compute_milliseconds");

/// Returns whether frames may be read as gray if only their brightness counts. A video stores luma
/// separately, so it is exact; pictures would be rounded when converted.
bool has_own_luma(const std::string& input);

}  // namespace parafield::command
