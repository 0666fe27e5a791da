// SPDX-License-Identifier: MIT
#include "parafield/pipeline.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <vector>

#include "core/fail.hpp"

namespace parafield {
namespace {

/// Queue of slot numbers between threads. Needs no size limit, because the number of slots is fixed.
class NumberQueue {
 public:
  void push(int number) {
    change([&] { numbers_.push_back(number); });
  }
  /// Waits for a number. Returns nothing if the queue is closed and empty, or if it is abandoned.
  std::optional<int> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return abandoned_ || closed_ || !numbers_.empty(); });
    if (abandoned_ || numbers_.empty()) return {};
    const int number = numbers_.front();
    numbers_.pop_front();
    return number;
  }
  bool empty() const {
    const std::lock_guard lock(mutex_);
    return numbers_.empty();
  }
  void close() {  ///< pop() returns the remaining numbers, then nothing
    change([&] { closed_ = true; });
  }
  void abandon() {  ///< pop() returns nothing, even if numbers remain
    change([&] { abandoned_ = true; });
  }

 private:
  void change(auto change) {
    {
      const std::lock_guard lock(mutex_);
      change();
    }
    changed_.notify_all();
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<int> numbers_;
  bool closed_ = false, abandoned_ = false;
};

/// Returns how many frames after its own frame a result needs.
int frames_behind(const FlowMethod& method) {
  const int count = frames_of(method);
  return count - 1 - (count - 1) / 2;
}
int frames_behind(const DetectionMethod&) { return 0; }

/// Whether a result needs the frame right before: not if a background is learned from all frames.
bool needs_neighbors(const FlowMethod&) { return true; }
bool needs_neighbors(const DetectionMethod& method) {
  return !std::visit([](const auto& one) { return std::is_same_v<decltype(one.energy), BackgroundEnergy>; },
                     method);
}

using Clock = std::chrono::steady_clock;

/// Adds the duration of work() to `seconds`. Returns what work() returns.
template <class Work>
auto timed(double& seconds, Work work) {
  struct Stopwatch {
    double& seconds;
    Clock::time_point begin = Clock::now();
    ~Stopwatch() { seconds += std::chrono::duration<double>(Clock::now() - begin).count(); }
  } const stopwatch{seconds};
  return work();
}

}  // namespace

template <class Task>
struct Pipeline<Task>::Impl {
  struct ResultSlot {
    Result result;
    int frame = 0;  // slot of the result's frame
  };
  /// A pushed frame whose result is not known to be complete yet.
  struct Pushed {
    int result;                // slot that the result is written to, if there is one
    std::optional<int> frame;  // slot of the frame that it belongs to, if there are enough frames
  };

  Impl(Estimator<Task>& estimator, PipelineOptions options)
      : estimator_(estimator),
        options_(std::move(options)),
        on_gpu_(estimator.device().kind == Device::Kind::cuda),
        behind_(frames_behind(estimator.method())) {
    const int depth = options_.depth;
    if (depth < 1 || depth > 1000)
      fail(ErrorCode::invalid_argument, "depth cannot be ", depth,
           "; it is a number of frames from 1 to 1000");
    // `depth` frames wait before the solver and `depth` results after it. The source and the sink work on one
    // each, the solver on one, or on two if it is pipelined. It keeps `behind_` frames until their results
    // are complete.
    const int solving = estimator.options().pipelined ? 2 : 1;
    frames_.resize(std::size_t(2 * depth + 2 + solving + behind_));
    results_.resize(std::size_t(depth + 1 + solving));
  }

  bool read(const Source& source, VideoFrame& frame) const;
  PipelineReport run(const Source& source, const Sink& sink, const std::function<void()>& finish);

  Estimator<Task>& estimator_;
  const PipelineOptions options_;
  const bool on_gpu_;
  const int behind_;
  std::vector<VideoFrame> frames_;
  std::vector<ResultSlot> results_;
};

/// Reads a frame, into memory that a GPU reads while it works. Returns false at the end of the source.
template <class Task>
bool Pipeline<Task>::Impl::read(const Source& source, VideoFrame& frame) const {
  if (!source(frame)) return false;
  if (on_gpu_ && frame.frame.frame().memory != Memory::pinned())
    frame.frame = frame.frame.to(Memory::pinned());  // the source fills this buffer from now on
  return true;
}

