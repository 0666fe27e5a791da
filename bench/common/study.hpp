// SPDX-License-Identifier: MIT
#pragma once
#include <functional>

#include "common/pairs.hpp"
#include "common/report.hpp"
#include "common/timing.hpp"

/// A study of a paper, and the program around it.
namespace parafield::bench {

/// Options of a run.
struct Study {
  Device device;
  std::optional<std::filesystem::path> data;  ///< folder of real sequences
  Pictures& pictures;
  bool quick = false;  ///< tiny sizes and few repeats, only to see that it runs
  Effort effort;

  Size size(Size full) const { return quick ? Size{full.width / 8, full.height / 8} : full; }
};

/// A part of a study that can run alone.
struct StudyPart {
  const char* name;
  /// Makes the tables, and may draw. Empty in a build without CUDA.
  std::function<std::vector<Table>(const Study&)> tables;
  bool timed = false, reads_sequences = false, takes_cuda = false;
};

struct StudyProgram {
  const char *about, *title;
  std::vector<StudyPart> parts;
  Effort effort = {};
};

/// main() of a study.
int run_study(int argc, char** argv, const StudyProgram& program);

}  // namespace parafield::bench
