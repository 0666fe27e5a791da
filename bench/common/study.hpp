// SPDX-License-Identifier: MIT
#pragma once
#include <functional>

#include "common/report.hpp"
#include "common/scenes.hpp"
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
  bool on_cuda() const { return device.kind == Device::Kind::cuda; }
};

constexpr Precision precisions[] = {Precision::exact, Precision::fast};
inline std::string name_of(Precision precision) {
  return std::string(names_of(precision)[std::size_t(precision)]);
}

/// A part of a study that can run alone.
struct StudyPart {
  const char* name;
  std::function<std::vector<Table>(const Study&)> tables;  ///< empty in a build without CUDA
  bool takes_cuda = false;
};

struct StudyProgram {
  const char *about, *title;
  std::vector<StudyPart> parts;
  std::function<void(const Study&)> draw;  ///< draws the paper's figures: the part "pictures"
  Effort effort = {};
};

/// Each study defines it, and common/study.cpp has the main() that runs it.
StudyProgram study_program();

}  // namespace parafield::bench
