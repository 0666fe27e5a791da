// SPDX-License-Identifier: MIT
#include <fmt/format.h>

#include "kim/inputs.hpp"

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
      {"library, all CPU threads", study.device.kind == Device::Kind::cpu ? study.device : Device::cpu(),
       Memory::host()}};
  if (study.device.kind == Device::Kind::cpu) return list;
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
  if (std::string_view(which.algorithm) == "Alg. 1") {
    DirectInterpolation method = paper ? paper_interpolation(which.features) : plain_interpolation();
    method.tracking.max_features = which.features;
    method.precision = precision;
    return method;
  }
  MultiHypothesis method = paper ? paper_hypotheses(which.features) : plain_hypotheses();
  method.tracking.max_features = which.features;
  method.labels = FlowLabels::grid;
  method.sub_pixel = false;
  method.precision = precision;
  return method;
}

Table given_table(const Study& study) {
  Table table{
      "Section 6.1: times with given tracks",
      fmt::format(
          "Frames in color at {} and tracks whose grid has exactly so many labels; three inputs in turn. "
          "Parameters of the preset `paper` (24 / 6), or the library's for so few tracks (sigmas of {:g} / "
          "{:g}, Alg. 3 "
          "{:g} / {:g}; Alg. 3 on the grid, without sub-pixel flow). Serial C++ is the study's plain "
          "program for one thread, pixel by pixel, Alg. 3 with each label's likelihoods by themselves, "
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
  table.published_rows = int(table.rows.size());
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
      table.rows.push_back({which.algorithm,
                            interpolates ? Cell("") : Cell(which.labels.width * which.labels.height),
                            which.features,
                            parameters == Parameters::paper ? "paper" : "library",
                            name,
                            {times.median, 4},
                            {times.min, 4},
                            {serial.median / times.median, 1}});
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

Table tracked_table(const Study& study) {
  Table table{
      "Features found and tracked, too",
      fmt::format("The scene `layers` in color at {}: frames in, flow out, with 1000 features at most, "
                  "found and tracked there and back by the method itself. Milliseconds. The paper's "
                  "tracker is another's, less than 10 ms on a GPU.",
                  size_text(study.size(vga))),
      {"method", "preset", "program", "median ms", "min ms"},
      {}};
  const Scene scene = render_scene("layers", {.size = study.size(vga), .frames = 4, .color = true});
  struct Named {
    std::string method, preset;
    FlowMethod chosen;
  };
  std::vector<Named> methods;
  for (const auto& preset : presets(DirectInterpolation{}))
    methods.push_back({"direct-interpolation", std::string(preset.name), preset.method});
  for (const auto& preset : presets(MultiHypothesis{}))
    methods.push_back({"multi-hypothesis", std::string(preset.name), preset.method});
  for (const Named& named : methods) {
    std::vector<Call> calls;
    std::vector<std::string> names;
    for (const Place& place : places(study)) {
      if (place.memory.kind == Memory::Kind::pinned || place.batch > 1) continue;
      FlowMethod method = named.chosen;
      std::visit(
          [&](auto& chosen) {
            if constexpr (requires { chosen.precision; }) chosen.precision = place.precision;
          },
          method);
      calls.push_back(flow_call(method, place.device, scene));
      names.push_back(place.name);
    }
    const std::vector<Times> times = time_in_turn(calls, study.effort);
    for (std::size_t i = 0; i < calls.size(); ++i)
      table.rows.push_back({named.method, named.preset, names[i], {times[i].median, 3}, {times[i].min, 3}});
  }
  return table;
}

}  // namespace

std::vector<Table> time_tables(const Study& study) { return {given_table(study), tracked_table(study)}; }

}  // namespace parafield::bench
