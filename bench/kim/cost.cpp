// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "common/study.hpp"
#include "kim/guided.hpp"

namespace parafield::bench {
namespace {

constexpr Size labels{4, 2};

/// An algorithm. With `wide` parameters no feature is left out.
struct Algorithm {
  const char* name;
  bool hypotheses, wide;
};
constexpr Algorithm algorithms[] = {{"Alg. 1", false, false},
                                    {"Alg. 3, 8 labels", true, false},
                                    {"Alg. 1, no feature left out", false, true},
                                    {"Alg. 3, 8 labels, no feature left out", true, true}};

FlowMethod method_of(const Algorithm& algorithm, int features) {
  const auto with = [&](auto method) {
    if (algorithm.wide) method.sigma_position = method.sigma_color = 1000;
    return method;
  };
  if (algorithm.hypotheses) return with(paper_hypotheses(features));
  return with(paper_interpolation(features));
}

/// A point on the axis of the figure.
struct Step {
  Size size;
  int features;
};

Table measured(const Study& study, Table table, const std::vector<Step>& steps) {
  const bool on_cuda = study.on_cuda();
  for (const Step& step : steps) {
    const double pixels = double(step.size.width) * step.size.height;
    std::vector<Guided> inputs;
    for (std::uint64_t seed = 1; seed <= 2; ++seed)
      inputs.push_back(stretched(step.size, labels, step.features, seed));
    std::vector<Cell> row{size_text(step.size), step.features};
    for (const Algorithm& algorithm : algorithms) {
      if (!on_cuda && algorithm.wide && pixels * step.features > 1.1e9) {  // takes too long
        row.insert(row.end(), {Cell(""), Cell("")});
        continue;
      }
      const double ms = guided_ms(method_of(algorithm, step.features), study, inputs,
                                  on_cuda ? study.effort : slow_effort(study));
      row.insert(row.end(), {Cell(ms, 4), Cell(ms * 1e9 / (pixels * step.features), 2)});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table table_of(const char* title, const std::string& fixed) {
  Table table{
      title,
      fixed +
          "; frames, tracks and flow are on the device, two inputs in turn, 8 labels. Milliseconds and "
          "picoseconds a pixel and feature: equal where the cost is linear in both. With 24 / 6, features "
          "whose likelihood is below 2^-24 of the best one at every pixel of a tile are left out; with "
          "1000 / 1000 none is.",
      {"size", "features"}};
  for (const Algorithm& algorithm : algorithms)
    for (const char* unit : {"ms", "ps"})
      table.columns.push_back(fmt::format("{}: {}", algorithm.name, unit));
  return table;
}

}  // namespace

std::vector<Table> cost_tables(const Study& study) {
  std::vector<Step> by_features, by_size;
  for (int features = 64; features <= 4096; features *= 2)
    by_features.push_back({study.size(qvga), features});
  for (const Size full :
       {Size{160, 120}, Size{320, 240}, Size{640, 480}, Size{1280, 720}, Size{1920, 1080}, Size{3840, 2160}})
    by_size.push_back({study.size(full), 512});
  return {measured(study,
                   table_of("Figure 9 (a): time against features",
                            fmt::format("At {}", size_text(study.size(qvga)))),
                   by_features),
          measured(study, table_of("Figure 9 (b): time against pixels", "With 512 features"), by_size)};
}

}  // namespace parafield::bench
