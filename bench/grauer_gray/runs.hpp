#pragma once
#include "grauer_gray/study.hpp"

namespace parafield::bench {

/// Belief propagation that is timed, with the method's defaults otherwise.
struct Run {
  enum class Task { stereo, motion };
  Task task = Task::stereo;
  Size size;
  int range = 0;  ///< disparities, or the longest displacement
  int levels = 5, iterations = 7, blocks = 1;

  int labels() const { return task == Task::stereo ? range : (2 * range + 1) * (2 * range + 1); }
  std::string steps() const;  ///< "5 x 7"
};

/// With the study's sizes.
Run scaled(const Study& study, Run run);

constexpr Precision precisions[] = {Precision::exact, Precision::fast};
inline std::string name_of(Precision precision) {
  return std::string(names_of(precision)[std::size_t(precision)]);
}

/// NaN where the device has too little memory. Frames and result in `memory`; three pairs of rendered frames in turn.
Times times_of(const Study& study, const Run& run, Precision precision, Memory memory);

}  // namespace parafield::bench
