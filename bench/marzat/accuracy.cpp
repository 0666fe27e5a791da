// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "common/study.hpp"

namespace parafield::bench {
namespace {

std::vector<Pair> pairs(const Study& study) {
  std::vector<Pair> list;
  if (study.data)
    for (const char* name : {"noclouds", "clouds ground"})
      if (auto pair = read_pair(*study.data, name)) list.push_back(std::move(*pair));
  list.push_back(rendered_pair("layers", study.size(yosemite)));
  return list;
}

/// One row for each value of a parameter: both errors on each pair.
Table sweep(const Study& study, const std::vector<Pair>& pairs, std::string title, std::string note,
            int LucasKanade::*parameter, const std::string& column, const std::vector<int>& values) {
  Table table{std::move(title), std::move(note), {column}};
  for (const Pair& pair : pairs) {
    table.columns.push_back(pair.name + " AAE");
    table.columns.push_back(pair.name + " EPE");
  }
  for (const int value : values) {
    auto method = preset<LucasKanade>("paper");
    method.*parameter = value;
    std::vector<Cell> row{value};
    for (const Pair& pair : pairs) {
      FlowEstimator estimator(method, pair.frame0.size(), {.device = study.device});
      const FlowScores scores = score(estimator(pair.frame0, pair.frame1), pair);
      row.push_back({scores.aae, 2});
      row.push_back({scores.epe, 3});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Frames in time order, and the true flow from frame i to i + 1.
struct Sequence {
  std::string name;
  std::vector<FrameBuffer> frames;
  std::vector<FlowField> truth;  ///< no pixels = not known
  Image<std::uint8_t> mask;
  int first = 0;  ///< number of the first frame
};

std::vector<Sequence> sequences(const Study& study) {
  std::vector<Sequence> list;
  constexpr int first = 2, last = 10, with_truth = 9;
  if (auto frames = read_yosemite(study.data, first, last); !frames.empty()) {
    const auto folder = *study.data / "yosemite" / "clouds";
    std::vector<FlowField> truth(last - first);
    truth[with_truth - first] = read_flow(folder / "flow09.flo");
    list.push_back(
        {"clouds ground", std::move(frames), std::move(truth), read_mask(folder / "mask_ground.png"), first});
  }
  Scene scene = render_scene("layers", {.size = study.size(yosemite), .frames = study.quick ? 3 : 9});
  list.push_back({"rendered layers", std::move(scene.frames), std::move(scene.flow), {}});
  return list;
}

/// The paper's parameters, except these.
LucasKanade paper_with(int levels, int iterations, bool temporal) {
  auto method = preset<LucasKanade>("paper");
  method.levels = levels;
  method.iterations = iterations;
  method.temporal = temporal;
  return method;
}

/// AAE of each pushed frame with known truth.
std::vector<double> pushed_aae(const Study& study, const Sequence& sequence, const LucasKanade& method) {
  FlowEstimator estimator(method, sequence.frames.front().size(), {.device = study.device});
  std::vector<double> aae;
  for (std::size_t i = 0; i < sequence.frames.size(); ++i) {
    const FlowField* flow = estimator.push(sequence.frames[i]);
    if (flow && sequence.truth[i - 1].u)
      aae.push_back(evaluate(*flow, sequence.truth[i - 1], {.mask = sequence.mask}).aae);
  }
  return aae;
}

}  // namespace

std::vector<Table> accuracy_tables(const Study& study) {
  const std::vector<Pair> list = pairs(study);
  const std::string what =
      "AAE in degrees, EPE in px, over all pixels with known truth; the other parameters are those of the "
      "preset `paper` (4 levels, window 11, 3 iterations). ";
  using Values = std::vector<int>;
  return {sweep(study, list, "Fig. 3(a): errors over iterations",
                what + "The paper finds 4 a good compromise and uses 3.", &LucasKanade::iterations,
                "iterations", study.quick ? Values{1, 2} : Values{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}),
          sweep(study, list, "Fig. 3(b): errors over patch size",
                what + "The paper finds 9 to 11 best and uses 10, whose window reaches one pixel further to "
                       "the left and up.",
                &LucasKanade::window, "patch size",
                study.quick ? Values{3, 5} : Values{3, 5, 7, 9, 10, 11, 13, 15, 17, 19, 21}),
          sweep(study, list, "Section 2.4: errors over levels",
                what + "The paper finds more than 3 levels useless at 300x200.", &LucasKanade::levels,
                "levels", study.quick ? Values{1, 2} : Values{1, 2, 3, 4, 5, 6})};
}

std::vector<Table> temporal_tables(const Study& study) {
  std::vector<Table> tables;
  for (const Sequence& sequence : sequences(study)) {
    Table table{
        fmt::format("Section 2.3: temporal refinement, {}", sequence.name),
        fmt::format(
            "AAE in degrees of pushed frames, {} in all. A column for `levels`/`iterations`, without and "
            "with `temporal`; a row for each pair with known truth, frame and next frame.",
            sequence.frames.size()),
        {"pair"}};
    for (std::size_t i = 0; i < sequence.truth.size(); ++i)
      if (sequence.truth[i].u) {
        const int frame = sequence.first + int(i);
        table.add(fmt::format("{}-{}", frame, frame + 1));
      }
    for (const int levels : {2, 4})
      for (const int iterations : {1, 3})
        for (const bool temporal : {false, true}) {
          table.columns.push_back(fmt::format("{}/{}{}", levels, iterations, temporal ? " temporal" : ""));
          const auto aae = pushed_aae(study, sequence, paper_with(levels, iterations, temporal));
          for (std::size_t row = 0; row < aae.size(); ++row) table.rows[row].push_back({aae[row], 2});
        }
    tables.push_back(std::move(table));
  }
  return tables;
}

}  // namespace parafield::bench
