// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <atomic>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/backend.hpp"
#include "core/solver.hpp"
#include "core/views.hpp"
#include "steps/copy/copy.hpp"

namespace parafield {

/// Returns the frame with its pitch filled in (0 stands for rows without a gap). Throws
/// Error(invalid_argument) for a frame that an estimator of that size and device cannot read; the message has
/// `name` and the numbers.
Frame checked(const Frame& frame, const char* name, Size size, const Device& device);

/// Checks a plane to write results of `size` into. Throws Error(invalid_argument) for another size, another
/// memory than `expected`, or a pitch that does not fit.
void check_output(Size plane, Memory memory, std::ptrdiff_t pitch, std::ptrdiff_t value_bytes, Size size,
                  Memory expected);

/// The inside of an estimator. It hides the method and the backend.
template <class Task>
class Session {
 public:
  using Result = typename Task::Result;
  virtual ~Session() = default;
  /// Solves. Writes into `output`, or into the session's own result if `output` is null. Returns the result.
  virtual const Result& call(const typename Task::Input& input, Result* output) = 0;
  /// Takes the next frame of a sequence. Returns null as long as frames are missing, then the result like
  /// `call`.
  virtual const Result* push(const Frame& frame, Result* output) = 0;
  /// Solves the next pair of a sequence of pairs, like `call`.
  virtual const Result& push_pair(const Frame& first, const Frame& second, Result* output) = 0;
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
Frame staged(Backend& backend, const Frame& frame, FrameBuffer& staging) {
  if (staging.size() != frame.size() || staging.format() != frame.format)
    staging = FrameBuffer(frame.size(), frame.format, backend.memory());
  Frame there = staging;
  there.range = frame.range;
  backend.copy(const_cast<void*>(there.data), there.pitch, frame.data, frame.pitch, row_bytes(frame),
               frame.height);
  return there;
}

/// Brings frames to a solver and its result back, on one backend. The solver keeps prepared frames in slots,
/// one for each frame that the method takes.
template <class Task, class Backend, class Solver>
class SolverSession final : public Session<Task> {
 public:
  using Result = typename Task::Result;
  using Start = typename decltype(Task::Input::start)::value_type;
  static_assert(Solves<Solver, const Start*, Result&>);

  template <class Method>
  SolverSession(const Method& method, Size size, const Device& device, const typename Task::Options& options)
      : slots_(method.frames),
        size_(size),
        device_(device),
        backend_(device, options.stream),
        workspace_(backend_.memory()),
        solver_(backend_, workspace_, method, size, options),
        frames_(std::size_t(slots_)),
        staging_(std::size_t(slots_)) {
    backend_.cancelled_by(cancelled_);
    if constexpr (Backend::is_gpu) device_result_ = Result(size, backend_.memory());
  }

  /// Waits for the work that the backend still has: it uses the memory that goes now.
  ~SolverSession() override {
    try {
      if constexpr (Backend::is_gpu) backend_.synchronize();
    } catch (const std::exception&) {  // the device failed, and its work ended with it
    }
  }

  const Result& call(const typename Task::Input& input, Result* output) override {
    return solve(input, output, false);
  }

  const Result& push_pair(const Frame& first, const Frame& second, Result* output) override {
    const std::array<Frame, 2> pair = {first, second};
    typename Task::Input input;
    input.frames = pair;
    return solve(input, output, true);
  }

