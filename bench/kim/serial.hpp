#pragma once
#include <vector>

#include "kim/guided.hpp"
#include "kim/pixel.hpp"

namespace parafield::bench {

/// A pair of frames, its features and labels, as the study's own code takes them.
struct Problem {
  Size size;
  std::vector<float> pixels[6];
  std::vector<Feature> features;
  std::vector<Label> labels;  ///< of whole px: the grid of the tracks' flows
  std::vector<float> votes;   ///< of each feature for each label
  Spread spread;
  float threshold;

  Problem(const Guided& guided, const MultiHypothesis& method);
  Planes planes() const;
};

enum class Gauss { computed, table };
enum class Form { by_label, product };

/// The paper's algorithms as a plain program in C++ for one thread: pixel by pixel, in floats. Host memory.
FlowField interpolate_serially(const Problem& problem, Gauss gauss);
FlowField vote_serially(const Problem& problem, Form form);

/// LookUp's.
std::vector<float> gauss_table();

/// Over the pixels that both call valid: the share whose flow differs by more than 0.01 px; and the largest difference.
struct Difference {
  double other_valid, other_flow, largest;
};
Difference difference(const FlowField& a, const FlowField& b);

}  // namespace parafield::bench
