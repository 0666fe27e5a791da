// SPDX-License-Identifier: MIT
#include <fmt/format.h>
#include <stdlib.h>

#include <array>

#include "common/study.hpp"

namespace parafield::bench {
namespace {

Table trade_off_table(const Study& study) {
  std::optional<Pair> real;
  if (study.data) real = read_pair(*study.data, "noclouds");
  const Pair pair = real ? std::move(*real) : rendered_pair("layers", study.size(yosemite));
  Table table{
      "Table 1: execution time and accuracy trade-off (ETATO)",
      fmt::format(
          "ETATO = microseconds a pixel times AAE; less is better. AAE is measured on {} for both sizes, as "
          "in the paper. Times are those of one pair, frames and result in the device's memory, median and "
          "minimum; the time a pixel comes from the median. The paper's rows are its table 1; LKCuda took "
          "67 ms at 640x480 and 21 ms at 316x252 on a Tesla C870, neither of which is exactly 0.226 us a "
          "pixel.",
          pair.name),
      {"method", "size", "ms", "min ms", "us a pixel", "AAE", "ETATO", "ETATO of min"},
      {{"Bruhn (paper)", "316x252", {54, 0}, "", {0.68, 2}, {2.63, 2}, {1.785, 3}, ""},
       {"HSCuda (paper)", "", "", "", {2.5, 1}, {4.36, 2}, {10.9, 1}, ""},
       {"LKCuda (paper)", "", "", "", {0.226, 3}, {2.34, 2}, {0.53, 2}, ""},
       {"LKCuda (its times)", "640x480", {67, 0}, "", {0.218, 3}, {2.34, 2}, {0.51, 2}, ""},
       {"LKCuda (its times)", "316x252", {21, 0}, "", {0.264, 3}, {2.34, 2}, {0.62, 2}, ""}}};
  struct Timed {
    std::string name;
    Size size;
    double aae;
  };
  std::vector<Call> calls;
  std::vector<Timed> timed;
  for (const Size size : {study.size(vga), study.size(yosemite)}) {
    const Scene scene = timing_scene(size);
    for (const auto& preset : presets(LucasKanade{})) {
      calls.push_back(flow_call(preset.method, study.device, scene));
      const FlowField flow = estimate_flow(pair.frame0, pair.frame1, preset.method, {.device = study.device});
      timed.push_back({fmt::format("parafield {}", preset.name), size, score(flow, pair).aae});
    }
  }
  const std::vector<Times> times = time_in_turn(calls, study.effort);
  for (std::size_t i = 0; i < timed.size(); ++i) {
    const auto& [name, size, aae] = timed[i];
    const double microseconds = times[i].median * 1000 / (double(size.width) * size.height),
                 least = microseconds * times[i].min / times[i].median;
    table.add(name, size_text(size), Cell(times[i].median, 3), Cell(times[i].min, 3), Cell(microseconds, 5),
              Cell(aae, 2), Cell(microseconds * aae, 5), Cell(least * aae, 5));
  }
  return table;
}

Table step_table(const Study& study) {
  // One thread waits for no other, which makes differences sharper.
  const Device device = study.on_cuda() ? study.device : Device::cpu(1);
  constexpr int levels = 4, iterations = 3, many = 7;
  const auto paper = preset<LucasKanade>("paper");
  Table table{
      "Fig. 7: the time of each step",
      fmt::format(
          "Milliseconds of one pair, and their share, with 4 levels, window 11, 3 iterations, on {}; minima "
          "of runs timed in turn. The public interface cannot time a step alone, so each time is a "
          "difference of whole runs. One iteration on levels 0 to l takes (T({} iterations) - T(1)) / {} "
          "with l + 1 levels; on level l it takes that minus the same with l levels; both times 3. "
          "Conversion and pyramids take twice the time by which a pair takes longer than a pushed frame "
          "without `temporal`, which prepares one frame less; a GPU prepares both frames in one launch, so "
          "there this is the part that grows with the frames. The rest is enlarging the flow, the start at "
          "zero, validity and confidence, and launching.",
          command::device_text(describe_device(device)), many, many - 1),
      {"step"}};
  table.add("conversion and pyramids");
  for (int level = levels - 1; level >= 0; --level) table.add(fmt::format("solution, level {}", level));
  table.add("enlarging and the rest");
  table.add("all");

  for (const Size size : {study.size(vga), study.size(yosemite)}) {
    const Scene scene = timing_scene(size);
    LucasKanade method = paper;
    method.temporal = false;
    std::vector<Call> calls{flow_call(paper, device, scene), flow_call(method, device, scene, /*push=*/true)};
    method = paper;
    for (int l = 1; l <= levels; ++l)
      for (const int n : {1, many}) {
        method.levels = l;
        method.iterations = n;
        calls.push_back(flow_call(method, device, scene));
      }
    const std::vector<Times> times = time_in_turn(calls, study.effort);

    const double all = times[0].min, preparing = 2 * (times[0].min - times[1].min);
    std::array<double, levels> iteration;  // on levels 0 to l together
    for (std::size_t l = 0; l < levels; ++l)
      iteration[l] = (times[3 + 2 * l].min - times[2 + 2 * l].min) / (many - 1);
    std::vector<double> steps{preparing};
    for (std::size_t l = levels; l-- > 0;)
      steps.push_back(iterations * (iteration[l] - (l > 0 ? iteration[l - 1] : 0)));
    steps.push_back(all - preparing - iterations * iteration[levels - 1]);
    steps.push_back(all);
    table.columns.push_back(fmt::format("{} ms", size_text(size)));
    table.columns.push_back(fmt::format("{} %", size_text(size)));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      table.rows[i].push_back({steps[i], 3});
      table.rows[i].push_back({steps[i] / all * 100, 0});
    }
  }
  return table;
}

Table speed_up_table(const Study& study) {
  const Size size = study.size(vga);
  Table table{
      fmt::format("Section 4: speed-up over one CPU thread, {}", size_text(size)),
      "One pair, 4 levels, window 11, 3 iterations: milliseconds, median and minimum, and the factor by "
      "which it is faster than one CPU thread (minima). v2 is SSE4.2 without AVX, where the fused "
      "multiply-add that keeps results the same is a function call; v3 is AVX2, v4 AVX-512. The paper has "
      "7 s in C on a 3 GHz processor and 67 ms on a Tesla C870, a factor of 100.",
      {"device", "ms", "min ms", "over one thread, v2", "over one thread, best set"},
      {{"3 GHz processor (paper)", {7000, 0}, "", "", {1, 0}},
       {"Tesla C870 (paper)", {67, 0}, "", "", {100, 0}}}};
  const Scene scene = timing_scene(size);
  const auto paper = preset<LucasKanade>("paper");
  std::vector<Call> calls;
  std::vector<std::string> names;
  const char* const given = getenv("PARAFIELD_ISA");
  const std::string before = given ? given : "";
  for (const char* set : {"v2", "v3", "v4", "baseline"}) {
    setenv("PARAFIELD_ISA", set, 1);  // estimators that are made from now on have this instruction set
    try {
      calls.push_back(flow_call(paper, Device::cpu(1), scene));
      names.push_back(fmt::format("cpu, 1 thread, {}", set));
    } catch (const Error&) {  // this machine or build does not have the set
    }
  }
  given ? setenv("PARAFIELD_ISA", before.c_str(), 1) : unsetenv("PARAFIELD_ISA");
  const std::size_t best = calls.size() - 1;
  const DeviceInfo cpu = describe_device(Device::cpu());
  calls.push_back(flow_call(paper, Device::cpu(), scene));
  names.push_back(fmt::format("cpu, {} threads, {}", cpu.threads, cpu.instruction_set));
  for (const DeviceInfo& info : devices()) {
    if (info.device.kind != Device::Kind::cuda) continue;
    calls.push_back(flow_call(paper, info.device, scene));
    names.push_back(fmt::format("{}, {}", to_string(info.device), info.name));
  }
  const std::vector<Times> times = time_in_turn(calls, study.effort);
  for (std::size_t i = 0; i < times.size(); ++i)
    table.add(names[i], Cell(times[i].median, 3), Cell(times[i].min, 3), Cell(times[0].min / times[i].min, 1),
              Cell(times[best].min / times[i].min, 1));
  return table;
}

}  // namespace

std::vector<Table> time_tables(const Study& study) {
  return {trade_off_table(study), step_table(study), speed_up_table(study)};
}

}  // namespace parafield::bench
