// SPDX-License-Identifier: MIT
#pragma once
#include <deque>
#include <utility>

#include "core/value_range.hpp"
#include "tasks/frame_examiner.hpp"
#include "tasks/session.hpp"

namespace parafield {

/// Base of sessions with the option examine_frames: they examine frames in host memory and withhold validity
/// from results whose frames are not usable.
template <class Task>
class ExaminedSession : public Session<Task> {
 public:
  using Result = typename Task::Result;

  ExaminedSession(std::unique_ptr<Session<Task>> session, const typename Task::Options& options)
      : session_(std::move(session)), options_(options) {}

  const Result& call(const typename Task::Input& input, Result* output) override {
    const Result& result = session_->call(input, output);  // checks the frames
    forget();
    state_ = FramesState::unknown;
    for (std::size_t i = 1; i < input.frames.size(); ++i)
      state_ = worst(state_, compare(input.frames[i - 1], input.frames[i]));
    return withheld(result);
  }
  void reset() override {
    forget();
    session_->reset();
  }
  void synchronize() override { session_->synchronize(); }
  void cancel() noexcept override { session_->cancel(); }
  std::vector<double> energies() override { return session_->energies(); }
  LearnedBackground background() override { return session_->background(); }
  SolvedBlocks blocks() const override { return session_->blocks(); }
  Stream stream() const override { return session_->stream(); }
  std::size_t workspace_bytes() const override { return session_->workspace_bytes(); }
  const typename Task::Method* found() const override { return session_->found(); }
  ValueRange range() const override { return session_->range(); }
  FramesState frames_state() const override { return state_; }

 protected:
  virtual void forget() { examiner_.forget(); }  ///< the next frame is the first of a sequence

  FramesState compare(const Frame& before, const Frame& after) {
    if (!before.memory.on_host()) return FramesState::unknown;
    return relevant<Task>(examiner_.compare(as_solved(before), as_solved(after)));
  }
  /// The frame with its pitch, and with the range that the session found for frames that name none.
  Frame as_solved(Frame frame) const {
    frame.pitch = pitch_of(frame);
    if (lacks_range(frame)) frame.range = session_->range();
    return frame;
  }
  /// Results are this session's own, or a field of the caller that the session may write.
  const Result& withheld(const Result& result) const {
    withhold<Task>(const_cast<Result&>(result), state_, options_);
    return result;
  }

  const std::unique_ptr<Session<Task>> session_;
  FrameExaminer examiner_;
  FramesState state_ = FramesState::unknown;  // of the last result that was returned

 private:
  const typename Task::Options options_;
};

/// Also examines pushed frames. At a cut, a method of two frames starts anew.
template <class Task>
class ExaminedFrames final : public ExaminedSession<Task> {
  using Base = ExaminedSession<Task>;
  using Base::session_, Base::examiner_, Base::state_, Base::withheld;

 public:
  using Result = typename Task::Result;

  /// `frames`: number that the method takes.
  ExaminedFrames(std::unique_ptr<Session<Task>> session, const typename Task::Options& options, int frames)
      : Base(std::move(session), options), frames_(frames), pipelined_(options.pipelined) {}

  const Result* push(const Frame& frame, Result* output) override {
    const Result* result = session_->push(frame, output);
    FramesState pair = FramesState::unknown;
    if (frame.memory.on_host())
      pair = relevant<Task>(examiner_.next(Base::as_solved(frame)));
    else
      examiner_.forget();
    pairs_.push_back(pair);
    while (int(pairs_.size()) >= frames_) pairs_.pop_front();
    FramesState own = FramesState::unknown;
    for (const FramesState each : pairs_) own = worst(own, each);
    const Pending before = std::exchange(pending_, {nullptr, own});
    if (before.complete) result = before.complete;
    state_ = pipelined_ ? before.state : own;
    if (pair == FramesState::cut && frames_ == 2) {
      // The method has learned the old scene. The cut's own result is completed first.
      if (pipelined_) pending_.complete = session_->finish();
      session_->reset();
      session_->push(frame, nullptr);
    }
    return result ? &withheld(*result) : nullptr;
  }
  const Result* finish() override {
    const Pending last = std::exchange(pending_, {});
    const Result* const result = last.complete ? last.complete : session_->finish();
    state_ = last.state;
    return result ? &withheld(*result) : nullptr;
  }

 private:
  /// The result that a pipelined session has not returned yet.
  struct Pending {
    const Result* complete = nullptr;  ///< if set, the inner session has returned it
    FramesState state = FramesState::unknown;
  };

  void forget() override {
    Base::forget();
    pairs_.clear();
    pending_ = {};
  }

  const int frames_;
  const bool pipelined_;
  std::deque<FramesState> pairs_;  // of the newest frames, oldest first
  Pending pending_;
};

/// Also examines pushed pairs.
template <class Task>
class ExaminedPairs final : public ExaminedSession<Task> {
  using Base = ExaminedSession<Task>;

 public:
  using Base::Base;
  using Result = typename Task::Result;

  const Result& push(const Frame& left, const Frame& right, Result* output) override {
    const Result& result = Base::session_->push(left, right, output);
    Base::state_ = Base::compare(left, right);
    return Base::withheld(result);
  }
  const PairFindings& examine(const Frame& left, const Frame& right) override {
    return Base::session_->examine(left, right);
  }
};

/// Returns the session, or with the option examine_frames a session that examines the frames for it.
template <class Task>
std::unique_ptr<Session<Task>> examined(std::unique_ptr<Session<Task>> session,
                                        const typename Task::Method& method,
                                        const typename Task::Options& options) {
  if (!options.examine_frames) return session;
  if constexpr (Task::streams) {
    const int frames = std::visit([](const auto& chosen) { return int(chosen.frames); }, method);
    return std::make_unique<ExaminedFrames<Task>>(std::move(session), options, frames);
  } else {
    return std::make_unique<ExaminedPairs<Task>>(std::move(session), options);
  }
}

}  // namespace parafield
