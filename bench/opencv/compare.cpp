// SPDX-License-Identifier: MIT
// compare_opencv: dense flow of OpenCV and of this library, on the same pairs in the same run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>

#include "common/pairs.hpp"
#include "common/program.hpp"
#include "common/report.hpp"
#include "opencv/flow_methods.hpp"

namespace parafield::bench {
namespace {

/// A method that is compared: a row of the tables.
struct Contestant {
  std::string name;
  Call call;
  std::function<FlowField()> flow;  ///< of the last call, in host memory
};

template <class Run>
double milliseconds(Run run) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  run();
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

std::vector<Contestant> contestants(const Pair& pair, const Device& device) {
  std::vector<Contestant> list;
  const auto add_presets = [&]<class Method>(const Method& method) {
    for (const auto& preset : presets(method)) {
      if (preset.method.frames != 2) continue;
      const auto estimator =
          std::make_shared<FlowEstimator>(preset.method, pair.frame0.size(), FlowOptions{.device = device});
      const auto flow = std::make_shared<const FlowField*>(nullptr);
      list.push_back(
          {fmt::format("{} {}", Method::name, preset.name),
           [=, &pair] { return milliseconds([&] { *flow = &(*estimator)(pair.frame0, pair.frame1); }); },
           [flow] { return (*flow)->to(Memory::host()); }});
    }
  };
  add_presets(AdaptiveRidge{});
  add_presets(LucasKanade{});
  // DIS needs rows that touch each other.
  const cv::Mat frame0 = as_mat(pair.frame0).clone(), frame1 = as_mat(pair.frame1).clone();
  for (const OpenCvMethod& method : opencv_methods()) {
    const auto flow = std::make_shared<cv::Mat>(cv::Mat::zeros(frame0.size(), CV_32FC2));
    list.push_back({method.name,
                    [=] { return milliseconds([&] { method.estimate(frame0, frame1, *flow); }); },
                    [flow] { return as_field(*flow); }});
  }
  return list;
}

std::vector<Pair> gray_pairs(const ProgramOptions& options) {
  std::vector<Pair> pairs;
  if (const auto data = data_folder(options.data); data && !options.quick)
    for (const char* name : {"RubberWhale", "Grove2", "Dimetrodon", "Venus", "noclouds", "clouds ground"})
      if (auto pair = read_pair(*data, name)) pairs.push_back(std::move(*pair));
  pairs.push_back(rendered_pair("layers", options.quick ? Size{80, 60} : Size{640, 480}));
  for (Pair& pair : pairs) {
    pair.frame0 = to_gray(pair.frame0);
    pair.frame1 = to_gray(pair.frame1);
  }
  return pairs;
}

Report compare(const ProgramOptions& options) {
  const Device device = Device::cpu(options.threads);
  const int threads = options.threads > 0 ? options.threads : describe_device(device).threads;
  cv::setNumThreads(threads);
  const std::vector<Pair> pairs = gray_pairs(options);

  const Quietness quietness;
  Table errors{
      "Errors",
      "AAE in degrees and EPE in px over all pixels with known truth, valid or not. All methods get the same "
      "8-bit gray frames.",
      {"method"},
      {}};
  Table times{
      "Times",
      "Milliseconds of one pair in host memory, median and minimum. Methods run in turn; each timed call "
      "follows an untimed one of the same method.",
      {"method"},
      {}};
  for (const Pair& pair : pairs) {
    const std::vector<Contestant> list = contestants(pair, device);
    std::vector<Call> calls;
    for (const Contestant& contestant : list) calls.push_back(contestant.call);
    const std::vector<Times> measured = time_in_turn(calls, options.effort());

    errors.columns.insert(errors.columns.end(), {pair.name + " AAE", "EPE " + pair.name});
    times.columns.insert(times.columns.end(), {fmt::format("{} {}", pair.name, size_text(pair.frame0.size())),
                                               "min " + pair.name});
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (errors.rows.size() == i) {
        errors.rows.push_back({list[i].name});
        times.rows.push_back({list[i].name});
      }
      const FlowField flow = list[i].flow();
      const FlowScores scores = score(flow, pair);
      errors.rows[i].push_back({scores.aae, 2});
      errors.rows[i].push_back({scores.epe, 3});
      times.rows[i].push_back({measured[i].median, 2});
      times.rows[i].push_back({measured[i].min, 2});
    }
  }
  return {
      "OpenCV's dense flow beside parafield's",
      {{"device", device_text(device)},
       {"OpenCV", fmt::format("{}, {} threads", CV_VERSION, cv::getNumThreads())},
       {"parameters",
        "defaults of Farneback and DIS; pyramidal LK at every pixel with window 11, 4 levels (maxLevel 3), 3 "
        "iterations, as in the preset `paper` of lucas-kanade"},
       {"commit", options.commit},
       {"machine", quietness.text()}},
      {std::move(errors), std::move(times)}};
}

}  // namespace
}  // namespace parafield::bench

int main(int argc, char** argv) {
  using namespace parafield::bench;
  CLI::App app{"OpenCV's dense optical flow on the CPU beside parafield's: errors and times"};
  ProgramOptions options;
  add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  return run_program([&] { write(compare(options), options.markdown_file, options.json_file); });
}
