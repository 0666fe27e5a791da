// SPDX-License-Identifier: MIT
#pragma once
#include <tuple>
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

/// Checks the first guess that a call starts from. Throws Error(invalid_argument) for another size than `size`,
/// and for planes that are missing, differ in size or have rows that overlap.
void check_start(const FlowView& start, Size size);
void check_start(const DisparityView& start, Size size);
void check_start(const MotionMaskView& start, Size size);

/// Planes of a result as halves. Tasks without such results have none.
struct NoHalves {
  auto planes() { return std::tuple<>(); }
  auto planes() const { return std::tuple<>(); }
};
template <class Task>
using HalvesOf = std::conditional_t<Task::halves, HalfFlowField, NoHalves>;

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

/// Where a result goes: into a field of floats, or of halves. Neither: the estimator chooses.
template <class Task>
struct Output {
  typename Task::Result* field = nullptr;
  HalvesOf<Task>* halves = nullptr;

  explicit operator bool() const { return field || halves; }
  bool operator==(const Output&) const = default;
  /// Calls f with what there is.
  template <class F>
  void visit(F f) const {
    if (field) f(*field);
    if (halves) f(*halves);
  }
};

/// The inside of an estimator. It hides the method and the backend.
template <class Task>
class Session {
 public:
  using Result = typename Task::Result;
  virtual ~Session() = default;
  /// Solves. Writes into `output`, or into the session's own result. Returns the session's own, or the output's
  /// field.
  virtual const Result* call(const typename Task::Input& input, Output<Task> output) = 0;
  /// Takes the next frame of a sequence. Returns no output as long as frames are missing, then where the result
  /// is.
  virtual Output<Task> push(const Frame& frame, Output<Task> output) = 0;
  /// The same, but returns where the result of the call before is, if it had one.
  virtual Output<Task> push_ahead(const Frame& frame, Output<Task> output) = 0;
  /// Completes the result of the last push_ahead, if it had one. Returns where it is.
  virtual Output<Task> finish() = 0;
  /// Solves the next pair of a sequence of pairs, like `call`.
  virtual const Result* push_pair(const Frame& first, const Frame& second, Output<Task> output) = 0;
  virtual void reset() = 0;
  virtual void synchronize() = 0;
  virtual void cancel() noexcept = 0;
  virtual std::vector<double> energies() = 0;
  virtual SolvedBlocks blocks() const = 0;
  virtual Stream stream() const = 0;
  virtual std::size_t workspace_bytes() const = 0;
  /// The method with parameters that the session has found in the first frames, if it finds any.
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
