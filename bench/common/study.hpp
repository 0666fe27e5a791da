#pragma once
#include "common/pairs.hpp"
#include "common/report.hpp"
#include "common/timing.hpp"

/// What a study is asked to do, and the program around one.
namespace parafield::bench {

struct Study {
  Device device;
  std::optional<std::filesystem::path> data;  ///< folder of real sequences
  bool quick = false;                         ///< tiny sizes and few repeats: only to see that it runs
  Effort effort;

  Size size(Size full) const { return quick ? Size{full.width / 8, full.height / 8} : full; }
};

/// A study whose parts can be done one by one.
struct StudyParts {
  const char *about, *title;
  Effort effort;
  std::vector<Table> (*speed)(const Study&);
  std::vector<Table> (*quality)(const Study&);
  void (*draw)(const Study&, const std::filesystem::path& folder);  ///< PNGs in a folder that is there
};

/// main() of such a study.
int run_study(int argc, char** argv, const StudyParts& parts);

}  // namespace parafield::bench
