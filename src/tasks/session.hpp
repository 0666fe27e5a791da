// SPDX-License-Identifier: MIT
#pragma once
#include <type_traits>
#include <vector>

#include "core/backend.hpp"
#include "core/solver.hpp"

namespace parafield {

/// Returns the frame with its pitch filled in (0 stands for rows without a gap). Throws
/// Error(invalid_argument) for a frame that an estimator of that size and device cannot read; the message has
/// `name` and the numbers.
Frame checked(const Frame& frame, const char* name, Size size, const Device& device);

/// Checks a plane to write results of `size` into. Throws Error(invalid_argument) for another size, another
/// memory than `expected`, or a pitch that does not fit.
void check_output(Size plane, Memory memory, std::ptrdiff_t pitch, std::ptrdiff_t value_bytes, Size size,
                  Memory expected);

/// Checks the first guess that a call starts from. Throws Error(invalid_argument) for another size than
/// `size`, and for planes that are missing, differ in size or have rows that overlap.
void check_start(const FlowView& start, Size size);
void check_start(const DisparityView& start, Size size);
void check_start(const MotionMaskView& start, Size size);

/// Which planes results have.
struct ResultPlanes {
  bool valid = true, confidence = true;
};
template <class Options>
ResultPlanes planes_of(const Options& options) {
  if constexpr (requires { options.confidence; }) return {options.valid, options.confidence};
  return {};
}
/// A field with the planes of results.
template <class Field>
Field result_with(ResultPlanes planes, Size size, Memory memory) {
  return Field(size, memory, planes.confidence, planes.valid);
}

/// The part of a session that takes the frames of a sequence one by one.
template <class Task>
class FrameStream {
 public:
  /// Adds the next frame. Writes its result into `output`, or into the session's own if that is null. Returns
  /// the frame's result, or, if the estimator is pipelined, the previous frame's; null if there is none.
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
  /// Adds the next pair and solves it. Writes into `output`, or into the session's own result if that is
  /// null.
  virtual const typename Task::Result& push(const Frame& left, const Frame& right,
                                            typename Task::Result* output) = 0;

 protected:
  ~PairStream() = default;
};

/// The inside of an estimator. It hides the method and the backend.
template <class Task>
class Session : public std::conditional_t<Task::streams, FrameStream<Task>, PairStream<Task>> {
 public:
  using Result = typename Task::Result;
  virtual ~Session() = default;
  /// Solves. Writes into `output`, or into the session's own result if that is null. Returns what it wrote.
  virtual const Result& call(const typename Task::Input& input, Result* output) = 0;
  virtual void reset() = 0;
  virtual void synchronize() = 0;
  virtual void cancel() noexcept = 0;
  virtual std::vector<double> energies() = 0;
  virtual SolvedBlocks blocks() const = 0;
  virtual Stream stream() const = 0;
  virtual std::size_t workspace_bytes() const = 0;
  /// The method with parameters that the session has found in the first frames; null if it finds none.
  virtual const typename Task::Method* found() const { return nullptr; }
};

/// Copies a host frame into `staging`, in the memory of a GPU's backend. Returns the copy.
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
