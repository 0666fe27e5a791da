// SPDX-License-Identifier: MIT
#include <atomic>
#include <chrono>
#include <exception>
#include <numeric>
#include <thread>

#include "bench.hpp"
#include "options.hpp"

namespace parafield::command {
namespace {

std::vector<FrameBuffer> copies(const std::vector<FrameBuffer>& frames, Memory memory) {
  std::vector<FrameBuffer> there;
  for (const FrameBuffer& frame : frames) there.push_back(frame.to(memory));
  return there;
}

/// Index i of the sequence 0 1 2 3 2 1 0 1 ...: neighbors in it are neighbors in the scene.
std::size_t there_and_back(int i, std::size_t count) {
  const std::size_t period = 2 * (count - 1), phase = std::size_t(i) % period;
  return phase < count ? phase : period - phase;
}

/// Calls that are not timed, because they allocate and record.
constexpr int warm_up = 3;

/// All inputs of the method: as many successive frames as it takes.
std::vector<std::vector<Frame>> windows(const std::vector<FrameBuffer>& frames, const FlowMethod& method) {
  const auto count = std::size_t(frames_of(method));
  std::vector<std::vector<Frame>> list;
  for (std::size_t first = 0; first + count <= frames.size(); ++first)
    list.emplace_back(frames.begin() + std::ptrdiff_t(first), frames.begin() + std::ptrdiff_t(first + count));
  return list;
}

Times measure_calls(FlowEstimator& estimator, const std::vector<FrameBuffer>& frames, Timer& timer,
                    const Repeats& repeats) {
  const auto inputs = windows(frames, estimator.method());
  const auto call = [&](int i) { estimator({inputs[std::size_t(i) % inputs.size()]}); };
  for (int i = 0; i < warm_up; ++i) call(i);
  return measure(repeats, timer, call);
}

Times measure_stream(FlowEstimator& estimator, const std::vector<FrameBuffer>& frames, Timer& timer,
                     const Repeats& repeats) {
  int next = 0;
  const auto push = [&](int) { estimator.push(frames[there_and_back(next++, frames.size())]); };
  estimator.reset();
  // Fills each slot of the ring more than once.
  for (int i = 0; i < warm_up * frames_of(estimator.method()); ++i) push(i);
  return measure(repeats, timer, push);
}

/// One frame pushed ahead. `Result`: the user's, written in turn.
template <class Result>
Times measure_ahead(FlowEstimator& estimator, const std::vector<FrameBuffer>& frames, Memory memory,
                    Timer& timer, const Repeats& repeats) {
  Result results[2] = {Result(estimator.size(), memory, false, false),
                       Result(estimator.size(), memory, false, false)};
  int next = 0;
  const auto push = [&](int) {
    const Frame frame = frames[there_and_back(next, frames.size())];
    estimator.push_ahead(frame, results[next++ % 2]);
  };
  estimator.reset();
  for (int i = 0; i < warm_up * frames_of(estimator.method()); ++i) push(i);
  const Times times = measure(repeats, timer, push);
  estimator.finish();
  return times;
}
/// The same; results are the estimator's.
Times measure_ahead(FlowEstimator& estimator, const std::vector<FrameBuffer>& frames, Timer& timer,
                    const Repeats& repeats) {
  int next = 0;
  const auto push = [&](int) { estimator.push_ahead(frames[there_and_back(next++, frames.size())]); };
  estimator.reset();
  for (int i = 0; i < warm_up * frames_of(estimator.method()); ++i) push(i);
  const Times times = measure(repeats, timer, push);
  estimator.finish();
  return times;
}

/// Frames a second of several estimators at once. Each has a thread of its own, which pushes frames.
double frames_per_second(const Case& one, const std::vector<FrameBuffer>& frames, int streams) {
  constexpr double seconds = 2;
  constexpr int ahead = 8;  // frames that a thread may be ahead of the device
  std::atomic<int> ready = 0;
  std::atomic<bool> begun = false, ended = false;
  std::vector<long> pushed(std::size_t(streams), 0);
  std::vector<std::exception_ptr> failures(std::size_t(streams), nullptr);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < pushed.size(); ++i)
    threads.emplace_back([&, i] {
      try {
        FlowEstimator estimator(one.method, one.size, one.options());
        int next = int(i);
        const auto push = [&] { estimator.push(frames[there_and_back(next++, frames.size())]); };
        for (int j = 0; j < warm_up * frames_of(one.method); ++j) push();
        estimator.synchronize();
        ++ready;
        while (!begun) std::this_thread::yield();
        for (; !ended; ++pushed[i]) {
          push();
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

}  // namespace

BenchPair read_yosemite(const std::string& folder) {
  const std::filesystem::path pair = std::filesystem::path(folder) / "yosemite" / "noclouds";
  return {"yosemite noclouds yos08-09", read_frame(pair / "yos08.png"), read_frame(pair / "yos09.png"),
          read_flow(pair / "yos08_nosky.flo")};
}

Measurement measure_case(const Case& one, const Scene& scene, const BenchPair* data, const Repeats& repeats,
                         int streams) {
  const Device& device = one.device.device;
  const auto resident = copies(scene.frames, memory_of(device));
  const Memory host_memory = device.kind == Device::Kind::cuda ? Memory::pinned() : Memory::host();
  const auto host = copies(scene.frames, host_memory);

  Measurement measured;
  FlowEstimator estimator(one.method, one.size, one.options());
  Timer device_timer(device, estimator.stream());
  Timer wall_timer(Device::cpu());
  measured.resident = measure_calls(estimator, resident, device_timer, repeats);
  measured.streaming = measure_stream(estimator, resident, device_timer, repeats);
  measured.workspace_bytes = estimator.workspace_bytes();
  // With host frames the call returns when the result is in host memory.
  measured.end_to_end = measure_calls(estimator, host, wall_timer, repeats);
  measured.overlapped = one.planes == ResultPlanes::halves
                            ? measure_ahead<HalfFlowField>(estimator, host, host_memory, wall_timer, repeats)
                            : measure_ahead(estimator, host, wall_timer, repeats);

  const auto inputs = windows(host, one.method);
  const std::size_t middle = std::size_t(frames_of(one.method) - 1) / 2;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    measured.scene_aae +=
        evaluate(estimator({inputs[i]}), scene.flow[i + middle]).aae / double(inputs.size());
  if (streams > 0) measured.frames_per_second = frames_per_second(one, resident, streams);
  if (data && frames_of(one.method) == 2) {
    FlowEstimator of_data(one.method, data->truth.size(), {.device = device});  // it may have another size
    measured.data_aae = evaluate(of_data(data->frame0, data->frame1), data->truth).aae;
  }
  return measured;
}

}  // namespace parafield::command
