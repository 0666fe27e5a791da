// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "bench/bench.hpp"

namespace parafield::command {
namespace {

std::filesystem::path data_of(const std::string& folder, std::string_view task) {
  const std::filesystem::path root = folder;
  return task == "flow"     ? root / "yosemite" / "noclouds"
         : task == "stereo" ? root / "middlebury-stereo" / "cones"
                            : root / "cdnet" / "highway_a";
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder))
    throw Error(ErrorCode::file, folder.string() + ": no such folder");
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

/// Returns CDnet labels made from a mask of 0 and 1.
FrameBuffer labels_of(View<const std::uint8_t> moving) {
  FrameBuffer labels(moving.size(), PixelFormat::gray_u8);
  for (int y = 0; y < moving.height; ++y)
    for (int x = 0; x < moving.width; ++x)
      static_cast<std::uint8_t*>(labels.row(y))[x] = moving(x, y) ? 255 : 0;
  return labels;
}

}  // namespace

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
    for (const auto& moving : scene.moving) sequence.truth.push_back(labels_of(moving));
  }
  return sequence;
}

template <class Task>
bool has_bench_data(const std::string& folder) {
  return std::filesystem::exists(data_of(folder, task_facts<Task>.name));
}

template <>
BenchSequence<Flow> read_bench_data<Flow>(const std::string& folder) {
  const auto pair = data_of(folder, "flow");
  BenchSequence<Flow> sequence{"yosemite noclouds yos08-09", {}, {}};
  for (const char* name : {"yos08.png", "yos09.png"}) sequence.frames.push_back(read_frame(pair / name));
  sequence.truth.push_back(read_flow(pair / "yos08_nosky.flo"));
  return sequence;
}

template <>
BenchSequence<Stereo> read_bench_data<Stereo>(const std::string& folder) {
  const auto pair = data_of(folder, "stereo");
  BenchSequence<Stereo> sequence{"middlebury cones", {}, {}};
  for (const char* name : {"left.png", "right.png"}) sequence.frames.push_back(read_frame(pair / name));
  sequence.truth.push_back(read_disparity(pair / "disp_left.png", 4));
  return sequence;
}

template <>
BenchSequence<Detection> read_bench_data<Detection>(const std::string& folder) {
  const auto scene = data_of(folder, "detection");
  BenchSequence<Detection> sequence{"cdnet highway, 40 frames", {}, {}};
  for (const auto& file : files_in(scene / "gray")) sequence.frames.push_back(read_frame(file));
  for (const auto& file : files_in(scene / "groundtruth")) sequence.truth.push_back(read_frame(file));
  if (sequence.frames.size() != sequence.truth.size())
    throw Error(ErrorCode::file, scene.string() + ": as many labels as frames are needed");
  return sequence;
}

BenchScores score_sequence(FlowEstimator& estimator, const BenchSequence<Flow>& sequence) {
  const auto count = frames_of_call<Flow>(estimator.method()), middle = (count - 1) / 2;
  if (sequence.frames.size() < count) return {};
  const std::size_t calls = sequence.frames.size() - count + 1;
  double aae = 0;
  for (std::size_t i = 0; i < calls; ++i) {
    const std::vector<Frame> frames(sequence.frames.begin() + std::ptrdiff_t(i),
                                    sequence.frames.begin() + std::ptrdiff_t(i + count));
    aae += evaluate(estimator({frames}), sequence.truth[i + middle]).aae / double(calls);
  }
  return {{"aae_degrees", aae}};
}

BenchScores score_sequence(StereoEstimator& estimator, const BenchSequence<Stereo>& sequence) {
  double bad = 0, average = 0;
  for (std::size_t i = 0; i < sequence.truth.size(); ++i) {
    const DisparityScores scores =
        evaluate(estimator(sequence.frames[2 * i], sequence.frames[2 * i + 1]), sequence.truth[i]);
    bad += scores.bad_1 / double(sequence.truth.size());
    average += scores.average / double(sequence.truth.size());
  }
  return {{"bad_1", bad}, {"average_px", average}};
}

BenchScores score_sequence(MotionDetector& estimator, const BenchSequence<Detection>& sequence) {
  MaskScores scores;
  estimator.reset();
  for (std::size_t i = 0; i < sequence.frames.size(); ++i) {
    const MotionMask* const mask = estimator.push(sequence.frames[i]);
    if (mask && i >= sequence.frames.size() / 2) scores += evaluate(*mask, sequence.truth[i]);
  }
  return {{"f1", scores.f1}};
}

template BenchSequence<Flow> bench_scene(Size);
template BenchSequence<Stereo> bench_scene(Size);
template BenchSequence<Detection> bench_scene(Size);
template bool has_bench_data<Flow>(const std::string&);
template bool has_bench_data<Stereo>(const std::string&);
template bool has_bench_data<Detection>(const std::string&);

}  // namespace parafield::command
