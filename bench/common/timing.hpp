// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "measure.hpp"
#include "parafield/parafield.hpp"

/// Timing of calls that are compared.
namespace parafield::bench {

using command::Times;

/// Runs once and returns the milliseconds that it took.
using Call = std::function<double()>;

/// How often each call is timed.
struct Effort {
  int least = 15, most = 400;  ///< bounds
  double seconds = 2;          ///< for each call
};

/// Times the calls in turn, so that other load on the machine affects all of them. In each turn a call runs
/// twice and the second run counts: the first one wakes its threads and lets the threads of the previous call
/// go to sleep. Calls of 100 ms and more run once.
std::vector<Times> time_in_turn(const std::vector<Call>& calls, const Effort& effort);

/// A call that is timed by the clock. `turn` counts up.
Call timed_on_host(const std::function<void(std::size_t turn)>& work);

/// The memory of a device.
inline Memory memory_of(const Device& device) {
  return device.kind == Device::Kind::cuda ? Memory::cuda(device.index) : Memory::host();
}

std::vector<FrameBuffer> copied(const std::vector<FrameBuffer>& frames, Memory memory);

/// A call of use(estimator, inputs, turn), where `turn` counts up. It returns the milliseconds of a use,
/// averaged over `batch` uses, which do not wait for each other. `warm_up` calls come first: they allocate
/// and record graphs.
template <class Task, class Inputs, class Use>
Call estimator_call(const typename Task::Method& method, const Device& device, Size size, Inputs inputs,
                    int warm_up, Use use, int batch = 1) {
  struct State {
    Estimator<Task> estimator;
    Timer timer;
    Inputs inputs;
    std::size_t turn = 0;
  };
  Estimator<Task> estimator(method, size, {.device = device});
  Timer timer(device, estimator.stream());
  const auto state =
      std::make_shared<State>(State{std::move(estimator), std::move(timer), std::move(inputs)});
  const auto call = [state, use, batch] {
    state->timer.start();
    for (int i = 0; i < batch; ++i) use(state->estimator, state->inputs, state->turn++);
    return state->timer.stop() / batch;
  };
  for (int i = 0; i < warm_up; ++i) call();
  return call;
}

/// Call for one pair of a rendered sequence or, with `push`, for one frame of a stream. Frames and result are
/// in the device's memory.
Call flow_call(const FlowMethod& method, const Device& device, const Scene& scene, bool push = false);

/// Call for the next one of several pairs, taken in turn. `frames`: two of each pair. Frames and result are
/// in `memory`.
template <class Task>
Call pair_call(const typename Task::Method& method, const Device& device,
               const std::vector<FrameBuffer>& frames, Memory memory) {
  return estimator_call<Task>(
      method, device, frames.front().size(), copied(frames, memory),
      device.kind == Device::Kind::cuda ? int(frames.size()) : 0,
      [](Estimator<Task>& estimator, const std::vector<FrameBuffer>& own, std::size_t turn) {
        const std::size_t i = 2 * turn % own.size();
        estimator(own[i], own[i + 1]);
      });
}

}  // namespace parafield::bench
