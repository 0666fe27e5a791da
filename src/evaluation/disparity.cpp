// SPDX-License-Identifier: MIT
#include <cmath>
#include <tuple>
#include <vector>

#include "evaluation/counting.hpp"
#include "evaluation/sparsification.hpp"

namespace parafield {

DisparityScores evaluate(const In<DisparityView>& estimate, const In<DisparityView>& truth,
                         const EvaluationOptions& options) {
  check_disparity(truth, "the true disparity");
  check_disparity(estimate, "the estimated disparity");
  check_sizes("the estimated disparity", estimate.size(), "the true disparity", truth.size(), options);
  check_confidence("the estimated disparity", estimate.confidence, options);

  DisparityScores scores;
  double squares = 0;
  std::vector<RankedError> ranked;
  score_pixels(scores, estimate, truth, options, [&](int x, int y) {
    const double true_d = truth.d(x, y), error = std::abs(estimate.d(x, y) - true_d);
    scores.average += error;
    if (options.confidence) ranked.push_back({estimate.confidence(x, y), error});
    squares += error * error;
    scores.bad_0_5 += error > 0.5;
    scores.bad_1 += error > 1;
    scores.bad_2 += error > 2;
    scores.bad_4 += error > 4;
    scores.d1_all += error > 3 && error > 0.05 * std::abs(true_d);
  });

  if (options.confidence) std::tie(scores.auc, scores.auc_best) = areas_under_curves(ranked);
  // Up to here they are sums over the pixels; counts are exact in float64.
  for (double* score :
       {&scores.bad_0_5, &scores.bad_1, &scores.bad_2, &scores.bad_4, &scores.average, &scores.d1_all})
    *score = share(*score, scores.pixels);
  scores.rms = std::sqrt(share(squares, scores.pixels));
  return scores;
}

}  // namespace parafield
