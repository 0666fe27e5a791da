// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <numbers>
#include <tuple>
#include <vector>

#include "evaluation/scores.hpp"

namespace parafield {
namespace {

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

bool is_known(const FlowView& field, int x, int y) { return has_value(field.u(x, y), field.v(x, y)); }
bool is_known(const DisparityView& field, int x, int y) { return has_value(field.d(x, y)); }

void check_field(const FlowView& field, const std::string& what) { check_flow(field, what.c_str()); }
void check_field(const DisparityView& field, const std::string& what) {
  check_disparity(field, what.c_str());
}

/// Checks the fields and calls score(x, y), which returns an error, for each pixel that counts, row by row.
/// Sets the counts, the density and the areas under the curves. `what` names the quantity.
template <class Scores, class Field, class Score>
void score_pixels(Scores& scores, const Field& estimate, const Field& truth, const EvaluationOptions& options,
                  const char* what, Score score) {
  const std::string estimated = text("the estimated ", what), exact = text("the true ", what);
  check_field(truth, exact);
  check_field(estimate, estimated);
  check_sizes(estimated.c_str(), estimate.size(), (exact + " has").c_str(), truth.size(), options);
  if (options.confidence && !estimate.confidence)
    fail_value(estimated,
               " has no confidence to score; results of estimators have one, fields from files do not");
  std::int64_t known = 0, trusted = 0;
  std::vector<RankedError> ranked;
  for_each_pixel(truth.size(), [&](int x, int y) {
    if (!is_set(options.mask, x, y)) return;
    if (!is_set(truth.valid, x, y) || !is_known(truth, x, y)) {
      ++scores.unknown;
      return;
    }
    ++known;
    if (!is_known(estimate, x, y)) {
      ++scores.missing;
      return;
    }
    const bool valid = is_set(estimate.valid, x, y);
    trusted += valid;
    if (options.valid_only && !valid) return;
    ++scores.pixels;
    const double error = score(x, y);
    if (options.confidence) ranked.push_back({estimate.confidence(x, y), error});
  });
  scores.density = share(trusted, known);
  if (options.confidence) std::tie(scores.auc, scores.auc_best) = areas_under_curves(ranked);
}

}  // namespace

FlowScores evaluate(const In<FlowView>& estimate, const In<FlowView>& truth,
                    const EvaluationOptions& options) {
  FlowScores scores;
  Moments angle, endpoint;
  score_pixels<FlowScores, FlowView>(scores, estimate, truth, options, "flow", [&](int x, int y) {
    const float u = estimate.u(x, y), v = estimate.v(x, y), true_u = truth.u(x, y), true_v = truth.v(x, y);
    const double error = endpoint_error(u, v, true_u, true_v);
    angle.add(angular_error(u, v, true_u, true_v));
    endpoint.add(error);
    scores.r1 += error > 1;
    scores.r3 += error > 3;
    scores.r5 += error > 5;
    return error;
  });

  scores.aae = angle.average();
  scores.aae_std = angle.deviation();
  scores.epe = endpoint.average();
  scores.epe_std = endpoint.deviation();
  // Up to here they are counts, which are exact in float64.
  for (double* score : {&scores.r1, &scores.r3, &scores.r5}) *score = share(*score, scores.pixels);
  return scores;
}

DisparityScores evaluate(const In<DisparityView>& estimate, const In<DisparityView>& truth,
                         const EvaluationOptions& options) {
  DisparityScores scores;
  double squares = 0;
  score_pixels<DisparityScores, DisparityView>(
      scores, estimate, truth, options, "disparity", [&](int x, int y) {
        const double true_d = truth.d(x, y), error = std::abs(estimate.d(x, y) - true_d);
        scores.average += error;
        squares += error * error;
        scores.bad_0_5 += error > 0.5;
        scores.bad_1 += error > 1;
        scores.bad_2 += error > 2;
        scores.bad_4 += error > 4;
        scores.d1_all += error > 3 && error > 0.05 * std::abs(true_d);
        return error;
      });

  // Up to here they are sums over the pixels; counts are exact in float64.
  for (double* score :
       {&scores.bad_0_5, &scores.bad_1, &scores.bad_2, &scores.bad_4, &scores.average, &scores.d1_all})
    *score = share(*score, scores.pixels);
  scores.rms = std::sqrt(share(squares, scores.pixels));
  return scores;
}

}  // namespace parafield
