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
};
Difference difference(const FlowField& a, const FlowField& b);

}  // namespace parafield::bench
