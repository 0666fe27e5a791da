#pragma once
#include <functional>

#include "common/pairs.hpp"
#include "common/report.hpp"
#include "common/timing.hpp"

/// What a study is asked to do, and the program around one.
namespace parafield::bench {

struct Study {
  Device device;
  std::optional<std::filesystem::path> data;  ///< folder of real sequences
  std::filesystem::path pictures;             ///< folder of the PNGs, which is there; empty = none are drawn
  bool quick = false;                         ///< tiny sizes and few repeats: only to see that it runs
  Effort effort;

  Size size(Size full) const { return quick ? Size{full.width / 8, full.height / 8} : full; }
};

/// What can be done by itself.
struct StudyPart {
  const char* name;
  /// It may draw, too; empty where the build has no CUDA.
  std::function<std::vector<Table>(const Study&)> tables;
  bool timed = false, reads_sequences = false, takes_cuda = false;
};

struct StudyProgram {
  const char *about, *title;
  std::vector<StudyPart> parts;
  Effort effort = {};
  bool draws = false;
};

/// main() of a study.
int run_study(int argc, char** argv, const StudyProgram& program);

}  // namespace parafield::bench
