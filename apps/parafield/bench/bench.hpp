// SPDX-License-Identifier: MIT
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/energy.hpp"
#include "measure.hpp"
#include "parafield/parafield.hpp"

/// Measurements of `parafield bench`: one method on one device at one size.
namespace parafield::command {

/// Properties of a task that the benchmark needs.
struct TaskFacts {
  std::string_view name;   ///< name in options and JSON
  std::string_view scene;  ///< synthetic scene that all measurements use
  int frames;              ///< length of the scene; consecutive frames differ, as in a stream
};
template <class Task>
constexpr TaskFacts task_facts{"flow", "affine", 7};
template <>
inline constexpr TaskFacts task_facts<Stereo>{"stereo", "stereo", 4};  // two pairs
template <>
inline constexpr TaskFacts task_facts<Detection>{"detection", "square", 16};

/// Frames in one step of a sequence: one, or two for a pair.
template <class Task>
constexpr std::size_t frames_of_step = Task::pairs ? 2 : 1;

/// Number of frames that one call needs.
template <class Task>
std::size_t frames_of_call(const typename Task::Method& method) {
  if constexpr (std::is_same_v<Task, Flow>) return std::size_t(frames_of(method));
  return 2;
}

/// Frames with their ground truth. truth[i] belongs to frames i and i + 1 (flow), to pair i (stereo) or to
/// frame i (detection).
template <class Task>
struct BenchSequence {
  using Truth = std::conditional_t<std::is_same_v<Task, Detection>, FrameBuffer, typename Task::Result>;

  std::string name;
  std::vector<FrameBuffer> frames;
  std::vector<Truth> truth;
  std::uint64_t seed = 0;  ///< seed of a rendered sequence
};

/// Renders the sequence that all measurements of a task use.
template <class Task>
BenchSequence<Task> bench_scene(Size size);
inline constexpr std::uint64_t bench_scene_seed = 1;

/// Reads the real sequence of a task from a data folder. Throws like read_frame.
template <class Task>
BenchSequence<Task> read_bench_data(const std::string& folder);
template <>
BenchSequence<Flow> read_bench_data(const std::string& folder);
template <>
BenchSequence<Stereo> read_bench_data(const std::string& folder);
template <>
BenchSequence<Detection> read_bench_data(const std::string& folder);
/// Returns whether the folder has the task's real sequence.
template <class Task>
bool has_bench_data(const std::string& folder);

/// Names of scores and their values.
using BenchScores = std::vector<std::pair<std::string, double>>;

/// Returns the scores of a method on a sequence: aae_degrees for flow, bad_1 and average_px for stereo, f1
/// for detection. Empty if the sequence has too few frames.
BenchScores score_sequence(FlowEstimator& estimator, const BenchSequence<Flow>& sequence);
BenchScores score_sequence(StereoEstimator& estimator, const BenchSequence<Stereo>& sequence);
BenchScores score_sequence(MotionDetector& estimator, const BenchSequence<Detection>& sequence);

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
template <class Task>
Traffic traffic_of(const Case<Task>& one);

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
Measurement measure_case(const Case<Task>& one, const BenchSequence<Task>& scene,
                         const BenchSequence<Task>* data, const BenchEffort& effort);

/// Measures the bandwidth of a copy within a device's memory, in bytes per second, loads and stores both
/// counted: the median of several copies of up to 1 GiB on a GPU, and of 128 MiB by the device's threads on a
/// CPU.
double copy_bandwidth(const DeviceInfo& device);

}  // namespace parafield::command
