#include <fmt/format.h>

#include "kim/inputs.hpp"

namespace parafield::bench {
namespace {

/// One of the paper's measurements; its times in ms.
struct Case {
  const char* algorithm;
  Size labels;
  int features;
  const char *paper_serial, *paper_gpu;
};
constexpr Case cases[] = {{"Alg. 1", {4, 2}, 200, "2000 to 3000", "6.2"},
                          {"Alg. 3", {4, 2}, 200, "11800", "48"},
                          {"Alg. 1", {5, 5}, 422, "", "14"},
                          {"Alg. 3", {5, 5}, 422, "", "120"}};

struct Place {
  std::string name;
  Device device;
  Memory memory;
  Precision precision = Precision::exact;
};

std::vector<Place> places(const KimStudy& study) {
  std::vector<Place> list{
      {"library, 1 CPU thread", Device::cpu(1), Memory::host()},
      {"library, all CPU threads", study.device.kind == Device::Kind::cpu ? study.device : Device::cpu(),
       Memory::host()}};
  if (study.device.kind == Device::Kind::cpu) return list;
  for (const Precision precision : {Precision::exact, Precision::fast}) {
    const std::string name = precision == Precision::exact ? "library, CUDA, exact" : "library, CUDA, fast";
    list.push_back({name, study.device, memory_of(study.device), precision});
    list.push_back({name + ", from and to the host", study.device, Memory::pinned(), precision});
  }
  return list;
}

FlowMethod method_of(const Case& which, Precision precision) {
  if (std::string_view(which.algorithm) == "Alg. 1") {
    DirectInterpolation method = paper_interpolation(which.features);
    method.precision = precision;
    return method;
  }
  MultiHypothesis method = paper_hypotheses(which.features);
  method.precision = precision;
  return method;
}

Table given_table(const KimStudy& study) {
  Table table{
      "Section 6.1: times with given tracks",
      fmt::format(
          "Frames in colour at {} and tracks whose grid has exactly so many labels, 24 / 6; three inputs "
          "in turn. On CUDA everything is on the device, or frames, tracks and flow in pinned memory of "
          "the host, as the paper counts. Serial C++ is the study's plain program for one thread, pixel by "
          "pixel, Alg. 3 with each label's likelihoods by themselves. Milliseconds. The paper: Xeon of 3.2 "
          "GHz, 8800 GTX; about 150 features in its first case.",
          size_text(study.size(qvga))),
      {"algorithm", "labels", "features", "program", "median ms", "min ms", "over serial C++",
       "the paper's ms"},
      {}};
  for (const Case& which : cases) {
    const bool interpolates = std::string_view(which.algorithm) == "Alg. 1";
    const std::vector<Guided> inputs = rotating_inputs(study, which.labels, which.features);
    const std::vector<Problem> problems = problems_of(inputs, paper_hypotheses(which.features));
    const Times serial = time_in_turn({timed_on_host([&](std::size_t turn) {
                                        const Problem& problem = problems[turn % problems.size()];
                                        (void)(interpolates ? interpolate_serially(problem, Gauss::computed)
                                                            : vote_serially(problem, Form::by_label));
                                      })},
                                      slow_effort(study))[0];
    const auto add = [&](const std::string& name, const Times& times, const char* paper) {
      table.rows.push_back({which.algorithm,
                            interpolates ? Cell("") : Cell(which.labels.width * which.labels.height),
                            which.features,
                            name,
                            {times.median, 4},
                            {times.min, 4},
                            {serial.median / times.median, 1},
                            paper});
    };
    add("serial C++", serial, which.paper_serial);
    std::vector<Call> calls;
    for (const Place& place : places(study))
      calls.push_back(guided_call(method_of(which, place.precision), place.device, inputs, place.memory));
    const std::vector<Times> times = time_in_turn(calls, study.effort);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const Place place = places(study)[i];
      add(place.name, times[i], place.device.kind == Device::Kind::cuda ? which.paper_gpu : "");
    }
  }
  return table;
}

Table tracked_table(const KimStudy& study) {
  Table table{
      "Features found and tracked, too",
      fmt::format("The scene `layers` in colour at {}: frames in, flow out, with 1000 features at most, "
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
      if (place.memory.kind == Memory::Kind::pinned) continue;
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

std::vector<Table> time_tables(const KimStudy& study) { return {given_table(study), tracked_table(study)}; }

}  // namespace parafield::bench
