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

/// What differs between tasks.
struct TaskFacts {
  std::string_view name;   ///< in options and JSON
  std::string_view scene;  ///< rendered for all measurements
  int frames;              ///< of the scene; neighbors differ, so that streams continue
};
template <class Task>
constexpr TaskFacts task_facts{"flow", "affine", 7};
template <>
inline constexpr TaskFacts task_facts<Stereo>{"stereo", "stereo", 4};  // two pairs
template <>
inline constexpr TaskFacts task_facts<Detection>{"detection", "square", 16};

/// Frames that one step of a sequence brings: one, or a pair.
template <class Task>
constexpr std::size_t frames_of_step = Task::pairs ? 2 : 1;

/// Frames that one call takes.
template <class Task>
std::size_t frames_of_call(const typename Task::Method& method) {
  if constexpr (std::is_same_v<Task, Flow>) return std::size_t(frames_of(method));
  return 2;
}

/// Frames with their truth. Flow: truth[i] is from frame i to the next. Stereo: of pair i. Detection: of
/// frame i.
template <class Task>
struct BenchSequence {
  using Truth = std::conditional_t<std::is_same_v<Task, Detection>, FrameBuffer, typename Task::Result>;

  std::string name;
  std::vector<FrameBuffer> frames;
  std::vector<Truth> truth;
  std::uint64_t seed = 0;  ///< of a rendered sequence
};

/// The rendered sequence of all measurements of a task.
template <class Task>
BenchSequence<Task> bench_scene(Size size);
inline constexpr std::uint64_t bench_scene_seed = 1;

/// The real sequence of a task in a data folder. Throws like read_frame.
template <class Task>
BenchSequence<Task> read_bench_data(const std::string& folder);
template <>
BenchSequence<Flow> read_bench_data(const std::string& folder);
template <>
BenchSequence<Stereo> read_bench_data(const std::string& folder);
template <>
BenchSequence<Detection> read_bench_data(const std::string& folder);
/// Whether the folder has it.
template <class Task>
bool has_bench_data(const std::string& folder);

/// Names of scores and their values.
using BenchScores = std::vector<std::pair<std::string, double>>;

/// Scores of a method on a sequence: aae_degrees, or bad_1 and average_px, or f1. Empty if it has too few
/// frames.
BenchScores score_sequence(FlowEstimator& estimator, const BenchSequence<Flow>& sequence);
BenchScores score_sequence(StereoEstimator& estimator, const BenchSequence<Stereo>& sequence);
BenchScores score_sequence(MotionDetector& estimator, const BenchSequence<Detection>& sequence);

template <class Task>
struct Case {
  typename Task::Method method;
  std::string preset;
  DeviceInfo device;
  Size size;
  bool flow_alone = false;  ///< results have no valid plane and no confidence

  typename Task::Options options() const {
    typename Task::Options options;
    options.device = device.device;
    if constexpr (std::is_same_v<Task, Flow>) options.valid = options.confidence = !flow_alone;
    return options;
  }
};

/// The least that a frame moves: the gray 8-bit frames that a call or a push reads, and the planes of its
/// result.
struct Traffic {
  std::size_t resident = 0, streaming = 0;  ///< bytes
};
template <class Task>
Traffic traffic_of(const Case<Task>& one);

struct Measurement {
  Times resident;                   ///< one call; frames and result in the device's memory
  Times streaming;                  ///< one frame or pair pushed, in the device's memory
  Times end_to_end;                 ///< one call; frames and result in host memory (pinned, for a GPU)
  std::optional<Times> overlapped;  ///< one frame pushed to a pipelined estimator; the same memory
  BenchScores scene, data;          ///< data is empty where there is no real sequence for the method
  std::size_t workspace_bytes = 0;
  int disparities = 0;                      ///< stereo: that the method has found; 0 = they are given
  std::optional<double> frames_per_second;  ///< of all streams of --streams together
  std::optional<Energy> energy;             ///< of pushes, where a meter tells it
};

struct BenchEffort {
  Repeats repeats;
  int streams = 0;
  const EnergyMeter* meter = nullptr;
};

template <class Task>
Measurement measure_case(const Case<Task>& one, const BenchSequence<Task>& scene,
                         const BenchSequence<Task>* data, const BenchEffort& effort);

/// Bytes a second, loaded and stored, while a device copies within its memory: the median of several copies
/// of up to 1 GiB on a GPU, and of 128 MiB by the device's threads on a CPU.
double copy_bandwidth(const DeviceInfo& device);

}  // namespace parafield::command