  const Result* push(const Frame& user_frame, Result* output) override {
    Frame frame = checked(user_frame, "the frame", size_, device_);
    const bool on_host = frame.memory.on_host();
    check_call(output, on_host);
    const auto active = backend_.activate();
    const int slot = int(pushed_ % slots_), oldest = (slot + 1) % slots_;
    if (on_host) frame = on_backend(frame, slot);
    solver_.take({}, on_host);
    Result& result = target(output, on_host);
    const bool complete = pushed_ + 1 >= slots_;
    const bool warm = pushed_ >= slots_ && solver_.starts_from_last();
    const Start last = result;
    const PlaneCopies copies = complete ? copies_of(result, output, on_host) : PlaneCopies{};
    backend_.replay(key_of(push_keys + 3 * slot + (complete ? 1 + warm : 0), copies), [&] {
      if (!complete)
        solver_.prepare(&frame, slot, 1);
      else if constexpr (Task::streams)
        solver_.solve_newest(frame, slot, oldest, warm ? &last : nullptr, result);
      if (copies.count) copy_planes(backend_, copies);
    });
    ++pushed_;
    if (complete) return &delivered(result, output, on_host);
    if (on_host) backend_.synchronize();  // the user may now change the frame
    return nullptr;
  }

  void reset() override {
    pushed_ = 0;
    cancelled_ = false;
  }
  void synchronize() override {
    const auto active = backend_.activate();
    backend_.synchronize();
    solver_.check();
  }
  void cancel() noexcept override { cancelled_ = true; }
  std::vector<double> energies() override {
    const View<double> all = solver_.energies();
    if (!all) return {};
    std::vector<double> values(std::size_t(all.width));
    const auto active = backend_.activate();
    copy_to_host(backend_, values.data(), all.data, sizeof(double) * values.size());
    return values;
  }
  SolvedBlocks blocks() const override {
    SolvedBlocks blocks = solver_.blocks();
    if (blocks.count == 1) blocks.size = size_;
    return blocks;
  }
  Stream stream() const override { return backend_.stream(); }
  std::size_t workspace_bytes() const override { return workspace_.bytes() + backend_.scratch_bytes(); }

 private:
  // Keys of recorded solves. First come those of calls: one for each kind of known motion, with and without a
  // start. Then come those of pushes. Each has a second one for solves that end with copies of the result.
  static constexpr int call_keys = 0, push_keys = 2 * 8;
  static int key_of(int key, const PlaneCopies& copies) { return 2 * key + (copies.count > 0); }

  static KnownMotion known_motion(const typename Task::Input& input) {
    if constexpr (requires { input.tracks; }) return {input.tracks, input.rotation};
    return {};
  }

  /// Solves for the result of frames. `pushes`: they are the next pair of a sequence.
  const Result& solve(const typename Task::Input& input, Result* output, bool pushes) {
    if (int(input.frames.size()) != slots_)
      fail(ErrorCode::invalid_argument, "the method takes ", slots_, " frames, not ", input.frames.size());
    for (std::size_t i = 0; i < frames_.size(); ++i)
      frames_[i] = checked(input.frames[i], ("frame " + std::to_string(i)).c_str(), size_, device_);
    const bool on_host = frames_[0].memory.on_host();
    for (const Frame& frame : frames_)
      if (frame.memory.on_host() != on_host)
        fail(ErrorCode::invalid_argument, "one frame is in host memory and one on a device");
    if (input.start && !solver_.takes_start())
      fail(ErrorCode::invalid_argument, "the method, with these parameters, has no use for a start");
    if (input.start && input.start->size() != size_)
      fail(ErrorCode::invalid_argument, "the start is ", input.start->size().width, "x",
           input.start->size().height, ", the frames are ", size_.width, "x", size_.height);
    check_call(output, on_host);
    const auto active = backend_.activate();
    std::optional<Start> start = input.start;
    if (on_host) {
      for (int i = 0; i < slots_; ++i) frames_[std::size_t(i)] = on_backend(frames_[std::size_t(i)], i);
      if (start) start = on_backend(*start);
    }
    const int kind = solver_.take(known_motion(input), on_host);
    const bool follows = pushes && pushed_ > 0 && solver_.averages();
    const std::int64_t before = std::exchange(pushed_, 0);  // a pair that fails is not followed
    Result& result = target(output, on_host);
    const PlaneCopies copies = copies_of(result, output, on_host);
    backend_.replay(key_of(pushes ? push_keys + follows : call_keys + 2 * kind + start.has_value(), copies),
                    [&] {
                      if (pushes)
                        solver_.prepare_next(frames_.data(), follows);
                      else
                        solver_.prepare(frames_.data(), 0, slots_);
                      solver_.solve(0, start ? &*start : nullptr, result);
                      if (copies.count) copy_planes(backend_, copies);
                    });
    if (pushes) pushed_ = before + 1;
    return delivered(result, output, on_host);
  }

