// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <utility>

#include "tasks/solver_session.hpp"

namespace parafield {

/// A session that also takes the pairs of a stereo video.
template <class Task, class Backend, class Solver>
class PairSession final : public SolverSession<Task, Backend, Solver> {
  using Base = SolverSession<Task, Backend, Solver>;
  using Base::solver_, Base::frames_;

 public:
  using Result = typename Task::Result;
  using Base::Base;

  const Result& push(const Frame& left, const Frame& right, Result* output) override {
    const bool on_host = this->check_frames(std::array<Frame, 2>{left, right});
    this->check_call(output, on_host);
    const auto active = this->backend_.activate();
    solver_.take({}, on_host);
    const bool follows =
        std::exchange(follows_, false) && solver_.averages();  // stays false if this pair fails
    const Result& result =
        this->solve({.entry = ReplayKey::Entry::pair, .follows = follows}, on_host, nullptr, output,
                    [&] { solver_.prepare_next(frames_.data(), follows); });
    follows_ = true;
    return result;
  }

 private:
  void forget_pushed() override { follows_ = false; }

  bool follows_ = false;  // whether the last solve was for a pushed pair
};

}  // namespace parafield
