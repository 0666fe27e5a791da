// SPDX-License-Identifier: MIT
// Scores of error bars, on fields whose scores are known.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "parafield/evaluation.hpp"
#include "parafield/parafield.hpp"

namespace parafield {
namespace {

constexpr Size scored{200, 200};

/// Flow with errors that are drawn from its own covariance, times `scale`; the truth is 0.
FlowField drawn_flow(double scale, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  FlowField flow(scored, {}, FieldPlanes{.covariance = true, .outlier = true});
  for (int y = 0; y < scored.height; ++y)
    for (int x = 0; x < scored.width; ++x) {
      const double a = 0.02 + 0.01 * (x % 5), b = 0.03 * ((y % 7) - 3) / 3, c = 0.01 + 0.02 * (y % 3);
      const double first = normal(random), second = normal(random);
      flow.u(x, y) = float(scale * a * first);
      flow.v(x, y) = float(scale * (b * first + c * second));
      flow.covariance.xx(x, y) = float(a * a);
      flow.covariance.xy(x, y) = float(a * b);
      flow.covariance.yy(x, y) = float(b * b + c * c);
      flow.valid(x, y) = 1;
    }
  return flow;
}
FlowField zero_flow() {
  FlowField flow(scored);
  for (int y = 0; y < scored.height; ++y)
    for (int x = 0; x < scored.width; ++x) flow.valid(x, y) = 1;
  return flow;
}

TEST(ErrorBarScores, EllipsesHoldErrorsDrawnFromThem) {
  const ErrorBarScores scores = evaluate_error_bars(drawn_flow(1, 1), zero_flow());
  EXPECT_NEAR(scores.inside68, 0.68, 0.01);
  EXPECT_NEAR(scores.inside95, 0.95, 0.01);
  EXPECT_EQ(scores.pixels, 40000);
  EXPECT_EQ(scores.flagged, 0);
  const ErrorBarScores small = evaluate_error_bars(drawn_flow(0.1, 1), zero_flow()),
                       large = evaluate_error_bars(drawn_flow(3, 1), zero_flow());
  EXPECT_GT(small.inside68, 0.99);
  EXPECT_LT(large.inside95, 0.35);
}

TEST(ErrorBarScores, IntervalsHoldErrorsDrawnFromThem) {
  std::mt19937 random(2);
  std::normal_distribution<double> normal;
  DisparityField field(scored, {}, FieldPlanes{.covariance = true}), truth(scored);
  for (int y = 0; y < scored.height; ++y)
    for (int x = 0; x < scored.width; ++x) {
      field.sigma(x, y) = 0.1f + 0.1f * float(x % 3);
      field.d(x, y) = float(double(field.sigma(x, y)) * normal(random));
      field.valid(x, y) = truth.valid(x, y) = 1;
    }
  const ErrorBarScores scores = evaluate_error_bars(field, truth);
  EXPECT_NEAR(scores.inside68, 0.68, 0.01);
  EXPECT_NEAR(scores.inside95, 0.95, 0.01);
  EXPECT_TRUE(std::isnan(scores.brier1));
  EXPECT_TRUE(std::isnan(scores.flagged));
}

TEST(ErrorBarScores, ProbabilitiesAreScoredAndFlagPixels) {
  FlowField flow = drawn_flow(1, 3);
  for (int y = 0; y < scored.height; ++y)
    for (int x = 0; x < scored.width; ++x) {
      const bool wrong = x < 50;
      if (wrong) flow.u(x, y) = 2;
      flow.outlier(x, y) = wrong ? 0.9f : 0.1f;
      flow.outlier3(x, y) = 0.02f;
    }
  const ErrorBarScores scores = evaluate_error_bars(flow, zero_flow());
  EXPECT_NEAR(scores.flagged, 0.25, 1e-9);
  EXPECT_NEAR(scores.above1, 0.25, 1e-9);
  EXPECT_NEAR(scores.brier1, 0.01, 1e-6);
  EXPECT_NEAR(scores.ece1, 0.1, 1e-6);
  EXPECT_NEAR(scores.brier3, 0.0004, 1e-6);
  EXPECT_NEAR(scores.inside68, 0.68, 0.01);  // without the flagged ones
}

/// A perfect ranking has no area; a reversed one has a large one.
TEST(ErrorBarScores, AreaUnderTheCurveRanks) {
  FlowField flow = drawn_flow(1, 4);
  const auto rank = [&](bool reversed) {
    for (int y = 0; y < scored.height; ++y)
      for (int x = 0; x < scored.width; ++x) {
        const float error = std::hypot(flow.u(x, y), flow.v(x, y));
        const float sigma = reversed ? 1 / (1 + error) : error;
        flow.covariance.xx(x, y) = flow.covariance.yy(x, y) = sigma * sigma + 1e-12f;
        flow.covariance.xy(x, y) = 0;
      }
    return evaluate_error_bars(flow, zero_flow()).ause;
  };
  EXPECT_NEAR(rank(false), 0, 1e-6);
  EXPECT_GT(rank(true), 0.02);
}

TEST(ErrorBarScores, MasksAndWhatIsMissing) {
  FlowField flow = drawn_flow(1, 5);
  Image<std::uint8_t> mask(scored);
  for (int x = 0; x < 100; ++x) mask(x, 10) = 1;
  EXPECT_EQ(evaluate_error_bars(flow, zero_flow(), {.mask = mask}).pixels, 100);
  const FlowField none(scored);
  try {
    evaluate_error_bars(none, zero_flow());
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the estimated field has no error bars; estimators add them on request");
  }
}

}  // namespace
}  // namespace parafield
