// SPDX-License-Identifier: MIT
#include "video/jobs.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "files.hpp"
#include "interrupt.hpp"
#include "progress.hpp"

namespace parafield::command {
namespace {

/// Shows the progress of the jobs: one updated line at a terminal, a new line now and then elsewhere.
class VideoProgress {
 public:
  VideoProgress(bool wanted, const std::vector<StreamJob*>& jobs)
      : wanted_(wanted), jobs_(jobs), line_(wanted) {
    line_.begin("video");
  }

  void update(int ended) {
    if (!wanted_ || line_.elapsed() < next_) return;
    const bool terminal = isatty(STDERR_FILENO);
    next_ = line_.elapsed() + (terminal ? 0.2 : 10);
    std::int64_t written = 0, skipped = 0;
    for (const StreamJob* job : jobs_) {
      written += job->written;
      skipped += job->skipped;
    }
    if (written == skipped) return;  // the speed is still unknown
    const double rate = double(written - skipped) / line_.elapsed();
    const std::string text = text_of(ended, written, rate, terminal);
    if (terminal)
      line_.say(text);
    else if (line_.elapsed() > 5)
      std::fputs(fmt::format("parafield: {}\n", printable(text)).c_str(), stderr);
  }
  void end() { line_.end(); }

 private:
  std::string text_of(int ended, std::int64_t written, double rate, bool terminal) const {
    const StreamJob& first = *jobs_[0];
    const std::string noun = std::string(first.noun) + "s", speed = fmt::format("{:.1f} a second", rate);
    if (jobs_.size() > 1)
      return fmt::format("{} of {} videos, {} {}, {}", ended, jobs_.size(), written, noun, speed);
    const std::int64_t expected = first.expected;
    const std::string name = Path(first.name).filename().string();
    if (expected <= 0 || written > expected) return fmt::format("{}: {} {}, {}", name, written, noun, speed);
    const double share = double(written) / double(expected);
    std::string bar;
    if (terminal) {
      constexpr int width = 24;
      bar = fmt::format(" [{:-<{}}]", std::string(std::size_t(share * width), '#'), width);
    }
    return fmt::format("{}:{} {} of {} {}, {}, {} left", name, bar, written, expected, noun, speed,
                       rate > 0 ? duration_text(double(expected - written) / rate) : "? s");
  }

  const bool wanted_;
  const std::vector<StreamJob*>& jobs_;
  ProgressLine line_;
  double next_ = 0.5;
};

}  // namespace

std::vector<std::exception_ptr> run_jobs(const std::vector<StreamJob*>& jobs, int at_once, bool quiet) {
  std::vector<std::exception_ptr> errors(jobs.size());
  std::stop_source stop;
  std::atomic<std::size_t> next = 0;
  std::atomic<int> ended = 0, working = at_once;
  VideoProgress progress(!quiet, jobs);
  const auto work = [&] {
    for (std::size_t i; !stop.stop_requested() && (i = next++) < jobs.size(); ++ended) try {
        jobs[i]->run(stop.get_token());
      } catch (...) {
        errors[i] = std::current_exception();
      }
    --working;
  };
  std::vector<std::jthread> workers;
  for (int i = 0; i < at_once; ++i) try {
      workers.emplace_back(work);
    } catch (...) {  // no thread available
      --working;
      if (workers.empty()) throw;
    }
  using Clock = std::chrono::steady_clock;
  Clock::time_point busy = Clock::now();  // when a file was last incomplete
  while (working > 0) {
    std::this_thread::sleep_for(std::chrono::milliseconds(working > 0 && ended == 0 ? 5 : 20));
    progress.update(ended);
    if (!WhileWriting::interrupted()) {
      busy = Clock::now();
      continue;
    }
    stop.request_stop();
    const bool whole = std::ranges::all_of(jobs, [](const StreamJob* job) { return job->whole.load(); });
    if (!whole) busy = Clock::now();
    // A job that is still reading may be waiting for a camera or a pipe forever.
    if (Clock::now() - busy > std::chrono::milliseconds(200)) {
      progress.end();
      WhileWriting::end_now();
    }
  }
  progress.end();
  return errors;
}

bool say_interrupted(std::int64_t results, const char* noun, bool quiet) {
  if (!WhileWriting::interrupted()) return false;
  if (!quiet)
    std::fputs(fmt::format("parafield: interrupted; {} {}s are written\n", results, noun).c_str(), stderr);
  return true;
}

std::string add_stages(Json& report, const PipelineReport& done, double encode, const char* compute_key) {
  const double per_frame = 1000.0 / double(std::max<std::int64_t>(done.frames, 1));
  report["fps"] = done.seconds > 0 ? double(done.frames) / done.seconds : 0;
  report["decode_milliseconds"] = per_frame * done.source;
  report[compute_key] = per_frame * done.compute;
  report["encode_milliseconds"] = per_frame * encode;
  return fmt::format("decode {:.2f}, compute {:.2f}, encode {:.2f} ms a frame\n", per_frame * done.source,
                     per_frame * done.compute, per_frame * encode);
}

bool has_own_luma(const std::string& input) {
  return !has_number(input) && !has_wildcards(input) && !std::filesystem::is_directory(input);
}

}  // namespace parafield::command
