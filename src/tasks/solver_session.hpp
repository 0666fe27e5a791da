// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/solver.hpp"
#include "core/value_range.hpp"
#include "tasks/session_results.hpp"

namespace parafield {

/// Passes frames to a solver and returns its results, on one backend. This class implements calls;
/// FrameSession and PairSession add sequences of frames or pairs. The solver keeps prepared frames in slots,
/// one for each frame that the method takes.
template <class Task, class Backend, class Solver>
class SolverSession : public Session<Task> {
 public:
  using Input = typename Task::Input;
  using Result = typename Task::Result;
  using Start = typename decltype(Task::Input::start)::value_type;
  static_assert(Solves<Solver, const Start*, Result&>);

  template <class Method>
  SolverSession(const Method& method, Size size, const Device& device, const typename Task::Options& options)
      : slots_(method.frames),
        size_(size),
        device_(device),
        backend_(device, options.stream, options.throughput),
        results_(backend_, size, planes_of(options)),
        workspace_(backend_.memory()),
        solver_(backend_, workspace_, method, size, options),
        frames_(std::size_t(slots_)),
        staging_(std::size_t(slots_)) {
    backend_.cancelled_by(cancelled_);
  }

  const Result& call(const Input& input, Result* output) override {
    const bool on_host = check_frames(input.frames);
    if (input.start && !solver_.takes_start())
      fail(ErrorCode::invalid_argument, "the method, with these parameters, has no use for a start");
    if (input.start) check_start(*input.start, size_);
    check_call(output, on_host);
    const auto active = backend_.activate();
    give_ranges(frames_);
    const int known_motion = solver_.take(known_motion_of(input), on_host);
    for (const Frame& frame : frames_) solver_.check_frame(frame);
    solver_.restore();
    forget_pushed();
    std::optional<Start> start = input.start;
    if (on_host && start) start = on_backend(*start);
    return solve({.entry = ReplayKey::Entry::call, .known_motion = known_motion, .start = start.has_value()},
                 on_host, start ? &*start : nullptr, output,
                 [&] { solver_.prepare(frames_.data(), 0, slots_); });
  }

  void reset() override {
    const auto active = backend_.activate();
    forget_pushed();
    solver_.forget();
    range_ = {};
    cancelled_ = false;
  }
  ValueRange range() const override { return range_; }
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
  LearnedBackground background() override {
    const auto active = backend_.activate();
    return solver_.background();
  }
  SolvedBlocks blocks() const override {
    SolvedBlocks blocks = solver_.blocks();
    if (blocks.count == 1) blocks.size = size_;
    return blocks;
  }
  Stream stream() const override { return backend_.stream(); }
  std::size_t workspace_bytes() const override { return workspace_.bytes() + backend_.scratch_bytes(); }

 protected:
  using Delivery = typename SessionResults<Task, Backend>::Delivery;

  /// Forgets the frames or pairs pushed so far, and a result that is still pending.
  virtual void forget_pushed() = 0;

  /// Checks all frames of a result and keeps them in frames_. Returns whether they are in host memory.
  bool check_frames(std::span<const Frame> frames) {
    if (int(frames.size()) != slots_)
      fail(ErrorCode::invalid_argument, "the method takes ", slots_, " frames, not ", frames.size());
    for (std::size_t i = 0; i < frames_.size(); ++i)
      frames_[i] = checked(frames[i], ("frame " + std::to_string(i)).c_str(), size_, device_);
    const bool on_host = frames_[0].memory.on_host();
    for (const Frame& frame : frames_)
      if (frame.memory.on_host() != on_host)
        fail(ErrorCode::invalid_argument, "one frame is in host memory and one on a device");
    return on_host;
  }

  /// Gives frames that name no range the one of the first such frames. Waits for frames on the device if they
  /// are the first.
  void give_ranges(std::span<Frame> frames) {
    const auto unknown = std::ranges::find_if(frames, lacks_range);
    if (unknown == frames.end()) return;
    if (range_ == ValueRange{}) {
      backend_.synchronize();
      give_range(frames, range_use<Task>);
      range_ = unknown->range;
      format_ = unknown->format;
      return;
    }
    for (Frame& frame : frames) {
      const Frame known{.format = format_};
      check_same_depth(known, "the estimator's first frame", frame, "a later one");
      if (lacks_range(frame)) frame.range = range_;
    }
  }

