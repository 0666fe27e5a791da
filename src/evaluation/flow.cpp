// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <numbers>

#include "evaluation/counting.hpp"

namespace parafield {
namespace {

/// Running mean and deviation (Welford 1962). With a plain sum of squares, equal errors at all pixels would
/// give a deviation above 0.
struct Moments {
  double mean = 0, squares = 0;
  std::int64_t count = 0;

  void add(double value) {
    const double difference = value - mean;
    mean += difference / double(++count);
    squares += difference * (value - mean);
  }
  double deviation() const { return std::sqrt(squares / double(count)); }
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

  FlowScores scores;
  Moments angle, endpoint;
  std::int64_t above1 = 0, above3 = 0, above5 = 0;
  const auto known = [](const FlowView& field, int x, int y) {
    return has_value(field.u(x, y), field.v(x, y));
  };
  score_pixels(scores, estimate, truth, options, known, [&](int x, int y) {
    const float u = estimate.u(x, y), v = estimate.v(x, y), true_u = truth.u(x, y), true_v = truth.v(x, y);
    angle.add(angular_error(u, v, true_u, true_v));
    const double error = endpoint_error(u, v, true_u, true_v);
    endpoint.add(error);
    above1 += error > 1;
    above3 += error > 3;
    above5 += error > 5;
  });

  const std::int64_t pixels = scores.pixels;
  scores.aae = pixels ? angle.mean : nan;
  scores.aae_std = pixels ? angle.deviation() : nan;
  scores.epe = pixels ? endpoint.mean : nan;
  scores.epe_std = pixels ? endpoint.deviation() : nan;
  scores.r1 = share(above1, pixels);
  scores.r3 = share(above3, pixels);
  scores.r5 = share(above5, pixels);
  return scores;
}

}  // namespace parafield