template <class Task>
PipelineReport Pipeline<Task>::Impl::run(const Source& source, const Sink& sink,
                                         const std::function<void()>& finish) {
  NumberQueue free_frames, read_frames, free_results, solved;
  for (std::size_t i = 0; i < frames_.size(); ++i) free_frames.push(int(i));
  for (std::size_t i = 0; i < results_.size(); ++i) free_results.push(int(i));
  PipelineReport report;
  std::mutex mutex;
  std::exception_ptr first;
  /// Runs a part of a stage and keeps the run's first error. Returns whether the part has succeeded.
  const auto succeeds = [&](auto part) {
    try {
      part();
      return true;
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!first) first = std::current_exception();
      return false;
    }
  };
  const auto begin = Clock::now();

  const auto read_all = [&] {
    succeeds([&] {
      while (const auto slot = free_frames.pop()) {
        if (!timed(report.source, [&] { return read(source, frames_[std::size_t(*slot)]); })) break;
        ++report.frames;
        read_frames.push(*slot);
      }
    });
    read_frames.close();
  };

  std::deque<int> waiting;        // slots of frames whose results are still to come
  std::optional<Pushed> pending;  // the last frame pushed, if the estimator is pipelined
  /// Passes a result to the sink, or frees its slots if it is not complete.
  const auto pass_on = [&](const Pushed& pushed, bool complete) {
    if (complete) {
      results_[std::size_t(pushed.result)].frame = *pushed.frame;
      return solved.push(pushed.result);
    }
    free_results.push(pushed.result);
    if (pushed.frame) free_frames.push(*pushed.frame);
  };
  const auto complete_pending = [&] {
    if (!pending) return;
    const bool complete = timed(report.compute, [&] { return estimator_.finish() != nullptr; });
    pass_on(*std::exchange(pending, {}), complete);
  };
  /// Begins a new sequence after frames that were skipped.
  const auto begin_anew = [&] {
    complete_pending();
    for (const int frame : waiting) free_frames.push(frame);
    waiting.clear();
    estimator_.reset();
  };
  const auto solve = [&](int frame, int slot) {
    if (frames_[std::size_t(frame)].skipped > 0 && needs_neighbors(estimator_.method())) begin_anew();
    Result& result = results_[std::size_t(slot)].result;
    if (result.size() != estimator_.size())  // at first, and if the sink has kept the result
      result = estimator_.new_result(on_gpu_ ? Memory::pinned() : Memory::host());
    Pushed pushed{slot, {}};
    waiting.push_back(frame);
    const bool complete =
        timed(report.compute, [&] { return estimator_.push(frames_[std::size_t(frame)].frame, result); });
    if (int(waiting.size()) > behind_) {
      pushed.frame = waiting.front();
      waiting.pop_front();
    }
    if (!estimator_.options().pipelined) return pass_on(pushed, complete);
    if (pending) pass_on(*pending, complete);
    pending = pushed;
  };
  const auto solve_all = [&] {
    succeeds([&] {
      try {
        for (;;) {
          if (read_frames.empty()) complete_pending();  // rather than delay it until the next frame arrives
          const auto frame = read_frames.pop();
          const auto slot = frame ? free_results.pop() : std::nullopt;
          if (!slot) break;
          solve(*frame, *slot);
        }
      } catch (const Error& error) {
        if (error.code() != ErrorCode::cancelled || !options_.stop.stop_requested()) throw;
      }
    });
    succeeds(complete_pending);
    free_frames.abandon();
    solved.close();
  };

  const auto sink_all = [&] {
    const bool taken = succeeds([&] {
      while (const auto slot = solved.pop()) {
        ResultSlot& done = results_[std::size_t(*slot)];
        timed(report.sink, [&] { sink(frames_[std::size_t(done.frame)], done.result); });
        ++report.results;
        free_frames.push(done.frame);
        free_results.push(*slot);
      }
      if (finish) timed(report.sink, finish);
    });
    if (taken) return;
    for (NumberQueue* queue : {&free_frames, &read_frames, &free_results}) queue->abandon();
  };

  estimator_.reset();
  {
    const std::stop_callback stopping(options_.stop, [&] {
      free_frames.abandon();
      read_frames.abandon();
      estimator_.cancel();
    });
    std::jthread reader, writer;
    const bool started = succeeds([&] {  // false if the system cannot create a thread
      writer = std::jthread(sink_all);
      reader = std::jthread(read_all);
    });
    if (!started) read_frames.close();
    solve_all();
  }
  estimator_.reset();
  report.stopped = options_.stop.stop_requested();
  report.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  if (first) std::rethrow_exception(first);
  return report;
}

template <class Task>
Pipeline<Task>::Pipeline(Estimator<Task>& estimator, PipelineOptions options)
    : impl_(std::make_unique<Impl>(estimator, std::move(options))) {}
template <class Task>
Pipeline<Task>::~Pipeline() = default;
template <class Task>
PipelineReport Pipeline<Task>::run(const Source& source, const Sink& sink,
                                   const std::function<void()>& finish) {
  return impl_->run(source, sink, finish);
}

template class Pipeline<Flow>;
template class Pipeline<Detection>;

}  // namespace parafield
