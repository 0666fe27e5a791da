// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

#include "parafield/detection.hpp"
#include "parafield/flow.hpp"
#include "parafield/video.hpp"

/// Estimation along a video, where reading, computing and writing overlap.
namespace parafield {

struct PipelineOptions {
  int depth = 2;              ///< frames that wait before the estimator, and results that wait behind it
  std::stop_token stop = {};  ///< ends the run early: see Pipeline::run
};

/// What a run of a pipeline did. The three stages work at the same time; the slowest one limits the run.
struct PipelineReport {
  std::int64_t frames = 0;   ///< read by the source
  std::int64_t results = 0;  ///< that the sink has taken
  bool stopped = false;      ///< by the stop token
  double seconds = 0;        ///< from the start to the end
  double source = 0;         ///< seconds in the source, with the upload to the device
  double compute = 0;        ///< seconds in the estimator
  double sink = 0;           ///< seconds in the sink, with the download from the device
};

namespace detail {

/// Queue of numbers between threads. Its users own a fixed number of things, so it needs no limit.
class NumberQueue {
 public:
  void push(int number) {
    {
      const std::lock_guard lock(mutex_);
      numbers_.push_back(number);
    }
    changed_.notify_one();
  }
  /// Waits for a number. None if the queue is closed and empty, or if it is abandoned.
  std::optional<int> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return abandoned_ || closed_ || !numbers_.empty(); });
    if (abandoned_ || numbers_.empty()) return {};
    const int number = numbers_.front();
    numbers_.pop_front();
    return number;
  }
  void close() { set(closed_); }       ///< no number comes any more
  void abandon() { set(abandoned_); }  ///< nobody needs its numbers any more

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

/// Number of frames between the one that a result belongs to and the newest one that it needs.
inline int frames_behind(const FlowMethod& method) {
  const int count = frames_of(method);
  return count - 1 - (count - 1) / 2;
}
inline int frames_behind(const DetectionMethod&) { return 0; }

/// Copies a frame into a buffer in the memory of a device. Returns when it is there.
inline void upload(const Frame& frame, FrameBuffer& there, Memory memory) {
  if (there.size() != frame.size() || there.format() != frame.format)
    there = FrameBuffer(frame.size(), frame.format, memory);
  there.set_range(frame.range);
  const Frame to = there.frame();
  copy(const_cast<void*>(to.data), to.pitch, to.memory, frame.data, frame.pitch, frame.memory,
       std::ptrdiff_t(frame.width) * bytes_per_pixel(frame.format), frame.height);
}

}  // namespace detail

/// A source of frames, an estimator and a sink of results, each on a thread of its own: the calling thread
/// runs the estimator. Frames and results stay in a fixed number of buffers, which are used again and again.
///
/// On a CUDA device a frame goes up on the source's thread and a result comes down on the sink's, while the
/// device works on the frames between. The sink gets host memory.
///
/// A pipeline, its estimator and its functions belong to one run at a time. Any number of pipelines may run
/// at the same time.
template <class Task>
class Pipeline {
 public:
  using Result = typename Task::Result;
  /// Reads the next frame into the buffer that it is given, which may hold an older one. Returns false at the
  /// end. VideoReader::next is one.
  using Source = std::function<bool(VideoFrame& frame)>;
  /// Takes a result, with the frame that it belongs to: the middle one of those that the method takes, the
  /// first of two; for motion detection the newest one. Both are the pipeline's; the sink may change the result,
  /// or move it away to keep it.
  using Sink = std::function<void(const VideoFrame& frame, Result& result)>;

