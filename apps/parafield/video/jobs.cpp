// SPDX-License-Identifier: MIT
#include <unistd.h>

#include <thread>

#include "interrupt.hpp"
#include "video/video.hpp"

namespace parafield::command {
namespace {

/// Shows the progress of the jobs: one updated line at a terminal, a new line now and then elsewhere.
class VideoProgress {
 public:
  VideoProgress(bool wanted, const std::vector<std::unique_ptr<VideoJob>>& jobs)
      : wanted_(wanted), jobs_(jobs), line_(wanted) {
    line_.begin("video");
  }

  void update(int ended) {
    if (!wanted_ || line_.elapsed() < next_) return;
    const bool terminal = isatty(STDERR_FILENO);
    next_ = line_.elapsed() + (terminal ? 0.2 : 10);
    std::int64_t written = 0, skipped = 0;
    for (const auto& job : jobs_) {
      written += job->written();
      skipped += job->skipped();
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
    if (jobs_.size() > 1)
      return fmt::format("{} of {} videos, {} flows, {:.1f} a second", ended, jobs_.size(), written, rate);
    const std::int64_t expected = jobs_[0]->expected();
    const std::string name = Path(jobs_[0]->name()).filename().string();
    if (expected <= 0 || written > expected)
      return fmt::format("{}: {} flows, {:.1f} a second", name, written, rate);
    const double share = double(written) / double(expected);
    std::string bar;
    if (terminal) {
      constexpr int width = 24;
      bar = fmt::format(" [{:-<{}}]", std::string(std::size_t(share * width), '#'), width);
    }
    return fmt::format("{}:{} {} of {} flows, {:.1f} a second, {} left", name, bar, written, expected, rate,
                       rate > 0 ? duration_text(double(expected - written) / rate) : "? s");
  }

  const bool wanted_;
  const std::vector<std::unique_ptr<VideoJob>>& jobs_;
  ProgressLine line_;
  double next_ = 0.5;
};

}  // namespace

std::vector<std::exception_ptr> run_jobs(const VideoCommandOptions& options,
                                         const std::vector<std::unique_ptr<VideoJob>>& jobs, int at_once) {
  std::vector<std::exception_ptr> errors(jobs.size());
  std::stop_source stop;
  std::atomic<std::size_t> next = 0;
  std::atomic<int> ended = 0, working = at_once;
  VideoProgress progress(!options.quiet, jobs);
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
    const bool whole = std::ranges::all_of(jobs, [](const auto& job) { return job->is_whole(); });
    if (!whole) busy = Clock::now();
    // A job that is still reading may be waiting for a camera or a pipe forever.
    if (Clock::now() - busy > std::chrono::seconds(1)) {
      progress.end();
      WhileWriting::end_now();
    }
  }
  progress.end();
  return errors;
}

}  // namespace parafield::command
