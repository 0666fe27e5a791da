// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <exception>
#include <numeric>
#include <thread>

#include "bench/energy.hpp"
#include "bench/sequences.hpp"
#include "measure.hpp"
#include "options.hpp"
#include "parameters.hpp"

/// Measurements of `parafield bench`: one method on one device at one size.
namespace parafield::command {

template <class Task>
struct Case {
  typename Task::Method method;
  std::string preset;
  DeviceInfo device;
  Size size;
  bool flow_alone = false;  ///< results without the valid and confidence planes

  typename Task::Options options() const {
    typename Task::Options options;
    options.device = device.device;
    if constexpr (std::is_same_v<Task, Flow>) options.valid = options.confidence = !flow_alone;
    return options;
  }
};

/// The least memory traffic of a frame: the gray 8-bit frames that a call or a push reads, and the planes of
/// its result.
struct Traffic {
  std::size_t resident = 0, streaming = 0;  ///< bytes
};

struct Measurement {
  Times resident;                   ///< one call; frames and result in the device's memory
  Times streaming;                  ///< one push of a frame or pair; data in the device's memory
  Times end_to_end;                 ///< one call; frames and result in host memory (pinned, for a GPU)
  std::optional<Times> overlapped;  ///< one push to a pipelined estimator; data in host memory
  BenchScores scene, data;          ///< data is empty if the method has no real sequence
  std::size_t workspace_bytes = 0;
  int disparities = 0;                      ///< stereo: number found by the method; 0 = it was given
  std::optional<double> frames_per_second;  ///< sum over the streams of --streams
  std::optional<Energy> energy;             ///< energy of pushes, if a meter is available
};

struct BenchEffort {
  Repeats repeats;
  int streams = 0;
  const EnergyMeter* meter = nullptr;
};

template <class Task>
Traffic traffic_of(const Case<Task>& one) {
  const typename Task::Result result;
  const auto sizes = std::apply(
      [](const auto&... plane) {
        return std::array{sizeof(typename std::remove_cvref_t<decltype(plane)>::Value)...};
      },
      result.planes());
  const auto wanted = Task::Result::wanted({.valid = !one.flow_alone, .confidence = !one.flow_alone});
  const std::size_t of_pixel =
      std::inner_product(sizes.begin(), sizes.end(), wanted.begin(), std::size_t(0));
  const std::size_t pixels = std::size_t(one.size.width) * std::size_t(one.size.height);
  return {pixels * (frames_of_call<Task>(one.method) + of_pixel), pixels * (frames_of_step<Task> + of_pixel)};
}

/// Returns element i of the sequence 0 1 2 3 2 1 0 1 ..., whose neighbors are neighbors in the scene, too.
inline std::size_t there_and_back(std::size_t i, std::size_t count) {
  if (count < 2) return 0;
  const std::size_t period = 2 * (count - 1), phase = i % period;
  return phase < count ? phase : period - phase;
}

/// Number of untimed calls, which allocate and record.
inline constexpr int warm_up = 3;

/// Pushes the frames or pairs of a sequence, forward and then backward.
template <class Task>
class Pusher {
 public:
  Pusher(Estimator<Task>& estimator, const std::vector<FrameBuffer>& frames, std::size_t first = 0)
      : estimator_(estimator), frames_(frames), next_(first) {
    estimator.reset();
    // Fills each slot of the ring more than once.
    const int count = warm_up * int(frames_of_call<Task>(estimator.method()));
    for (int i = 0; i < count; ++i) push();
  }
  void push() {
    constexpr std::size_t step = frames_of_step<Task>;
    const std::size_t i = step * there_and_back(next_++, frames_.size() / step);
    if constexpr (Task::pairs)
      estimator_.push(frames_[i], frames_[i + 1]);
    else
      estimator_.push(frames_[i]);
  }

