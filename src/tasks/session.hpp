// SPDX-License-Identifier: MIT
#pragma once
#include <type_traits>
#include <vector>

#include "core/backend.hpp"
#include "core/solver.hpp"
#include "core/views.hpp"

namespace parafield {

/// Returns the frame with its pitch filled in; a pitch of 0 means that there are no gaps between rows. Throws
/// Error(invalid_argument) for a frame that an estimator of that size and device cannot read; the message
/// contains `name` and the numbers.
Frame checked(const Frame& frame, const char* name, Size size, const Device& device);

/// Checks a plane that results of `size` will be written to. Throws Error(invalid_argument) for another size,
/// another memory than `expected`, or an invalid pitch. `pitch` and `value_bytes` are in bytes.
void check_output(Size plane, Memory memory, std::ptrdiff_t pitch, std::ptrdiff_t value_bytes, Size size,
                  Memory expected);

/// Checks the initial estimate that a call starts from. Throws Error(invalid_argument) for another size than
/// `size`, and for planes that are missing, differ in size or have overlapping rows.
void check_start(const FlowView& start, Size size);
void check_start(const DisparityView& start, Size size);
void check_start(const MotionMaskView& start, Size size);

/// Purpose of the range of a task's frames.
template <class Task>
constexpr RangeUse range_use =
    std::is_same_v<typename Task::Result, MotionMask> ? RangeUse::detection : RangeUse::matching;

/// Which optional planes results have.
template <class Options>
FieldPlanes planes_of(const Options& options) {
  if constexpr (requires { options.planes(); }) return options.planes();
  return {};
}

/// The part of a session that takes the frames of a sequence one by one.
template <class Task>
class FrameStream {
 public:
  /// Adds the next frame. Writes its result into `output`, or into the session's own result if `output` is
  /// null. Returns the frame's result or, if the estimator is pipelined, the previous frame's; null if there
  /// is none.
  virtual const typename Task::Result* push(const Frame& frame, typename Task::Result* output) = 0;
  /// Completes and returns the result that a pipelined estimator has not returned yet; null if there is none.
  virtual const typename Task::Result* finish() = 0;

 protected:
  ~FrameStream() = default;
};

/// The part of a session that takes the pairs of a stereo video one by one.
template <class Task>
class PairStream {
 public:
  /// Adds the next pair and solves it. Writes into `output`, or into the session's own result if `output` is
  /// null. Returns what it wrote.
  virtual const typename Task::Result& push(const Frame& left, const Frame& right,
                                            typename Task::Result* output) = 0;
  /// See Estimator::examine.
  virtual const PairFindings& examine(const Frame& left, const Frame& right) = 0;

 protected:
  ~PairStream() = default;
};

/// Implementation of an estimator, with the method and the backend hidden.
template <class Task>
class Session : public std::conditional_t<Task::streams, FrameStream<Task>, PairStream<Task>> {
 public:
  using Result = typename Task::Result;
  virtual ~Session() = default;
  /// Solves. Writes into `output`, or into the session's own result if `output` is null. Returns what it
  /// wrote.
  virtual const Result& call(const typename Task::Input& input, Result* output) = 0;
  virtual void reset() = 0;
  virtual void synchronize() = 0;
  virtual void cancel() noexcept = 0;
  virtual std::vector<double> energies() = 0;
  virtual LearnedBackground background() { fail(ErrorCode::unsupported, "the method learns no background"); }
  virtual SolvedBlocks blocks() const = 0;
  virtual Stream stream() const = 0;
  virtual std::size_t workspace_bytes() const = 0;
  /// See Estimator::frames_state.
  virtual FramesState frames_state() const { return FramesState::unknown; }
  virtual ValueRange range() const = 0;
  /// Returns the method with the parameters that the session found in the frames; null if it has found none.
  virtual const typename Task::Method* found() const { return nullptr; }
};

/// Waits at its end for the backend's pending work. As an object's last member, it does so before the memory
/// that the work uses is freed.
template <class Backend>
struct PendingWork {
  Backend& backend;

  ~PendingWork() {
    try {
      backend.synchronize();
    } catch (const std::exception&) {  // the device failed, so no work is running
    }
  }
};

/// Uploads a host frame into `staging`, in the order of a queue. Allocates `staging` in the backend's memory
/// if its size or format differs. Returns a view of it.
template <class Backend>
Frame staged(Backend& backend, const Frame& frame, FrameBuffer& staging, Queue queue = Queue::solves) {
  if (staging.size() != frame.size() || staging.format() != frame.format)
    staging = FrameBuffer(frame.size(), frame.format, backend.memory());
  Frame there = staging;
  there.range = frame.range;
  backend.copy(const_cast<void*>(there.data), there.pitch, frame.data, frame.pitch, row_bytes(frame),
               frame.height, queue);
  return there;
}

}  // namespace parafield
