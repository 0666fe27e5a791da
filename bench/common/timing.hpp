// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "parafield/parafield.hpp"

/// Timing of calls that are compared.
namespace parafield::bench {

/// Runs once and returns the milliseconds that it took.
using Call = std::function<double()>;

/// How often each call is timed.
struct Effort {
  int least = 15, most = 400;  ///< bounds
  double seconds = 2;          ///< for each call
};

struct Times {
  double median = 0, min = 0;  ///< milliseconds
  int repeats = 0;
};

/// Times the calls in turn, so that other load on the machine meets all alike. In each turn a call runs twice
/// and the second run counts: the first one wakes its threads and lets those of the call before go to sleep.
/// Calls of 100 ms and more run once.
std::vector<Times> time_in_turn(const std::vector<Call>& calls, const Effort& effort);

/// Call for one pair of a rendered sequence or, with `push`, for one frame of a stream. Frames and result lie
/// in the device's memory.
Call flow_call(const FlowMethod& method, const Device& device, const Scene& scene, bool push = false);

/// Call for the next one of several pairs, taken in turn. `frames`: two of each pair. Frames and result lie
/// in `memory`.
template <class Task>
Call pair_call(const typename Task::Method& method, const Device& device, std::vector<FrameBuffer> frames,
               Memory memory) {
  struct State {
    Estimator<Task> estimator;
    Timer timer;
    std::vector<FrameBuffer> frames;
    std::size_t next = 0;
  };
  for (FrameBuffer& frame : frames)
    if (!(frame.frame().memory == memory)) frame = frame.to(memory);
  Estimator<Task> estimator(method, frames.front().size(), {.device = device});
  Timer timer(device, estimator.stream());
  const auto state =
      std::make_shared<State>(State{std::move(estimator), std::move(timer), std::move(frames)});
  const auto call = [state] {
    const std::size_t i = state->next;
    state->next = (i + 2) % state->frames.size();
    state->timer.start();
    state->estimator(state->frames[i], state->frames[i + 1]);
    return state->timer.stop();
  };
  const int warm_up = device.kind == Device::Kind::cuda ? int(state->frames.size()) : 0;
  for (int i = 0; i < warm_up; ++i) call();  // allocates, records graphs
  return call;
}

/// The memory of a device.
inline Memory memory_of(const Device& device) {
  return device.kind == Device::Kind::cuda ? Memory::cuda(device.index) : Memory::host();
}

/// Call for one pair, the same each time. Frames and result lie in the device's memory.
template <class Task>
Call pair_call(const typename Task::Method& method, const Device& device, const FrameBuffer& frame0,
               const FrameBuffer& frame1) {
  std::vector<FrameBuffer> frames;
  for (const FrameBuffer* frame : {&frame0, &frame1}) frames.push_back(frame->to(memory_of(device)));
  return pair_call<Task>(method, device, std::move(frames), memory_of(device));
}

}  // namespace parafield::bench
