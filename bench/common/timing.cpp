// SPDX-License-Identifier: MIT
#include "common/timing.hpp"

#include <chrono>

namespace parafield::bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double long_call = 100;  // milliseconds from which waking threads is too little to matter

}  // namespace

std::vector<Times> time_in_turn(const std::vector<Call>& calls, const Effort& effort) {
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
  for (std::vector<double>& list : times) result.push_back(command::times_of(std::move(list)));
  return result;
}

Call timed_on_host(const std::function<void(std::size_t turn)>& work) {
  return [work, turn = std::size_t(0)]() mutable {
    const auto begin = Clock::now();
    work(turn++);
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
  };
}

std::vector<FrameBuffer> copied(const std::vector<FrameBuffer>& frames, Memory memory) {
  std::vector<FrameBuffer> there;
  for (const FrameBuffer& frame : frames) there.push_back(frame.to(memory));
  return there;
}

Call flow_call(const FlowMethod& method, const Device& device, const Scene& scene, bool push) {
  return estimator_call<Flow>(
      method, device, scene.frames.front().size(), copied(scene.frames, memory_of(device)), 6,
      [push](FlowEstimator& estimator, const std::vector<FrameBuffer>& frames, std::size_t turn) {
        // Frames are taken there and back, so that each is a neighbor of the previous one.
        const std::size_t count = frames.size(), period = 2 * (count - 1), phase = turn % period;
        const auto nth = [&](std::size_t i) -> const FrameBuffer& {
          return frames[i < count ? i : period - i];
        };
        if (push)
          estimator.push(nth(phase));
        else
          estimator(nth(phase), nth(phase + 1));
      });
}

}  // namespace parafield::bench
