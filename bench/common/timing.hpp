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

/// One pair, again and again; frames and result in the device's memory.
template <class Task>
Call pair_call(const typename Task::Method& method, const Device& device, const FrameBuffer& frame0,
               const FrameBuffer& frame1) {
  struct State {
    Estimator<Task> estimator;
    Timer timer;
    FrameBuffer frame0, frame1;
  };
  Estimator<Task> estimator(method, frame0.size(), device);
  Timer timer(device, estimator.stream());
  const Memory memory = device.kind == Device::Kind::cuda ? Memory::cuda(device.index) : Memory::host();
  const auto state = std::make_shared<State>(
      State{std::move(estimator), std::move(timer), frame0.to(memory), frame1.to(memory)});
  const auto call = [state] {
    state->timer.start();
    state->estimator(state->frame0, state->frame1);
    return state->timer.stop();
  };
  for (int warm_up = 0; warm_up < 2 && !memory.on_host(); ++warm_up) call();  // allocates, records graphs
  return call;
}

}  // namespace parafield::bench
