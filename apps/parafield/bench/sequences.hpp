// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "parafield/parafield.hpp"

/// Frames with known truth that `parafield bench` measures on, and the scores of methods on them.
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

inline constexpr std::uint64_t bench_scene_seed = 1;

/// Renders the sequence that all measurements of a task use.
template <class Task>
BenchSequence<Task> bench_scene(Size size) {
  const std::string_view name = task_facts<Task>.scene;
  Scene scene =
      render_scene(name, {.size = size, .frames = task_facts<Task>.frames, .seed = bench_scene_seed});
  BenchSequence<Task> sequence{std::string(name), std::move(scene.frames), {}, bench_scene_seed};
  if constexpr (std::is_same_v<Task, Flow>) {
    sequence.truth = std::move(scene.flow);
  } else if constexpr (std::is_same_v<Task, Stereo>) {
    sequence.truth = std::move(scene.disparity);
  } else {
    sequence.truth.emplace_back();  // moving[i] belongs to frame i + 1
    for (const auto& moving : scene.moving) {
      FrameBuffer labels(size, PixelFormat::gray_u8);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x)
          static_cast<std::uint8_t*>(labels.row(y))[x] = moving(x, y) ? 255 : 0;
      sequence.truth.push_back(std::move(labels));
    };
  }
  return sequence;
}

inline std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder))
    throw Error(ErrorCode::file, folder.string() + ": no such folder");
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

/// Reads the real sequence of a task from a data folder; empty if it is not there, unless it is `required`.
/// Throws like read_frame.
template <class Task>
std::optional<BenchSequence<Task>> read_bench_data(const std::filesystem::path& root, bool required) {
  constexpr bool is_flow = std::is_same_v<Task, Flow>, is_stereo = std::is_same_v<Task, Stereo>;
  const auto folder = root / (is_flow     ? "yosemite/noclouds"
                              : is_stereo ? "middlebury-stereo/cones"
                                          : "cdnet/highway_a");
  if (!required && !std::filesystem::exists(folder)) return {};
  BenchSequence<Task> sequence;
  const auto read_frames = [&](auto... names) {
    (sequence.frames.push_back(read_frame(folder / names)), ...);
  };
  if constexpr (is_flow) {
    sequence.name = "yosemite noclouds yos08-09";
    read_frames("yos08.png", "yos09.png");
    sequence.truth.push_back(read_flow(folder / "yos08_nosky.flo"));
  } else if constexpr (is_stereo) {
    sequence.name = "middlebury cones";
    read_frames("left.png", "right.png");
    sequence.truth.push_back(read_disparity(folder / "disp_left.png", 4));
  } else {
    sequence.name = "cdnet highway, 40 frames";
    for (const auto& file : files_in(folder / "gray")) sequence.frames.push_back(read_frame(file));
    for (const auto& file : files_in(folder / "groundtruth")) sequence.truth.push_back(read_frame(file));
    if (sequence.frames.size() != sequence.truth.size())
      throw Error(ErrorCode::file, folder.string() + ": as many labels as frames are needed");
  }
  return sequence;
}

/// Names of scores and their values.
using BenchScores = std::vector<std::pair<std::string, double>>;

/// Returns the scores of a method on a sequence: aae_degrees for flow, bad_1 and average_px for stereo, f1
/// for detection. Empty if the sequence has too few frames.
template <class Task>
BenchScores score_sequence(Estimator<Task>& estimator, const BenchSequence<Task>& sequence) {
  const std::size_t count = frames_of_call<Task>(estimator.method());
  if (sequence.frames.size() < count) return {};
  if constexpr (std::is_same_v<Task, Flow>) {
    const std::size_t calls = sequence.frames.size() - count + 1;
    double aae = 0;
    for (std::size_t i = 0; i < calls; ++i) {
      const std::vector<Frame> frames(sequence.frames.begin() + std::ptrdiff_t(i),
                                      sequence.frames.begin() + std::ptrdiff_t(i + count));
      aae += evaluate(estimator({frames}), sequence.truth[i + (count - 1) / 2]).aae / double(calls);
    }
    return {{"aae_degrees", aae}};
  } else if constexpr (std::is_same_v<Task, Stereo>) {
    double bad = 0, average = 0;
    for (std::size_t i = 0; i < sequence.truth.size(); ++i) {
      const DisparityScores scores =
          evaluate(estimator(sequence.frames[2 * i], sequence.frames[2 * i + 1]), sequence.truth[i]);
      bad += scores.bad_1 / double(sequence.truth.size());
      average += scores.average / double(sequence.truth.size());
    }
    return {{"bad_1", bad}, {"average_px", average}};
  } else {
    MaskScores scores;
    estimator.reset();
    for (std::size_t i = 0; i < sequence.frames.size(); ++i) {
      const MotionMask* const mask = estimator.push(sequence.frames[i]);
      if (mask && i >= sequence.frames.size() / 2) scores += evaluate(*mask, sequence.truth[i]);
    }
    return {{"f1", scores.f1}};
  }
}

}  // namespace parafield::command