  void check_call(const Result* output, bool on_host) const {
    fail_if_cancelled(cancelled_);
    if (!output) return;
    const Memory expected = on_host ? Memory::host() : backend_.memory();
    const auto check = [&]<class T>(const Image<T>& plane) {
      if (plane) check_output(plane.size(), plane.memory(), plane.view().pitch, sizeof(T), size_, expected);
    };
    std::apply([&](const auto&... plane) { (check(plane), ...); }, output->planes());
  }

  /// Returns the result that the solver writes, in the backend's memory: the session's own, or on the CPU the
  /// user's if it has all planes. Allocates results in host memory when they are first needed.
  Result& target(Result* output, bool on_host) {
    if constexpr (Backend::is_gpu) {
      if (on_host && !output && host_result_.size() != size_) host_result_ = Result(size_, Memory::pinned());
      return device_result_;
    }
    const auto is_whole = [](const auto&... plane) { return (bool(plane) && ...); };
    if (output && !solver_.starts_from_last() && std::apply(is_whole, output->planes())) return *output;
    if (host_result_.size() != size_) host_result_ = Result(size_, Memory::host());
    return host_result_;
  }

  /// Copies from the solver's result to the user's, in the backend's memory. There are none if the solver writes
  /// the user's, or if it goes to the host (see delivered).
  PlaneCopies copies_of(const Result& solved, Result* output, bool on_host) const {
    PlaneCopies copies;
    if (!output || output == &solved || (Backend::is_gpu && on_host)) return copies;
    detail::for_each_plane(solved, *output, [&](const auto& from, auto& to) {
      if (to) copies.add(from.view(), to.view());
    });
    return copies;
  }

  /// Returns the result where the user expects it. For host frames that is on the host, complete.
  const Result& delivered(Result& solved, Result* output, bool on_host) {
    Result& result = output ? *output : Backend::is_gpu && on_host ? host_result_ : solved;
    if (!on_host) return result;
    if constexpr (Backend::is_gpu)
      detail::for_each_plane(solved, result, [&](auto& from, auto& to) {
        if (to) copy(std::as_const(from).view(), to.view());
      });
    synchronize();
    return result;
  }

  /// Returns a host frame where the backend can read it.
  Frame on_backend(const Frame& frame, int slot) {
    if constexpr (Backend::is_gpu) return staged(backend_, frame, staging_[std::size_t(slot)]);
    return frame;
  }

  Start on_backend(const Start& start) {
    if constexpr (Backend::is_gpu) {
      if (staged_start_.size() != size_) staged_start_ = Result(size_, backend_.memory());
      copy_start(start, staged_start_);
      return staged_start_;
    }
    return start;
  }
  void copy_start(const FlowView& from, FlowField& to) {
    copy(from.u, to.u.view());
    copy(from.v, to.v.view());
  }
  void copy_start(const DisparityView& from, DisparityField& to) { copy(from.d, to.d.view()); }
  void copy_start(const MotionMaskView& from, MotionMask& to) { copy(from.moving, to.moving.view()); }

  template <class T>
  void copy(View<const T> from, View<T> to) {
    backend_.copy(to.data, to.pitch, from.data, from.pitch, from.width * std::ptrdiff_t(sizeof(T)),
                  from.height);
  }

  const int slots_;
  const Size size_;
  const Device device_;
  std::atomic<bool> cancelled_ = false;
  Backend backend_;
  Workspace workspace_;
  Solver solver_;
  std::vector<Frame> frames_;  // the frames of a call, one for each slot
  std::vector<FrameBuffer> staging_;
  Result staged_start_;
  Result device_result_, host_result_;
  std::int64_t pushed_ = 0;
};

}  // namespace parafield
