// SPDX-License-Identifier: MIT
#include "parafield/pipeline.hpp"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/fail.hpp"

namespace parafield {
namespace {

/// Queue of slot numbers between threads. Needs no size limit, because the number of slots is fixed.
class NumberQueue {
 public:
  void push(int number) {
    {
      const std::lock_guard lock(mutex_);
      numbers_.push_back(number);
    }
    changed_.notify_one();
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
  void close() { set(closed_); }       ///< pop() returns the remaining numbers, then nothing
  void abandon() { set(abandoned_); }  ///< pop() returns nothing, even if numbers remain

 private:
  void set(bool& flag) {
    {
      const std::lock_guard lock(mutex_);
      flag = true;
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
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

/// Copies a frame into a buffer in the memory of a device. Returns when the copy is complete.
void upload(const Frame& frame, FrameBuffer& there, Memory memory) {
  if (there.size() != frame.size() || there.format() != frame.format)
    there = FrameBuffer(frame.size(), frame.format, memory);
  there.set_range(frame.range);
  const Frame to = there.frame();
  detail::copy(const_cast<void*>(to.data), to.pitch, to.memory, frame.data, frame.pitch, frame.memory,
               std::ptrdiff_t(frame.width) * bytes_per_pixel(frame.format), frame.height);
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
  struct FrameSlot {
    VideoFrame host;
    FrameBuffer resident;  // copy on the GPU
    bool pinned = false;
  };
  struct ResultSlot {
    Result host, resident;
    int frame = 0;  // slot of the result's frame
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
    if (estimator.options().pipelined)
      fail(ErrorCode::invalid_argument,
           "the estimator of a pipeline cannot have the option pipelined: the pipeline itself copies frames "
           "and "
           "results while the device works");
    // `depth` frames wait before the solver and `depth` results after it, each of the three stages works on
    // one frame, and the solver keeps `behind_` frames until their results are complete.
    frames_.resize(std::size_t(2 * depth + 3 + behind_));
    results_.resize(std::size_t(depth + 2));
  }

  bool read(const Source& source, FrameSlot& slot) const;
  bool solve(const FrameSlot& frame, ResultSlot& result);
  void deliver(const Sink& sink, ResultSlot& slot) const;
  PipelineReport run(const Source& source, const Sink& sink, const std::function<void()>& finish);

  Estimator<Task>& estimator_;
  const PipelineOptions options_;
  const bool on_gpu_;
  const int behind_;
  std::vector<FrameSlot> frames_;
  std::vector<ResultSlot> results_;
};

/// Reads a frame and uploads it to the device. Returns false at the end of the source.
template <class Task>
bool Pipeline<Task>::Impl::read(const Source& source, FrameSlot& slot) const {
  if (!source(slot.host)) return false;
  if (!on_gpu_) return true;
  const Frame frame = slot.host.frame.frame();
  upload(frame, slot.resident, Memory::cuda(estimator_.device().index));
  if (!slot.pinned) {  // from now on, give the source a pinned buffer to fill
    FrameBuffer pinned;
    upload(frame, pinned, Memory::pinned());
    slot.host.frame = std::move(pinned);
    slot.pinned = true;
  }
  return true;
}

/// Pushes a frame into the estimator. Returns whether a result is complete.
template <class Task>
bool Pipeline<Task>::Impl::solve(const FrameSlot& frame, ResultSlot& result) {
  if (result.host.size() != estimator_.size()) {
    result.host = estimator_.new_result(on_gpu_ ? Memory::pinned() : Memory::host());
    if (on_gpu_) result.resident = estimator_.new_result(Memory::cuda(estimator_.device().index));
  }
  if (!on_gpu_) return estimator_.push(frame.host.frame, result.host);
  const bool complete = estimator_.push(frame.resident, result.resident);
  estimator_.synchronize();
  return complete;
}

template <class Task>
void Pipeline<Task>::Impl::deliver(const Sink& sink, ResultSlot& slot) const {
  if (on_gpu_)
    detail::for_each_plane(slot.resident, slot.host, [](const auto& from, auto& to) {
      if (to) to.take(from);
    });
  sink(frames_[std::size_t(slot.frame)].host, slot.host);
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
  const auto keep_error = [&] {
    const std::lock_guard lock(mutex);
    if (!first) first = std::current_exception();
  };
  const auto begin = Clock::now();

  const auto read_all = [&] {
    try {
      while (const auto slot = free_frames.pop()) {
        if (!timed(report.source, [&] { return read(source, frames_[std::size_t(*slot)]); })) break;
        ++report.frames;
        read_frames.push(*slot);
      }
    } catch (...) {
      keep_error();
    }
    read_frames.close();
  };
  const auto solve_all = [&] {
    try {
      std::deque<int> waiting;  // slots of frames whose results are still to come
      while (const auto slot = read_frames.pop()) {
        const auto result = free_results.pop();
        if (!result) break;
        ResultSlot& into = results_[std::size_t(*result)];
        waiting.push_back(*slot);
        const bool complete = timed(report.compute, [&] { return solve(frames_[std::size_t(*slot)], into); });
        const bool full = int(waiting.size()) > behind_;
        if (complete) {
          into.frame = waiting.front();
          solved.push(*result);
        } else {
          free_results.push(*result);
          if (full) free_frames.push(waiting.front());
        }
        if (full) waiting.pop_front();
      }
    } catch (const Error& error) {
      if (error.code() != ErrorCode::cancelled || !options_.stop.stop_requested()) keep_error();
    } catch (...) {
      keep_error();
    }
    free_frames.abandon();
    solved.close();
  };
  const auto sink_all = [&] {
    try {
      while (const auto slot = solved.pop()) {
        ResultSlot& result = results_[std::size_t(*slot)];
        timed(report.sink, [&] { deliver(sink, result); });
        ++report.results;
        free_frames.push(result.frame);
        free_results.push(*slot);
      }
      if (finish) timed(report.sink, finish);
    } catch (...) {
      keep_error();
      for (NumberQueue* queue : {&free_frames, &read_frames, &free_results}) queue->abandon();
    }
  };

  estimator_.reset();
  {
    const std::stop_callback stopping(options_.stop, [&] {
      free_frames.abandon();
      read_frames.abandon();
      estimator_.cancel();
    });
    std::jthread reader, writer;
    try {
      writer = std::jthread(sink_all);
      reader = std::jthread(read_all);
    } catch (...) {  // the system cannot create a thread
      keep_error();
      read_frames.close();
    }
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
