// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <atomic>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/solver.hpp"
#include "core/views.hpp"
#include "tasks/session_results.hpp"

namespace parafield {

/// Brings frames to a solver and its result back, on one backend. The solver keeps prepared frames in slots,
/// one for each frame that the method takes.
template <class Task, class Backend, class Solver>
class SolverSession final : public Session<Task> {
 public:
  using Result = typename Task::Result;
  using Way = typename SessionResults<Task, Backend>::Way;
  using Start = typename decltype(Task::Input::start)::value_type;
  static_assert(Solves<Solver, const Start*, Result&>);

  template <class Method>
  SolverSession(const Method& method, Size size, const Device& device, const typename Task::Options& options)
      : slots_(method.frames),
        size_(size),
        device_(device),
        backend_(device, options.stream),
        results_(backend_, size, planes_of(options)),
        workspace_(backend_.memory()),
        solver_(backend_, workspace_, method, size, options),
        frames_(std::size_t(slots_)),
        staging_(std::size_t(slots_)) {
    backend_.cancelled_by(cancelled_);
  }

  /// Waits for the work that the backend still has: it uses the memory that goes now.
  ~SolverSession() override {
    try {
      if constexpr (Backend::is_gpu) backend_.synchronize();
    } catch (const std::exception&) {  // the device failed, and its work ended with it
    }
  }

  const Result* call(const typename Task::Input& input, Output<Task> output) override {
    return solve(input, output, false);
  }

  const Result* push_pair(const Frame& first, const Frame& second, Output<Task> output) override {
    const std::array<Frame, 2> pair = {first, second};
    typename Task::Input input;
    input.frames = pair;
    return solve(input, output, true);
  }

  Output<Task> push(const Frame& frame, Output<Task> output) override { return take(frame, output, false); }
  Output<Task> push_ahead(const Frame& frame, Output<Task> output) override {
    return take(frame, output, true);
  }
  Output<Task> finish() override {
    const auto active = backend_.activate();
    return complete(std::exchange(owed_, {}));
  }

