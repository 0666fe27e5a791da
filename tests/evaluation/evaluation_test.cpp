// SPDX-License-Identifier: MIT
#include "parafield/evaluation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "not_finite.hpp"

namespace parafield {
namespace {

struct Vector {
  float u, v;
};

/// A field of one row that is valid everywhere.
FlowField row(std::initializer_list<Vector> vectors) {
  FlowField field(Size{int(vectors.size()), 1});
  int x = 0;
  for (const Vector& vector : vectors) {
    field.u(x, 0) = vector.u;
    field.v(x, 0) = vector.v;
    field.valid(x, 0) = 1;
    ++x;
  }
  return field;
}

TEST(Evaluation, AngleAndEndpointOfOneVector) {
  const FlowScores scores = evaluate(row({{1, 0}}), row({{0, 0}}));
  EXPECT_NEAR(scores.aae, 45, 1e-12);
  EXPECT_EQ(scores.epe, 1);
  EXPECT_EQ(scores.aae_std, 0);
  EXPECT_EQ(scores.epe_std, 0);
  EXPECT_EQ(scores.pixels, 1);
  // (1, 1, 1) and (-1, -1, 1): the cosine is -1/3.
  EXPECT_NEAR(evaluate(row({{1, 1}}), row({{-1, -1}})).aae, 109.47122063449069, 1e-12);
  EXPECT_NEAR(evaluate(row({{1e8f, 0}}), row({{-1e8f, 0}})).aae, 180, 1e-5);
}

TEST(Evaluation, MeansDeviationsAndShares) {
  // Endpoint errors 0, 2, 4, 10; angles 0 and atan of the lengths.
  const FlowScores scores =
      evaluate(row({{0, 0}, {2, 0}, {0, -4}, {6, 8}}), row({{0, 0}, {0, 0}, {0, 0}, {0, 0}}));
  EXPECT_DOUBLE_EQ(scores.epe, 4);
  EXPECT_DOUBLE_EQ(scores.epe_std, std::sqrt(14.0));  // (16 + 4 + 0 + 36) / 4
  const double degrees = 180 / std::acos(-1.0);
  const double angles[] = {0, std::atan(2) * degrees, std::atan(4) * degrees, std::atan(10) * degrees};
  double mean = 0, variance = 0;
  for (const double angle : angles) mean += angle / 4;
  for (const double angle : angles) variance += (angle - mean) * (angle - mean) / 4;
  EXPECT_NEAR(scores.aae, mean, 1e-12);
  EXPECT_NEAR(scores.aae_std, std::sqrt(variance), 1e-12);
  EXPECT_EQ(scores.r1, 0.75);
  EXPECT_EQ(scores.r3, 0.5);
  EXPECT_EQ(scores.r5, 0.25);
  EXPECT_EQ(scores.density, 1);
  EXPECT_EQ(scores.pixels, 4);
}

TEST(Evaluation, SharesCountErrorsAboveTheirBoundOnly) {
  const FlowScores scores = evaluate(row({{1, 0}, {0, 3}, {-5, 0}}), row({{0, 0}, {0, 0}, {0, 0}}));
  EXPECT_DOUBLE_EQ(scores.r1, 2.0 / 3);
  EXPECT_DOUBLE_EQ(scores.r3, 1.0 / 3);
  EXPECT_EQ(scores.r5, 0);
}

TEST(Evaluation, IdenticalFieldsHaveNoErrorAtAll) {
  FlowField field({64, 48});
  for (int y = 0; y < 48; ++y)
    for (int x = 0; x < 64; ++x) {
      field.u(x, y) = 0.37f * float(x) - 0.011f * float(y * y);
      field.v(x, y) = 1e3f / float(x + 1) - 0.7f * float(y);
      field.valid(x, y) = 1;
    }
  const FlowScores scores = evaluate(field, field);
  EXPECT_EQ(scores.aae, 0);
  EXPECT_EQ(scores.aae_std, 0);
  EXPECT_EQ(scores.epe, 0);
  EXPECT_EQ(scores.epe_std, 0);
  EXPECT_EQ(scores.r1, 0);
  EXPECT_EQ(scores.density, 1);
  EXPECT_EQ(scores.pixels, 64 * 48);
}

TEST(Evaluation, TheSameErrorEverywhereHasNoDeviation) {
  FlowField estimate({100, 70}), truth({100, 70});
  for (int y = 0; y < 70; ++y)
    for (int x = 0; x < 100; ++x) {
      estimate.u(x, y) = 0.1f;
      truth.valid(x, y) = 1;
    }
  const FlowScores scores = evaluate(estimate, truth);
  EXPECT_EQ(scores.epe, double(0.1f));
  EXPECT_EQ(scores.epe_std, 0);
  EXPECT_EQ(scores.aae_std, 0);
}

TEST(Evaluation, UnknownTruthDoesNotCount) {
  FlowField truth = row({{0, 0}, {1e10f, 0}, {0, nan}, {0, 0}, {-infinity, 0}, {0, 2e9f}});
  truth.valid(3, 0) = 0;
  const FlowScores scores = evaluate(row({{2, 0}, {9, 9}, {9, 9}, {9, 9}, {9, 9}, {nan, 9}}), truth);
  EXPECT_EQ(scores.unknown, 5);
  EXPECT_EQ(scores.missing, 0);
  EXPECT_EQ(scores.pixels, 1);
  EXPECT_EQ(scores.epe, 2);
}

TEST(Evaluation, MissingEstimatesDoNotCountAndLowerTheDensity) {
  const FlowScores scores = evaluate(row({{nan, 0}, {0, 1.5e9f}, {infinity, 0}, {1e9f, 0}}),
                                     row({{0, 0}, {0, 0}, {0, 0}, {1e9f, 0}}));
  EXPECT_EQ(scores.missing, 3);
  EXPECT_EQ(scores.unknown, 0);
  EXPECT_EQ(scores.pixels, 1);
  EXPECT_EQ(scores.epe, 0);
  EXPECT_EQ(scores.density, 0.25);
}

TEST(Evaluation, MaskedPixelsAreNeitherUnknownNorMissing) {
  Image<std::uint8_t> mask({4, 1});
  mask(2, 0) = 255;
  mask(3, 0) = 1;
  const FlowField truth = row({{nan, 0}, {0, 0}, {0, 0}, {0, 0}});
  const FlowScores scores = evaluate(row({{0, 0}, {nan, 0}, {3, 4}, {0, 0}}), truth, {.mask = mask});
  EXPECT_EQ(scores.unknown, 0);
  EXPECT_EQ(scores.missing, 0);
  EXPECT_EQ(scores.pixels, 2);
  EXPECT_EQ(scores.epe, 2.5);
  EXPECT_EQ(scores.density, 1);
}

TEST(Evaluation, InvalidEstimatesCountUnlessValidOnly) {
  FlowField estimate = row({{1, 0}, {7, 0}, {nan, 0}, {3, 0}});
  estimate.valid(1, 0) = 0;
  const FlowField truth = row({{0, 0}, {0, 0}, {0, 0}, {0, 0}});

  const FlowScores all = evaluate(estimate, truth);
  EXPECT_EQ(all.pixels, 3);
  EXPECT_DOUBLE_EQ(all.epe, 11.0 / 3);
  EXPECT_EQ(all.density, 0.5);
  EXPECT_EQ(all.missing, 1);

  const FlowScores valid = evaluate(estimate, truth, {.valid_only = true});
  EXPECT_EQ(valid.pixels, 2);
  EXPECT_EQ(valid.epe, 2);
  EXPECT_EQ(valid.density, 0.5);
  EXPECT_EQ(valid.missing, 1);
}

TEST(Evaluation, PlanesWithoutValidityAreValid) {
  const FlowField estimate = row({{1, 0}}), truth = row({{0, 0}});
  const FlowScores scores =
      evaluate(FlowView{estimate.u, estimate.v}, FlowView{truth.u, truth.v}, {.valid_only = true});
  EXPECT_EQ(scores.pixels, 1);
  EXPECT_EQ(scores.density, 1);
}

TEST(Evaluation, WithoutPixelsTheErrorsAreNan) {
  FlowField truth = row({{0, 0}, {0, 0}});
  const FlowScores missing = evaluate(row({{nan, 0}, {nan, 0}}), truth);
  EXPECT_EQ(missing.pixels, 0);
  EXPECT_EQ(missing.missing, 2);
  EXPECT_EQ(missing.density, 0);
  for (const double error :
       {missing.aae, missing.aae_std, missing.epe, missing.epe_std, missing.r1, missing.r3, missing.r5})
    EXPECT_TRUE(std::isnan(error));

  truth.valid(0, 0) = truth.valid(1, 0) = 0;
  const FlowScores unknown = evaluate(row({{0, 0}, {0, 0}}), truth);
  EXPECT_EQ(unknown.unknown, 2);
  EXPECT_TRUE(std::isnan(unknown.epe));
  EXPECT_TRUE(std::isnan(unknown.density));
}

/// Message of the Error(invalid_argument) that `call` throws.
template <class Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    return error.what();
  }
  return "nothing was thrown";
}

TEST(Evaluation, SizesThatDifferAreErrorsWithTheNumbers) {
  const FlowField small({4, 3}), large({5, 6});
  const Image<std::uint8_t> mask({2, 7});
  EXPECT_EQ(refusal([&] { evaluate(small, large); }),
            "the estimated flow has 4x3 pixels, the true flow has 5x6");
  EXPECT_EQ(refusal([&] { evaluate(small, small, {.mask = mask}); }),
            "the mask has 2x7 pixels, the true flow has 4x3");
  EXPECT_EQ(refusal([&] {
              evaluate(FlowView{small.u, large.v}, small);
            }),
            "u of the estimated flow has 4x3 pixels, v has 5x6");
  EXPECT_EQ(refusal([&] {
              evaluate(small, FlowView{small.u, small.v, mask});
            }),
            "the true flow has 4x3 pixels, its valid plane has 2x7");
  EXPECT_EQ(refusal([&] { evaluate(FlowView{}, small); }), "the estimated flow has no pixels");
}

}  // namespace
}  // namespace parafield
