// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "common/study.hpp"
#include "kim/serial.hpp"

namespace parafield::bench {
namespace {

/// A measurement of the paper.
struct TimedCase {
  const char* algorithm;
  Size labels;
  int features;
};
constexpr TimedCase cases[] = {
    {"Alg. 1", {4, 2}, 200}, {"Alg. 3", {4, 2}, 200}, {"Alg. 1", {5, 5}, 422}, {"Alg. 3", {5, 5}, 422}};

struct Place {
  std::string name;
  Device device;
  Memory memory;
  Precision precision = Precision::exact;
  int batch = 1;  ///< number of calls in flight
};

std::vector<Place> places(const Study& study) {
  std::vector<Place> list{
      {"library, 1 CPU thread", Device::cpu(1), Memory::host()},
      {"library, all CPU threads", study.on_cuda() ? Device::cpu() : study.device, Memory::host()}};
  if (!study.on_cuda()) return list;
  for (const Precision precision : {Precision::exact, Precision::fast}) {
    const std::string name = precision == Precision::exact ? "library, CUDA, exact" : "library, CUDA, fast";
    list.push_back({name, study.device, memory_of(study.device), precision, study.quick ? 2 : 50});
    list.push_back({name + ", each call by itself", study.device, memory_of(study.device), precision});
    list.push_back({name + ", from and to the host", study.device, Memory::pinned(), precision});
  }
  return list;
}

enum class Parameters { paper, library };

/// The algorithms of the paper, with its parameters or the library's for up to 1000 tracks.
FlowMethod method_of(const TimedCase& which, Parameters parameters, Precision precision) {
  const bool paper = parameters == Parameters::paper;
  const auto with = [&](auto method) {
    method.tracking.max_features = which.features;
    method.precision = precision;
    return method;
  };
  if (std::string_view(which.algorithm) == "Alg. 1")
    return with(paper ? paper_interpolation(which.features) : plain_interpolation());
  MultiHypothesis method = with(paper ? paper_hypotheses(which.features) : plain_hypotheses());
  method.labels = FlowLabels::grid;
  method.sub_pixel = false;
  return method;
}

Table given_table(const Study& study) {
  Table table{
      "Section 6.1: times with given tracks",
      fmt::format(
          "Frames in color at {} and tracks whose grid has exactly so many labels; three inputs in turn. "
          "Parameters of the preset `paper` (24 / 6), or the library's for so few tracks (sigmas of {:g} / "
          "{:g}, Alg. 3 {:g} / {:g}; Alg. 3 on the grid, without sub-pixel flow). Serial C++ is the study's "
          "plain program for one thread, pixel by pixel, Alg. 3 with each label's likelihoods by themselves, "
          "24 / 6: it leaves nothing out, so that other sigmas take the same time. On CUDA frames, tracks "
          "and flow are on the device: calls one after the other, which do not wait for each other, and "
          "each call by itself, between two events; or they are in pinned memory of the host, as the paper "
          "counts. Milliseconds. The paper: Xeon of 3.2 GHz, 8800 GTX; about 150 features in its first "
          "case.",
          size_text(study.size(qvga)), plain_interpolation().sigma_position,
          plain_interpolation().sigma_color, plain_hypotheses().sigma_position,
          plain_hypotheses().sigma_color),
      {"algorithm", "labels", "features", "parameters", "program", "median ms", "min ms", "over serial C++"},
      {{"Alg. 1", "", 200, "paper", "Xeon, one thread (paper)", "2000 to 3000", "", 1},
       {"Alg. 1", "", 200, "paper", "8800 GTX (paper)", {6.2, 1}, "", ""},
       {"Alg. 3", 8, 200, "paper", "Xeon, one thread (paper)", 11800, "", 1},
       {"Alg. 3", 8, 200, "paper", "8800 GTX (paper)", 48, "", 246},
       {"Alg. 1", "", 422, "paper", "8800 GTX (paper)", 14, "", ""},
       {"Alg. 3", 25, 422, "paper", "8800 GTX (paper)", 120, "", ""}}};
  for (const TimedCase& which : cases) {
    const bool interpolates = std::string_view(which.algorithm) == "Alg. 1";
    const std::vector<Guided> inputs = rotating_inputs(study, which.labels, which.features);
    const std::vector<Problem> problems = problems_of(inputs, paper_hypotheses(which.features));
    const Times serial = time_in_turn({timed_on_host([&](std::size_t turn) {
                                        const Problem& problem = problems[turn % problems.size()];
                                        (void)(interpolates ? interpolate_serially(problem, Gauss::computed)
                                                            : vote_serially(problem, Form::by_label));
                                      })},
                                      slow_effort(study))[0];
    const auto add = [&](Parameters parameters, const std::string& name, const Times& times) {
      table.add(which.algorithm, interpolates ? Cell("") : Cell(which.labels.width * which.labels.height),
                which.features, parameters == Parameters::paper ? "paper" : "library", name,
                Cell(times.median, 4), Cell(times.min, 4), Cell(serial.median / times.median, 1));
    };
    add(Parameters::paper, "serial C++", serial);
    for (const Parameters parameters : {Parameters::paper, Parameters::library}) {
      std::vector<Call> calls;
      for (const Place& place : places(study))
        calls.push_back(guided_call(method_of(which, parameters, place.precision), place.device, inputs,
                                    place.memory, place.batch));
      const std::vector<Times> times = time_in_turn(calls, study.effort);
      for (std::size_t i = 0; i < calls.size(); ++i) add(parameters, places(study)[i].name, times[i]);
    }
  }
  return table;
}

}  // namespace

std::vector<Table> time_tables(const Study& study) { return {given_table(study)}; }

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
