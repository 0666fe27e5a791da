// SPDX-License-Identifier: MIT
#pragma once
#include "guided/candidates/labels.hpp"
#include "parafield/methods/multi_hypothesis.hpp"

/// Scores of labels, and the best label that passes the color test (Kim, Algs. 2 and 3).
namespace parafield {

/// The method's parameters that the choice of labels needs.
struct ChoiceParameters {
  float softness;    ///< 0 = labels pass the color test or fail
  int ranked;        ///< only so many labels of the best scores can be chosen; 0 = all
  bool unvoted;      ///< labels of score 0 are tested last; with softness they are never chosen
  bool sub_pixel;    ///< flow is the mean of the features' flows by their votes
  bool fast;         ///< fast_cutoff, and on CUDA the device's own exponentials
  float vote_scale;  ///< that of the FlowSpace
};
inline ChoiceParameters choice_parameters(const MultiHypothesis& method, const FlowSpace& space) {
  const bool fast = method.precision == Precision::fast;
  return {method.change_softness, method.ranked, method.unvoted, method.sub_pixel, fast, space.vote_scale};
}

/// Input and output of choose_labels.
struct LabelChoice {
  FlowFeatures features;
  Labels labels;
  Colors colors;  ///< likelihoods compare them
  LikelihoodScale scale;
  ColorTest test;  ///< its `valid` may be no image
  ChoiceParameters p;
  FlowPlanes flow;
  View<float> confidence;  ///< may be no image
};

/// Chooses each pixel's label. A label's score is the sum of the features' votes, weighted by their
/// likelihoods. The label of the best score that passes the color test is chosen, the first of equals; if
/// none passes, that of the best score, not valid. Without features or labels, flow and confidence are 0.
/// Confidence: the score's share of all weights. A CPU thread needs tile_scratch(features,
/// choice_planes(labels)).
template <class Backend>
void choose_labels(Backend& backend, const LabelChoice& choice);

PF_HD constexpr int choice_planes(int labels) { return 31 + labels; }

/// Value of a label whose colors differ by `difference` (NaN where it ends outside); 0 = it cannot be chosen.
/// It is never above the score: a label whose score is too low need not be tested.
PF_HD float value_of(float score, float difference, float threshold, float softness) {
  const bool passes = softness > 0 ? difference >= 0 : difference < threshold;
  if (!passes) return 0;
  return softness > 0 ? score * exponential(-difference / softness) : score;
}

/// The best label so far. Labels may come in any order.
struct BestLabel {
  float value = 0, difference = __builtin_nanf(""), score = 0;
  int label = -1;

  PF_HD bool can_lose_to(float most, int other) const {
    return (most > value) | ((most == value) & (other < label));
  }
  PF_HD void compare(float other_value, float other_difference, float other_score, int other) {
    const bool better = (other_value > 0) & can_lose_to(other_value, other);
    value = better ? other_value : value;
    difference = better ? other_difference : difference;
    score = better ? other_score : score;
    label = better ? other : label;
  }
};

/// Whether labels of score 0 are tested: where no other passed.
PF_HD bool tests_unvoted(const BestLabel& best, const ChoiceParameters& p) {
  return p.unvoted & (p.softness == 0) & (best.label < 0);
}

/// Whether a label has a better score than the best label, or the same and a lower number.
PF_HD bool is_ahead(float score, int label, float best_score, int best) {
  return (score > best_score) | ((score == best_score) & (label < best));
}

/// Whether the rotation has a flow at a pixel: otherwise its label scores 0.
PF_HD bool is_motion(const Motion& motion) { return is_finite(motion.u) & is_finite(motion.v); }

}  // namespace parafield
