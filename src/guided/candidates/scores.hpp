// SPDX-License-Identifier: MIT
#pragma once
#include "guided/candidates/labels.hpp"
#include "parafield/methods/multi_hypothesis.hpp"

/// Scores of labels, and the best label that passes the color test (Kim, Algs. 2 and 3).
namespace parafield {

/// Parameters of the method that affect the choice of labels.
struct ChoiceParameters {
  float softness;    ///< 0 = labels either pass the color test or fail
  int ranked;        ///< only this many labels with the best scores can be chosen; 0 = all
  bool unvoted;      ///< labels of score 0 are tested last; with softness, they are never chosen
  bool sub_pixel;    ///< flow is the mean of the features' flows, weighted by their votes
  bool fast;         ///< use fast_cutoff and, on CUDA, the device's own exponentials
  float vote_scale;  ///< vote_scale of the FlowSpace
};
inline ChoiceParameters choice_parameters(const MultiHypothesis& method, const FlowSpace& space) {
  const bool fast = method.precision == Precision::fast;
  return {method.change_softness, method.ranked, method.unvoted, method.sub_pixel, fast, space.vote_scale};
}

/// Input and output of choose_labels.
struct LabelChoice {
  FlowFeatures features;
  Labels labels;
  Colors colors;  ///< colors that likelihoods compare
  LikelihoodScale scale;
  ColorTest test;  ///< its `valid` may be empty
  ChoiceParameters p;
  FlowPlanes flow;
  View<float> confidence;  ///< may be empty
};

/// Chooses each pixel's label. A label's score is the sum of the features' votes for it, weighted by their
/// likelihoods. Among the labels that pass the color test, the one with the best score is chosen; the lowest
/// label wins ties. If none passes, the label with the best score is taken, and the pixel is invalid. Without
/// features or labels, flow and confidence are 0. Confidence: the score divided by the sum of all weights. A
/// CPU thread needs tile_scratch(features, choice_planes(labels)).
template <class Backend>
void choose_labels(Backend& backend, const LabelChoice& choice);

PF_HD constexpr int choice_planes(int labels) { return 31 + labels; }

/// Value of a label whose colors differ by `difference` (NaN if the match is outside); 0 = it cannot be
/// chosen. The value never exceeds the score, so a label whose score is too low need not be tested.
PF_HD float value_of(float score, float difference, float threshold, float softness) {
  const bool passes = softness > 0 ? difference >= 0 : difference < threshold;
  if (!passes) return 0;
  return softness > 0 ? score * exponential(-difference / softness) : score;
}

/// The best label so far. Labels can be compared in any order.
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

/// Whether labels of score 0 are tested, which happens only if no other label has passed.
PF_HD bool tests_unvoted(const BestLabel& best, const ChoiceParameters& p) {
  return p.unvoted & (p.softness == 0) & (best.label < 0);
}

/// Whether a label has a better score than the best label, or the same score and a lower index.
PF_HD bool is_ahead(float score, int label, float best_score, int best) {
  return (score > best_score) | ((score == best_score) & (label < best));
}

/// Whether the rotation has a flow at a pixel. If not, its label scores 0.
PF_HD bool is_motion(const Motion& motion) { return is_finite(motion.u) & is_finite(motion.v); }

}  // namespace parafield
