// SPDX-License-Identifier: MIT
#pragma once
#include <utility>

#include "tasks/solver_session.hpp"

namespace parafield {

/// A session that also takes the frames of a sequence, one by one. If it is pipelined, the next frame is
/// uploaded and the previous result downloaded while the device solves. Three queues then run concurrently,
/// and the backend's marks order their work.
template <class Task, class Backend, class Solver>
class FrameSession final : public SolverSession<Task, Backend, Solver> {
  using Base = SolverSession<Task, Backend, Solver>;
  using Base::backend_, Base::results_, Base::solver_, Base::slots_;
  using typename Base::Delivery, typename Base::Start;

 public:
  using Result = typename Task::Result;

  template <class Method>
  FrameSession(const Method& method, Size size, const Device& device, const typename Task::Options& options)
      : Base(method, size, device, options), pipelined_(options.pipelined) {}

  const Result* push(const Frame& user_frame, Result* output) override {
    Frame frame = checked(user_frame, "the frame", this->size_, this->device_);
    const bool on_host = frame.memory.on_host();
    this->check_call(output, on_host);
    const auto active = backend_.activate();
    check_pending();
    this->give_ranges({&frame, 1});
    solver_.take({}, on_host);
    solver_.check_frame(frame);
    const int slot = int(pushed_ % slots_), oldest = (slot + 1) % slots_;
    if (on_host) frame = pipelined_ ? uploaded(frame, slot) : this->on_backend(frame, slot);
    const bool complete = pushed_ + 1 >= slots_;
    const bool warm = pushed_ >= slots_ && solver_.starts_from_last();
    const bool starts_from_last = solver_.starts_from_last();
    const Delivery delivery = pipelined_
                                  ? results_.pipelined_delivery_to(output, on_host, starts_from_last, turn_)
                                  : results_.delivery_to(output, on_host, starts_from_last);
    const Start last = delivery.solved;
    if (complete && !warm) solver_.restore();
    this->replay({.entry = ReplayKey::Entry::frame, .slot = slot, .complete = complete, .warm = warm},
                 delivery, complete, [&] {
                   if (complete)
                     solver_.solve_newest(frame, slot, oldest, warm ? &last : nullptr, delivery.solved);
                   else
                     solver_.prepare(&frame, slot, 1);
                 });
    ++pushed_;
    if (pipelined_) return exchange_pending(delivery, complete, on_host, slot);
    if (complete)
      this->deliver(delivery, on_host);
    else if (on_host)
      backend_.synchronize();  // the user may change the frame after this call
    return complete ? &delivery.output : nullptr;
  }

  const Result* finish() override {
    const auto active = backend_.activate();
    check_pending();
    return completed(std::exchange(pending_, {}));
  }

 private:
  /// The result of a pipelined push that has not been returned yet.
  struct Pending {
    Result* output = nullptr;
    int mark = 0;  ///< the backend's mark after the download
    bool on_host = false;
  };

  // The backend's marks. Each slot has a mark after the last steps that read its staged frame.
  int read_mark(int slot) const { return slot; }
  int uploaded_mark() const { return slots_; }
  int solved_mark() const { return slots_ + 1; }
  int downloaded_mark() const { return slots_ + 2 + turn_; }

  /// Uploads a host frame while the device solves.
  Frame uploaded(const Frame& frame, int slot) {
    if constexpr (Backend::is_gpu) {
      backend_.begin_after(read_mark(slot), Queue::uploads);
      const Frame there = this->on_backend(frame, slot, Queue::uploads);
      backend_.mark(uploaded_mark(), Queue::uploads);
      backend_.begin_after(uploaded_mark(), Queue::solves);
      return there;
    }
    return frame;
  }

  /// Makes the newest result pending. Completes and returns the previously pending result; null if there is
  /// none.
  const Result* exchange_pending(const Delivery& delivery, bool complete, bool on_host, int slot) {
    if (on_host) backend_.mark(read_mark(slot), Queue::solves);
    const Pending before = std::exchange(pending_, {});
    if (complete) {
      pending_ = {&delivery.output, downloaded_mark(), on_host};
      if (on_host) {
        backend_.mark(solved_mark(), Queue::solves);
        backend_.begin_after(solved_mark(), Queue::downloads);
        results_.download(delivery, Queue::downloads);
        backend_.mark(pending_.mark, Queue::downloads);
      }
      turn_ = 1 - turn_;
    }
    if (on_host) backend_.await(uploaded_mark());  // the user may change the frame after this call
    return completed(before);
  }
  /// Throws the error that the pending result's solve has found, and then drops the result. The solver checks
  /// its newest solve, so this comes before the next one.
  void check_pending() {
    const Pending pending = std::exchange(pending_, {});
    if (pending.output && pending.on_host) solver_.check();
    pending_ = pending;
  }
  const Result* completed(const Pending& pending) {
    if (pending.output && pending.on_host) backend_.await(pending.mark);
    return pending.output;
  }

  /// Waits for a pending result, so that its output is no longer written.
  void forget_pushed() override {
    completed(std::exchange(pending_, {}));
    pushed_ = 0;
  }

  const bool pipelined_;
  Pending pending_;
  int turn_ = 0;  // 0 or 1: index of the session's result that the next pipelined push uses
  std::int64_t pushed_ = 0;
};

}  // namespace parafield