  void reset() override {
    const auto active = backend_.activate();
    forget_owed();
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

  /// Solves for the result of frames. `pushes`: they are the next pair of a sequence. Returns the field that it is
  /// in.
  const Result* solve(const typename Task::Input& input, Output<Task> output, bool pushes) {
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
    if (input.start) check_start(*input.start, size_);
    check_call(output, on_host);
    const auto active = backend_.activate();
    forget_owed();
    std::optional<Start> start = input.start;
    if (on_host) {
      for (int i = 0; i < slots_; ++i)
        frames_[std::size_t(i)] = on_backend(frames_[std::size_t(i)], i, Queue::solves);
      if (start) start = on_backend(*start);
    }
    const int kind = solver_.take(known_motion(input), on_host);
    const bool follows = pushes && pushed_ > 0 && solver_.averages();
    const std::int64_t before = std::exchange(pushed_, 0);  // a pair that fails is not followed
    const Way way = results_.way_of(output, on_host, false, solver_.starts_from_last());
    const PlaneCopies copies = results_.copies_of(way);
    backend_.replay(key_of(pushes ? push_keys + follows : call_keys + 2 * kind + start.has_value(), copies),
                    [&] {
                      if (pushes)
                        solver_.prepare_next(frames_.data(), follows);
                      else
                        solver_.prepare(frames_.data(), 0, slots_);
                      solver_.solve(0, start ? &*start : nullptr, way.solved);
                      if (copies.count) copy_planes(backend_, copies);
                    });
    if (pushes) pushed_ = before + 1;
    deliver(way, on_host);
    return way.output.field;
  }

  /// Takes the next frame of a sequence. Returns where its result is, or, if `ahead`, that of the call before.
  Output<Task> take(const Frame& user_frame, Output<Task> output, bool ahead) {
    Frame frame = checked(user_frame, "the frame", size_, device_);
    const bool on_host = frame.memory.on_host();
    check_call(output, on_host);
    const auto active = backend_.activate();
    if (!ahead) forget_owed();
    const int slot = int(pushed_ % slots_), oldest = (slot + 1) % slots_;
    if (on_host) frame = on_backend(frame, slot, ahead ? Queue::uploads : Queue::solves);
    solver_.take({}, on_host);
    const bool is_complete = pushed_ + 1 >= slots_;
    const bool warm = pushed_ >= slots_ && solver_.starts_from_last();
    const Way way = results_.way_of(output, on_host, ahead, solver_.starts_from_last());
    const Start last = way.solved;
    const PlaneCopies copies = is_complete ? results_.copies_of(way) : PlaneCopies{};
    backend_.replay(key_of(push_keys + 3 * slot + (is_complete ? 1 + warm : 0), copies), [&] {
      if (!is_complete)
        solver_.prepare(&frame, slot, 1);
      else if constexpr (Task::streams)
        solver_.solve_newest(frame, slot, oldest, warm ? &last : nullptr, way.solved);
      if (copies.count) copy_planes(backend_, copies);
    });
    ++pushed_;
    if (!ahead) {
      if (is_complete) {
        deliver(way, on_host);
        return way.output;
      }
      if (on_host) backend_.synchronize();  // the user may now change the frame
      return {};
    }
    if (on_host) backend_.mark(read_mark + slot, Queue::solves);
    const Owed before = std::exchange(owed_, {});
    if (is_complete) {
      owed_ = {way.output, sent_mark() + results_.turn(), on_host};
      if (on_host) {
        backend_.mark(solved_mark(), Queue::solves);
        backend_.begin_after(solved_mark(), Queue::downloads);
        results_.send(way, Queue::downloads);
        backend_.mark(owed_.mark, Queue::downloads);
      }
      results_.next_turn();
    }
    if (on_host) backend_.await(uploaded_mark());  // the user may now change the frame
    return complete(before);
  }

  /// A result that a call of push_ahead has begun.
  struct Owed {
    Output<Task> output = {};
    int mark = 0;  ///< of the backend: behind the copies to the host
    bool on_host = false;
  };
  /// Waits for a result, if there is one.
  Output<Task> complete(const Owed& owed) {
    if (!owed.output || !owed.on_host) return owed.output;
    backend_.await(owed.mark);
    solver_.check();
    return owed.output;
  }
  /// Waits for the result that is owed, and forgets it: nothing writes into its output any more.
  void forget_owed() {
    const Owed owed = std::exchange(owed_, {});
    if (owed.output && owed.on_host) backend_.await(owed.mark);
  }
  // Marks of the backend: one for each slot, behind the last steps that read its staged frame; then these.
  static constexpr int read_mark = 0;
  int uploaded_mark() const { return slots_; }
  int solved_mark() const { return slots_ + 1; }
  int sent_mark() const { return slots_ + 2; }  ///< the first of two, for results in turn

  void check_call(Output<Task> output, bool on_host) const {
    fail_if_cancelled(cancelled_);
    const Memory expected = on_host ? Memory::host() : backend_.memory();
    output.visit([&](const auto& field) {
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
          field.planes());
      if constexpr (requires { field.confidence; })
        for (const auto& [asked, has, name] :
             {std::tuple(bool(field.valid), results_.planes().valid, "valid plane"),
              std::tuple(bool(field.confidence), results_.planes().confidence, "confidence")})
          if (asked && !has)
            fail(ErrorCode::invalid_argument, "the output has a ", name,
                 ", but the estimator's options leave it out");
    });
  }

  /// Completes the result of a call. For host frames it is on the host then.
  void deliver(const Way& way, bool on_host) {
    if (!on_host) return;
    results_.send(way, Queue::solves);
    synchronize();
  }

  /// Returns a host frame where the backend can read it.
  Frame on_backend(const Frame& frame, int slot, Queue queue) {
    if constexpr (Backend::is_gpu) {
      FrameBuffer& staging = staging_[std::size_t(slot)];
      if (queue == Queue::solves) return staged(backend_, frame, staging);
      backend_.begin_after(read_mark + slot, queue);
      const Frame there = staged(backend_, frame, staging, queue);
      backend_.mark(uploaded_mark(), queue);
      backend_.begin_after(uploaded_mark(), Queue::solves);
      return there;
    }
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
    copy_plane(backend_, from.u, to.u.view(), Queue::solves);
    copy_plane(backend_, from.v, to.v.view(), Queue::solves);
  }
  void copy_start(const DisparityView& from, DisparityField& to) {
    copy_plane(backend_, from.d, to.d.view(), Queue::solves);
  }
  void copy_start(const MotionMaskView& from, MotionMask& to) {
    copy_plane(backend_, from.moving, to.moving.view(), Queue::solves);
  }

  const int slots_;
  const Size size_;
  const Device device_;
  std::atomic<bool> cancelled_ = false;
  Backend backend_;
  SessionResults<Task, Backend> results_;
  Workspace workspace_;
  Solver solver_;
  std::vector<Frame> frames_;  // the frames of a call, one for each slot
  std::vector<FrameBuffer> staging_;
  Result staged_start_;
  Owed owed_;  // of the last push_ahead
  std::int64_t pushed_ = 0;
};

}  // namespace parafield
