// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "evaluation/scores.hpp"

namespace parafield {
namespace {

/// Scores of one probability.
class ProbabilityScores {
 public:
  void add(double probability, bool happened) {
    const double difference = probability - (happened ? 1 : 0);
    squares_ += difference * difference;
    ++count_;
    const auto bin = std::ranges::upper_bound(bounds, probability) - std::begin(bounds);
    Bin& its = bins_[bin];
    its.probability += probability, its.happened += happened, ++its.count;
  }
  double brier() const { return share(squares_, count_); }
  double calibration_error() const {
    double sum = 0;
    for (const Bin& bin : bins_)
      if (bin.count) sum += std::abs(bin.probability - double(bin.happened));
    return share(sum, count_);
  }

 private:
  static constexpr double bounds[] = {0.05, 0.1, 0.2, 0.4, 0.6};
  struct Bin {
    double probability = 0;
    std::int64_t happened = 0, count = 0;
  };
  Bin bins_[std::size(bounds) + 1];
  double squares_ = 0;
  std::int64_t count_ = 0;
};

/// A pixel's error by its error bars: its squared distance in standard deviations, and the covariance's trace.
struct Normalized {
  double squared, trace;
};

/// Squared errors, in standard deviations, that 68 and 95 % of the errors do not exceed: chi-squared with one
/// degree of freedom for disparities, with two for flow.
struct Ellipses {
  double of68, of95;
};

void check_bars(const FlowView& field, const char* what) { check_flow(field, what); }
void check_bars(const DisparityView& field, const char* what) { check_disparity(field, what); }
bool is_known_at(const FlowView& field, int x, int y) { return has_value(field.u(x, y), field.v(x, y)); }
bool is_known_at(const DisparityView& field, int x, int y) { return has_value(field.d(x, y)); }

/// error(x, y): length of the pixel's error. normalized(x, y): see Normalized; called only with a covariance.
template <class Field, class Error, class Normalize>
ErrorBarScores score_bars(const Field& estimate, const Field& truth, const EvaluationOptions& options,
                          bool has_covariance, const Ellipses& ellipses, Error error_at,
                          Normalize normalized_at) {
  check_bars(truth, "the true field");
  check_bars(estimate, "the estimated field");
  check_sizes("the estimated field", estimate.size(), "the true field has", truth.size(), options);
  if (!has_covariance && !estimate.outlier)
    fail_value("the estimated field has no error bars; estimators add them on request");
  ErrorBarScores scores;
  ProbabilityScores above1, above3;
  std::vector<RankedError> ranked;
  std::int64_t inside68 = 0, inside95 = 0, unflagged = 0, flagged = 0, large = 0;
  for_each_pixel(truth.size(), [&](int x, int y) {
    if (!is_set(options.mask, x, y) || !is_set(truth.valid, x, y) || !is_known_at(truth, x, y) ||
        !is_known_at(estimate, x, y) || (options.valid_only && !is_set(estimate.valid, x, y)))
      return;
    ++scores.pixels;
    const double error = error_at(x, y), outlier = estimate.outlier ? double(estimate.outlier(x, y)) : 0;
    large += error > 1;
    flagged += outlier >= 0.5;
    if (estimate.outlier) above1.add(outlier, error > 1);
    if (estimate.outlier3) above3.add(double(estimate.outlier3(x, y)), error > 3);
    if (!has_covariance) return;
    const Normalized normalized = normalized_at(x, y);
    ranked.push_back({float(-(std::sqrt(normalized.trace) + 4 * outlier)), error});
    if (outlier >= 0.5) return;
    ++unflagged;
    inside68 += normalized.squared <= ellipses.of68;
    inside95 += normalized.squared <= ellipses.of95;
  });
  scores.inside68 = share(inside68, unflagged);
  scores.inside95 = share(inside95, unflagged);
  scores.above1 = share(large, scores.pixels);
  if (estimate.outlier)
    scores.flagged = share(flagged, scores.pixels), scores.brier1 = above1.brier(),
    scores.ece1 = above1.calibration_error();
  if (estimate.outlier3) scores.brier3 = above3.brier(), scores.ece3 = above3.calibration_error();
  if (!has_covariance) return scores;
  const auto [area, best] = areas_under_curves(ranked);
  scores.ause = area - best;
  return scores;
}

}  // namespace

ErrorBarScores evaluate_error_bars(const In<FlowView>& estimate, const In<FlowView>& truth,
                                   const EvaluationOptions& options) {
  const auto& [xx, xy, yy] = estimate.covariance;
  const View<const float> sxx = xx, sxy = xy, syy = yy;
  const auto error_of = [&](int x, int y) {
    return std::pair(double(estimate.u(x, y)) - truth.u(x, y), double(estimate.v(x, y)) - truth.v(x, y));
  };
  return score_bars<FlowView>(
      estimate, truth, options, bool(sxx), {2.27887, 5.99146},
      [&](int x, int y) {
        const auto error = error_of(x, y);
        return std::hypot(error.first, error.second);
      },
      [&](int x, int y) -> Normalized {
        const auto error = error_of(x, y);
        const double a = sxx(x, y), b = sxy(x, y), c = syy(x, y), u = error.first, v = error.second;
        const double trace = a + c;
        if (!std::isfinite(trace)) return {0, trace};
        return {(c * u * u - 2 * b * u * v + a * v * v) / (a * c - b * b), trace};
      });
}

ErrorBarScores evaluate_error_bars(const In<DisparityView>& estimate, const In<DisparityView>& truth,
                                   const EvaluationOptions& options) {
  const auto error_at = [&](int x, int y) { return std::abs(double(estimate.d(x, y)) - truth.d(x, y)); };
  return score_bars<DisparityView>(estimate, truth, options, bool(estimate.sigma), {0.98895, 3.84146},
                                   error_at, [&](int x, int y) -> Normalized {
                                     const double sigma = estimate.sigma(x, y),
                                                  ratio = error_at(x, y) / sigma;
                                     return {ratio * ratio, sigma * sigma};
                                   });
}

}  // namespace parafield
