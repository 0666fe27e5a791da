#pragma once
#include "guided/labels/labels.hpp"

/// The best of the labels (Kim, Algs. 2 and 3).
namespace parafield {

struct VoteParameters {
  ChangeTest test;
  float softness;  ///< 0 = labels pass the test or fail
  int ranked;      ///< labels that may win, the best scores first; 0 = all
  bool unvoted;    ///< labels that score 0 come last; with softness they are never the best
  bool sub_pixel;
  bool fast;         ///< with fast_cutoff, and on CUDA the device's own exponentials
  float vote_scale;  ///< of the FlowSpace
};

/// Each pixel's label: a label's score is the sum of the guides' votes for it, weighted by their likelihoods; of those that
/// pass the change test the best wins, ties go to the first. Where none passes, the label of the best score stands, not
/// valid. Where there is no guide (or there were too many labels), flow and confidence are 0. frame0, frame1: what the test
/// compares; colors: what likelihoods compare. valid and confidence may be no images. On the CPU it needs vote_scratch bytes of a thread.
template <class Backend>
void vote(Backend& backend, const Guides& guides, const Labels& labels, const Colors& colors,
          const Colors& frame0, const Colors& frame1, LikelihoodScale scale,
          const VoteParameters& parameters, const Homography* turn, FlowPlanes flow, View<std::uint8_t> valid,
          View<float> confidence);

/// Bytes; 0 on CUDA.
template <class Backend>
std::size_t vote_scratch(const Backend& backend, int guides, int labels);

/// What a label is worth that differs by `difference` (NaN = it ends outside); 0 = nothing. Never more than its score: so a
/// label whose score is not enough need not be tested. A score of 0 is no hypothesis, or one of the last.
PF_HD float value_of(float score, float difference, float threshold, float softness) {
  const bool passes = softness > 0 ? difference >= 0 : difference < threshold;
  if (!passes) return 0;
  return softness > 0 ? score * exponential(-difference / softness) : score;
}

/// The best label so far, whatever the order in which labels come.
struct Winner {
  float value = 0, difference = __builtin_nanf(""), score = 0;
  int label = -1;

  PF_HD bool may_lose_to(float most, int other) const {
    return (most > value) | ((most == value) & (other < label));
  }
  PF_HD void meet(float other_value, float other_difference, float other_score, int other) {
    const bool better = (other_value > 0) & may_lose_to(other_value, other);
    value = better ? other_value : value;
    difference = better ? other_difference : difference;
    score = better ? other_score : score;
    label = better ? other : label;
  }
};

/// Whether a label that scores 0 may win: where no other has.
PF_HD bool takes_unvoted(const Winner& winner, const VoteParameters& p) {
  return p.unvoted & (p.softness == 0) & (winner.label < 0);
}

/// Of a label that scores ahead of the winner.
PF_HD bool is_ahead(float score, int label, float winner_score, int winner) {
  return (score > winner_score) | ((score == winner_score) & (label < winner));
}

/// The turning camera's motion as a label: where there is none it is no hypothesis.
PF_HD bool is_motion(const Motion& motion) { return is_finite(motion.u) & is_finite(motion.v); }

}  // namespace parafield