  /// The estimator has to outlive the pipeline. Throws Error(invalid_argument) for a depth outside 1..1000.
  explicit Pipeline(Estimator<Task>& estimator, PipelineOptions options = {})
      : estimator_(estimator),
        options_(std::move(options)),
        on_gpu_(estimator.device().kind == Device::Kind::cuda) {
    const int depth = options_.depth;
    if (depth < 1 || depth > 1000)
      throw Error(ErrorCode::invalid_argument,
                  "depth cannot be " + std::to_string(depth) + "; it is a number of frames from 1 to 1000");
    behind_ = detail::frames_behind(estimator.method());
    // Those that wait, one in each stage, and those that the estimator needs until their result comes.
    frames_.resize(std::size_t(2 * depth + 3 + behind_));
    results_.resize(std::size_t(depth + 2));
  }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// Runs to the end of the source. `finish` is called on the sink's thread behind the last result, for example
  /// to finish a file; not if the sink itself has failed.
  ///
  /// The first error of a stage, in time, ends the run. All results from before it go to the sink, then it is
  /// thrown. When the stop token asks to stop, the running estimation is given up, and the results that are
  /// complete go to the sink. The call returns when the source has returned, too: one that waits for a camera
  /// or a pipe delays it, but not `finish`. The estimator begins a new sequence with each run.
  PipelineReport run(const Source& source, const Sink& sink, const std::function<void()>& finish = {});

 private:
  struct FrameSlot {
    VideoFrame host;
    FrameBuffer resident;  // on the GPU
    bool pinned = false;
  };
  struct ResultSlot {
    Result host, resident;
    int frame = 0;  // the slot of its frame
  };
  using Clock = std::chrono::steady_clock;

  /// Adds the time that work() takes.
  template <class Work>
  static auto timed(double& seconds, Work work) {
    struct Stopwatch {
      double& seconds;
      Clock::time_point begin = Clock::now();
      ~Stopwatch() { seconds += std::chrono::duration<double>(Clock::now() - begin).count(); }
    } const stopwatch{seconds};
    return work();
  }

  bool read(const Source& source, FrameSlot& slot) const;
  bool solve(const FrameSlot& frame, ResultSlot& result);
  void deliver(const Sink& sink, ResultSlot& slot) const;

  Estimator<Task>& estimator_;
  const PipelineOptions options_;
  const bool on_gpu_;
  int behind_ = 0;
  std::vector<FrameSlot> frames_;
  std::vector<ResultSlot> results_;
};

/// Reads a frame and brings it to the device. False at the end.
template <class Task>
bool Pipeline<Task>::read(const Source& source, FrameSlot& slot) const {
  if (!source(slot.host)) return false;
  if (!on_gpu_) return true;
  const Frame frame = slot.host.frame.frame();
  detail::upload(frame, slot.resident, Memory::cuda(estimator_.device().index));
  if (!slot.pinned) {  // a source that fills the buffer it is given finds a pinned one next time
    FrameBuffer pinned;
    detail::upload(frame, pinned, Memory::pinned());
    slot.host.frame = std::move(pinned);
    slot.pinned = true;
  }
  return true;
}

/// Gives the estimator a frame. Returns whether there is a result.
template <class Task>
bool Pipeline<Task>::solve(const FrameSlot& frame, ResultSlot& result) {
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
void Pipeline<Task>::deliver(const Sink& sink, ResultSlot& slot) const {
  if (on_gpu_)
    detail::for_each_plane(slot.resident, slot.host, [](const auto& from, auto& to) {
      if (to) to.take(from);
    });
  sink(frames_[std::size_t(slot.frame)].host, slot.host);
}

template <class Task>
PipelineReport Pipeline<Task>::run(const Source& source, const Sink& sink,
                                   const std::function<void()>& finish) {
  detail::NumberQueue free_frames, read_frames, free_results, solved;
  for (std::size_t i = 0; i < frames_.size(); ++i) free_frames.push(int(i));
  for (std::size_t i = 0; i < results_.size(); ++i) free_results.push(int(i));
  PipelineReport report;
  std::mutex mutex;
  std::exception_ptr first;
  const auto fail = [&] {
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
      fail();
    }
    read_frames.close();
  };
  const auto solve_all = [&] {
    try {
      std::deque<int> waiting;  // frames whose result comes next
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
      if (error.code() != ErrorCode::cancelled || !options_.stop.stop_requested()) fail();
    } catch (...) {
      fail();
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
      fail();
      for (detail::NumberQueue* queue : {&free_frames, &read_frames, &free_results}) queue->abandon();
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
    } catch (...) {  // the system gives no thread
      fail();
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

}  // namespace parafield
