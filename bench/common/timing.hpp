#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "parafield/parafield.hpp"

/// Repeated timing of things that are compared.
namespace parafield::bench {

/// Runs once and returns its milliseconds.
using Call = std::function<double()>;

/// How often each call is timed: as often as fits in `seconds`, within the bounds.
struct Effort {
  int least = 15, most = 400;
  double seconds = 2;
};

struct Times {
  double median = 0, min = 0;  ///< milliseconds
  int repeats = 0;
};

/// Times the calls in turn, so that what else the machine does meets all alike. In each turn a call runs
/// twice and the second run counts: the first wakes its threads and puts those of the one before to sleep.
std::vector<Times> time_in_turn(const std::vector<Call>& calls, const Effort& effort);

/// One pair (or, with `push`, one frame of a stream) of a rendered sequence; frames and result in the
/// device's memory.
Call flow_call(const FlowMethod& method, const Device& device, const Scene& scene, bool push = false);

/// Pairs one after the other, again and again: `frames` are two of each. They and the result are in `memory`.
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

/// One pair, again and again; frames and result in the device's memory.
template <class Task>
Call pair_call(const typename Task::Method& method, const Device& device, const FrameBuffer& frame0,
               const FrameBuffer& frame1) {
  std::vector<FrameBuffer> frames;
  for (const FrameBuffer* frame : {&frame0, &frame1}) frames.push_back(frame->to(memory_of(device)));
  return pair_call<Task>(method, device, std::move(frames), memory_of(device));
}

}  // namespace parafield::bench
