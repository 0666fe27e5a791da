// SPDX-License-Identifier: MIT
#pragma once
#include "grauer_gray/study.hpp"

namespace parafield::bench {

/// Run of belief propagation that is timed. Other parameters are the paper's.
struct Run {
  enum class Task { stereo, motion };
  Task task = Task::stereo;
  Size size;
  int range = 0;  ///< number of disparities, or max_displacement
  int levels = 5, iterations = 7, blocks = 1;

  int labels() const { return task == Task::stereo ? range : (2 * range + 1) * (2 * range + 1); }
  std::string steps() const;  ///< "5 x 7"
};

/// The run with the study's size.
Run scaled(const Study& study, Run run);

constexpr Precision precisions[] = {Precision::exact, Precision::fast};
inline std::string name_of(Precision precision) {
  return std::string(names_of(precision)[std::size_t(precision)]);
}

/// Times of a run on three pairs of rendered frames in turn, with frames and result in `memory`. NaN if the
/// device has too little memory.
Times times_of(const Study& study, const Run& run, Precision precision, Memory memory);

}  // namespace parafield::bench
