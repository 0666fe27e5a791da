// SPDX-License-Identifier: MIT
#include "grauer_gray/runs.hpp"

namespace parafield::bench {

Table target_table(const Study& study) {
  Table table{"Targets",
              "Targets are those for an H100 or for two threads of a CPU, with frames in the device's "
              "memory. A target "
              "without a precision is shown with both.",
              {"what", "size", "labels", "levels x iterations", "precision", "target ms", "ms", "least ms",
               "ms / target", "reached"},
              {}};
  struct Target {
    const char* what;
    Run run;
    double ms;
    bool fast_only;
  };
  using enum Run::Task;
  constexpr Size tsukuba{384, 288}, cones{450, 375}, large{900, 750}, satellite{512, 512};
  const Run small{stereo, tsukuba, 16}, medium{stereo, cones, 64};
  std::vector<Target> targets;
  if (study.device.kind == Device::Kind::cuda)
    targets = {{"stereo", small, 0.25, false},
               {"stereo", medium, 1.2, true},
               {"stereo", {stereo, large, 128}, 8, true},
               {"stereo", {stereo, large, 256}, 20, true},
               {"motion, 4 blocks", {motion, satellite, 5, 4, 10, 4}, 6, false},
               {"motion, whole", {motion, satellite, 5, 5, 10}, 6, false}};
  else
    targets = {{"stereo", small, 45, false}, {"stereo", medium, 500, false}};
  for (const Target& target : targets)
    for (const Precision precision : precisions) {
      if (target.fast_only && precision == Precision::exact) continue;
      const Run run = scaled(study, target.run);
      const Times times = times_of(study, run, precision, memory_of(study.device));
      table.rows.push_back({target.what,
                            size_text(run.size),
                            run.labels(),
                            run.steps(),
                            name_of(precision),
                            {target.ms, 2},
                            {times.median, 3},
                            {times.min, 3},
                            {times.median / target.ms, 2},
                            times.median <= target.ms ? "yes" : "no"});
    }
  return table;
}

}  // namespace parafield::bench
