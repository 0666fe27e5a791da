// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <utility>

#include "tasks/solver_session.hpp"
#include "tasks/stereo_session.hpp"

namespace parafield {

/// A session that also takes the pairs of a stereo video.
template <class Task, class Backend, class Solver>
class PairSession final : public SolverSession<Task, Backend, Solver> {
  using Base = SolverSession<Task, Backend, Solver>;
  using Base::solver_, Base::frames_;

 public:
  using Result = typename Task::Result;

  template <class Method>
  PairSession(const Method& method, Size size, const Device& device, const typename Task::Options& options)
      : Base(method, size, device, options), min_disparity_(method.energy.min_disparity) {}

  const Result& push(const Frame& left, const Frame& right, Result* output) override {
    const bool on_host = this->check_frames(std::array<Frame, 2>{left, right});
    this->check_call(output, on_host);
    const auto active = this->backend_.activate();
    this->give_ranges(frames_);
    solver_.take({}, on_host);
    const bool follows =
        std::exchange(follows_, false) && solver_.averages();  // stays false if this pair fails
    const Result& result =
        this->solve({.entry = ReplayKey::Entry::pair, .follows = follows}, on_host, nullptr, output,
                    [&] { solver_.prepare_next(frames_.data(), follows); });
    follows_ = true;
    return result;
  }

  const PairFindings& examine(const Frame& left, const Frame& right) override {
    const Frame pair[] = {checked(left, "left", this->size_, this->device_),
                          checked(right, "right", this->size_, this->device_)};
    this->synchronize();  // frames on the device may still be pending on the stream
    return findings_ = find_disparities(pair[0], pair[1], min_disparity_);
  }

 private:
  void forget_pushed() override { follows_ = false; }

  const int min_disparity_;
  PairFindings findings_;
  bool follows_ = false;  // whether the last solve was for a pushed pair
};

}  // namespace parafield