  /// Calls prepare() to prepare frames_, then solves. For host frames the result is complete when this
  /// returns.
  template <class Prepare>
  const Result& solve(ReplayKey key, bool on_host, const Start* start, Result* output, Prepare prepare) {
    if (on_host)
      for (int i = 0; i < slots_; ++i) frames_[std::size_t(i)] = on_backend(frames_[std::size_t(i)], i);
    const Delivery delivery = results_.delivery_to(output, on_host, solver_.starts_from_last());
    replay(key, delivery, true, [&] {
      prepare();
      solver_.solve(0, start, delivery.solved);
    });
    deliver(delivery, on_host);
    return delivery.output;
  }

  /// Replays steps, and then the copies on the backend if there is a result to copy.
  template <class Steps>
  void replay(ReplayKey key, const Delivery& delivery, bool has_result, Steps steps) {
    const PlaneCopies copies = has_result ? results_.copies_of(delivery) : PlaneCopies{};
    key.copies = copies.count > 0;
    backend_.replay(key, [&] {
      steps();
      if (copies.count) copy_planes(backend_, copies);
    });
  }

  /// Downloads a result of host frames and waits for it. Does nothing for device frames.
  void deliver(const Delivery& delivery, bool on_host) {
    if (!on_host) return;
    results_.download(delivery, Queue::solves);
    synchronize();
  }

  /// Throws if the session is cancelled or the output is invalid.
  void check_call(const Result* output, bool on_host) const {
    fail_if_cancelled(cancelled_);
    if (!output) return;
    const Memory expected = on_host ? Memory::host() : backend_.memory();
    const auto check = [&]<class T>(const Image<T>& plane) {
      if (plane) check_output(plane.size(), plane.memory(), plane.view().pitch, sizeof(T), size_, expected);
    };
    std::apply(
        [&](const auto&... plane) {
          if (!(bool(plane) || ...))
            fail(ErrorCode::invalid_argument,
                 "the output has no planes to write into; new_result() makes a field with planes");
          (check(plane), ...);
        },
        output->planes());
    const FieldPlanes has = results_.planes();
    const auto check_asked = [](const auto& plane, bool solved, const char* name) {
      if (plane && !solved)
        fail(ErrorCode::invalid_argument, "the output has a ", name,
             ", but the estimator's options leave it out");
    };
    check_asked(output->valid, has.valid, "valid plane");
    check_asked(output->confidence, has.confidence, "confidence");
    if constexpr (requires { output->covariance; })
      check_asked(output->covariance, has.covariance, "covariance");
    if constexpr (requires { output->sigma; }) check_asked(output->sigma, has.covariance, "sigma");
    if constexpr (requires { output->cause; }) {
      check_asked(output->outlier, has.outlier, "plane of outliers");
      check_asked(output->outlier3, has.outlier, "plane of outliers");
      check_asked(output->cause, has.cause, "cause");
    }
  }

  /// Uploads a host frame into the staging memory of a slot, if the backend cannot read it where it is.
  Frame on_backend(const Frame& frame, int slot, Queue queue = Queue::solves) {
    if constexpr (Backend::is_gpu) return staged(backend_, frame, staging_[std::size_t(slot)], queue);
    return frame;
  }

  const int slots_;
  const Size size_;
  const Device device_;
  std::atomic<bool> cancelled_ = false;
  Backend backend_;
  SessionResults<Task, Backend> results_;
  Workspace workspace_;
  Solver solver_;
  std::vector<Frame> frames_;  // frames of the current solve, one for each slot

 private:
  ValueRange range_;         // found in the first frames without a range; {0, 0} = there were none
  PixelFormat format_ = {};  // of these frames
  static KnownMotion known_motion_of(const Input& input) {
    if constexpr (requires { input.tracks; }) return {input.tracks, input.rotation};
    return {};
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
    copy_plane(backend_, from.u, to.u.view(), Queue::solves);
    copy_plane(backend_, from.v, to.v.view(), Queue::solves);
  }
  void copy_start(const DisparityView& from, DisparityField& to) {
    copy_plane(backend_, from.d, to.d.view(), Queue::solves);
  }
  void copy_start(const MotionMaskView& from, MotionMask& to) {
    copy_plane(backend_, from.moving, to.moving.view(), Queue::solves);
  }

  std::vector<FrameBuffer> staging_;  // one for each slot
  Result staged_start_;
  const PendingWork<Backend> pending_work_{backend_};
};

}  // namespace parafield
