// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "kim/guided.hpp"
#include "kim/pixel.hpp"

namespace parafield::bench {

/// Input of the study's own code: a pair of frames, its features and labels.
struct Problem {
  Size size;
  std::vector<float> pixels[6];
  std::vector<Feature> features;
  std::vector<Label> labels;  ///< whole px: the grid of the tracks' flows
  std::vector<float> votes;   ///< votes of each feature for each label
  Spread spread;
  float threshold;

  Problem(const Guided& guided, const MultiHypothesis& method);
  Planes planes() const;
};

std::vector<Problem> problems_of(const std::vector<Guided>& inputs, const MultiHypothesis& method);

/// The labels and features that the paper measures.
struct Case {
  Size labels;
  int features;
};
constexpr Case paper_cases[] = {{{4, 2}, 200}, {{5, 5}, 422}};

enum class Gauss { computed, table };
enum class Form { by_label, product };

/// Algorithms of the paper as plain C++ for one thread: pixel by pixel, in floats, in host memory.
FlowField interpolate_serially(const Problem& problem, Gauss gauss);
FlowField vote_serially(const Problem& problem, Form form);

/// The table of LookUp.
std::vector<float> gauss_table();

/// Differences of two flow fields: share of pixels that only one calls valid; among pixels that both call
/// valid, the share whose flow differs by more than 0.01 px, and the largest difference, px.
struct Difference {
  double other_valid, other_flow, largest;

  /// Throws Error(device) if the labels of `program` differ from the library's at more than 1 % of the
  /// pixels.
  void check_labels(const std::string& program) const {
    if (!(other_valid < 0.01 && other_flow < 0.01))
      throw Error(ErrorCode::device, program + ": other labels than the library's");
  }
};
Difference difference(const FlowField& a, const FlowField& b);

// On a CUDA device:

/// Time of a kernel or of the library, and its result for the first input.
struct KernelTime {
  const char* program;
  std::string name;
  double ms, library_ms;
  FlowField flow;
};
std::vector<KernelTime> vote_kernel_times(const Study& study, const std::vector<Problem>& problems,
                                          const std::vector<Guided>& inputs, const MultiHypothesis& method);
std::vector<KernelTime> interpolation_kernel_times(const Study& study, const std::vector<Problem>& problems,
                                                   const std::vector<Guided>& inputs,
                                                   const DirectInterpolation& method);

}  // namespace parafield::bench
