// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>
#include <vector>

#include "evaluation/counting.hpp"
#include "evaluation/sparsification.hpp"

namespace parafield {
namespace {

/// Running mean and deviation (Welford 1962). A plain sum of squares would give a deviation above 0 even if
/// the errors of all pixels are equal.
struct Moments {
  double mean = 0, squares = 0;
  std::int64_t count = 0;

  void add(double value) {
    const double difference = value - mean;
    mean += difference / double(++count);
    squares += difference * (value - mean);
  }
  double deviation() const { return std::sqrt(share(squares, count)); }  ///< NaN without values
};

/// Angle between (u, v, 1) and (true_u, true_v, 1), degrees (Marzat section 2.4). Rounding can move the
/// cosine out of [-1, 1].
double angular_error(double u, double v, double true_u, double true_v) {
  const double dot = u * true_u + v * true_v + 1;
  const double lengths = std::sqrt((u * u + v * v + 1) * (true_u * true_u + true_v * true_v + 1));
  return std::acos(std::clamp(dot / lengths, -1.0, 1.0)) * (180 / std::numbers::pi);
}

double endpoint_error(double u, double v, double true_u, double true_v) {
  return std::sqrt((u - true_u) * (u - true_u) + (v - true_v) * (v - true_v));
}

}  // namespace

FlowScores evaluate(const In<FlowView>& estimate, const In<FlowView>& truth,
                    const EvaluationOptions& options) {
  check_flow(truth, "the true flow");
  check_flow(estimate, "the estimated flow");
  check_sizes("the estimated flow", estimate.size(), "the true flow", truth.size(), options);
  check_confidence("the estimated flow", estimate.confidence, options);

  FlowScores scores;
  Moments angle, endpoint;
  std::vector<RankedError> ranked;
  score_pixels(scores, estimate, truth, options, [&](int x, int y) {
    const float u = estimate.u(x, y), v = estimate.v(x, y), true_u = truth.u(x, y), true_v = truth.v(x, y);
    angle.add(angular_error(u, v, true_u, true_v));
    const double error = endpoint_error(u, v, true_u, true_v);
    endpoint.add(error);
    if (options.confidence) ranked.push_back({estimate.confidence(x, y), error});
    scores.r1 += error > 1;
    scores.r3 += error > 3;
    scores.r5 += error > 5;
  });

  scores.aae = scores.pixels ? angle.mean : nan;
  scores.aae_std = angle.deviation();
  scores.epe = scores.pixels ? endpoint.mean : nan;
  scores.epe_std = endpoint.deviation();
  if (options.confidence) std::tie(scores.auc, scores.auc_best) = areas_under_curves(ranked);
  // Up to here they are counts, which are exact in float64.
  for (double* score : {&scores.r1, &scores.r3, &scores.r5}) *score = share(*score, scores.pixels);
  return scores;
}

}  // namespace parafield