 private:
  Estimator<Task>& estimator_;
  const std::vector<FrameBuffer>& frames_;
  std::size_t next_;
};

template <class Task>
Times measure_calls(Estimator<Task>& estimator, const std::vector<FrameBuffer>& frames, Timer& timer,
                    const Repeats& repeats) {
  const std::size_t count = frames_of_call<Task>(estimator.method());
  std::vector<std::vector<Frame>> inputs;
  for (std::size_t first = 0; first + count <= frames.size(); first += frames_of_step<Task>)
    inputs.emplace_back(frames.begin() + std::ptrdiff_t(first),
                        frames.begin() + std::ptrdiff_t(first + count));
  const auto call = [&](int i) { estimator({inputs[std::size_t(i) % inputs.size()]}); };
  for (int i = 0; i < warm_up; ++i) call(i);
  return measure(repeats, timer, call);
}

template <class Task>
Times measure_stream(Estimator<Task>& estimator, const std::vector<FrameBuffer>& frames, Timer& timer,
                     const Repeats& repeats) {
  Pusher<Task> pusher(estimator, frames);
  return measure(repeats, timer, [&](int) { pusher.push(); });
}

/// Times pushes of one frame to a pipelined estimator. Pairs are not pipelined.
template <class Task>
std::optional<Times> measure_overlapped(const Case<Task>& one, const std::vector<FrameBuffer>& frames,
                                        Timer& timer, const Repeats& repeats) {
  if constexpr (Task::streams) {
    typename Task::Options options = one.options();
    options.pipelined = true;
    Estimator<Task> estimator(one.method, one.size, options);
    return measure_stream<Task>(estimator, frames, timer, repeats);
  }
  return {};
}

/// Returns the total frames per second of several concurrent estimators, each with a thread that pushes
/// frames.
template <class Task>
double frames_per_second(const Case<Task>& one, const std::vector<FrameBuffer>& frames, int streams) {
  constexpr double seconds = 2;
  constexpr int ahead = 8;  // number of frames that a thread may run ahead of the device
  std::atomic<int> ready = 0;
  std::atomic<bool> begun = false, ended = false;
  std::vector<long> pushed(std::size_t(streams), 0);
  std::vector<std::exception_ptr> failures(std::size_t(streams), nullptr);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < pushed.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        typename Task::Options own = one.options();
        own.throughput = true;
        Estimator<Task> estimator(one.method, one.size, own);
        Pusher<Task> pusher(estimator, frames, i);
        estimator.synchronize();
        ++ready;
        while (!begun) std::this_thread::yield();
        for (; !ended; ++pushed[i]) {
          pusher.push();
          if (pushed[i] % ahead == 0) estimator.synchronize();
        }
        estimator.synchronize();
      } catch (...) {
        failures[i] = std::current_exception();
        ++ready;
      }
    });
  while (ready < streams) std::this_thread::yield();
  Timer timer(Device::cpu());
  timer.start();
  begun = true;
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  ended = true;
  for (std::thread& thread : threads) thread.join();
  const double elapsed = timer.stop() / 1000;
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
  return double(std::accumulate(pushed.begin(), pushed.end(), 0L)) / elapsed;
}

template <class Task>
std::optional<Energy> energy_of_pushes(Estimator<Task>& estimator, const std::vector<FrameBuffer>& frames,
                                       const EnergyMeter& meter, double milliseconds) {
  constexpr double seconds = 1;
  const int some =
      std::clamp(int(10 / milliseconds), 1, 8);  // several, so that the device is not idle between frames
  Pusher<Task> pusher(estimator, frames);
  return measure_energy(meter, seconds, [&]() -> long {
    for (int i = 0; i < some; ++i) pusher.push();
    estimator.synchronize();
    return some;
  });
}

/// Returns the number of disparities that the method currently uses.
template <class Task>
int disparities_of(const Estimator<Task>& estimator) {
  for (const ParameterValue& parameter : parameters_of(estimator.method()))
    if (parameter.name == "disparities") return std::get<int>(parameter.value);
  return 0;
}

template <class Task>
Measurement measure_case(const Case<Task>& one, const BenchSequence<Task>& scene,
                         const BenchSequence<Task>* data, const BenchEffort& effort) {
  const Device& device = one.device.device;
  const auto resident = copied(scene.frames, memory_of(device));
  const Memory host_memory = device.kind == Device::Kind::cuda ? Memory::pinned() : Memory::host();
  const auto host = copied(scene.frames, host_memory);
  const Repeats& repeats = effort.repeats;

  Measurement measured;
  Estimator<Task> estimator(one.method, one.size, one.options());
  Timer device_timer(device, estimator.stream());
  Timer wall_timer(Device::cpu());
  measured.resident = measure_calls<Task>(estimator, resident, device_timer, repeats);
  measured.streaming = measure_stream<Task>(estimator, resident, device_timer, repeats);
  measured.workspace_bytes = estimator.workspace_bytes();
  if (effort.meter && *effort.meter)
    measured.energy = energy_of_pushes<Task>(estimator, resident, *effort.meter, measured.streaming.median);
  // With host frames, the call returns once the result is in host memory.
  measured.end_to_end = measure_calls<Task>(estimator, host, wall_timer, repeats);
  measured.overlapped = measure_overlapped<Task>(one, host, wall_timer, repeats);
  measured.scene = score_sequence(estimator, scene);
  measured.disparities = disparities_of(estimator);
  if (effort.streams > 0) measured.frames_per_second = frames_per_second<Task>(one, resident, effort.streams);
  if (data && frames_of_call<Task>(one.method) <= data->frames.size()) {
    typename Task::Options options;
    options.device = device;
    Estimator<Task> of_data(one.method, data->frames.front().size(), options);  // the size may differ
    measured.data = score_sequence(of_data, *data);
  }
  return measured;
}

}  // namespace parafield::command
