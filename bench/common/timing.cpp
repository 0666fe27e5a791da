// SPDX-License-Identifier: MIT
#include "common/timing.hpp"

#include <algorithm>
#include <chrono>

namespace parafield::bench {

/// Milliseconds from which waking threads is too little to matter.
constexpr double long_call = 100;

std::vector<Times> time_in_turn(const std::vector<Call>& calls, const Effort& effort) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto enough = [&](int turns) {
    const double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
    return turns >= effort.most ||
           (turns >= effort.least && elapsed >= effort.seconds * double(calls.size()));
  };
  std::vector<std::vector<double>> times(calls.size());
  for (int turn = 0; !enough(turn); ++turn)
    for (std::size_t i = 0; i < calls.size(); ++i) {
      double ms = calls[i]();
      if (ms < long_call) ms = calls[i]();
      times[i].push_back(ms);
    }
  std::vector<Times> result;
  for (std::vector<double>& list : times) {
    std::ranges::sort(list);
    const std::size_t half = list.size() / 2;
    const double median = list.size() % 2 ? list[half] : (list[half - 1] + list[half]) / 2;
    result.push_back({median, list.front(), int(list.size())});
  }
  return result;
}

Call flow_call(const FlowMethod& method, const Device& device, const Scene& scene, bool push) {
  struct State {
    FlowEstimator estimator;
    Timer timer;
    std::vector<FrameBuffer> frames;
    std::size_t next = 0;
  };
  FlowEstimator estimator(method, scene.frames.front().size(), {.device = device});
  Timer timer(device, estimator.stream());
  const auto state = std::make_shared<State>(State{std::move(estimator), std::move(timer), {}});
  for (const FrameBuffer& frame : scene.frames) state->frames.push_back(frame.to(memory_of(device)));

  const auto call = [state, push] {
    // Frames are taken there and back, so that each is a neighbor of the one before.
    const std::size_t count = state->frames.size(), period = 2 * (count - 1);
    const std::size_t phase = state->next++ % period;
    const auto nth = [&](std::size_t i) -> const FrameBuffer& {
      return state->frames[i < count ? i : period - i];
    };
    state->timer.start();
    if (push)
      state->estimator.push(nth(phase));
    else
      state->estimator(nth(phase), nth(phase + 1));
    return state->timer.stop();
  };
  for (int warm_up = 0; warm_up < 6; ++warm_up) call();  // allocates, and records graphs
  return call;
}

}  // namespace parafield::bench
