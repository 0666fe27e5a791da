// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>

#include "disparity_row.hpp"
#include "io/folder.hpp"
#include "not_finite.hpp"
#include "parafield/evaluation.hpp"

namespace parafield {
namespace {

TEST(DisparityScores, SharesMeanAndRoot) {
  // Errors 0, 0.75, 1.5, 3, 5.
  const DisparityScores scores = evaluate(row({10, 9.25f, 11.5f, 7, 15}), row({10, 10, 10, 10, 10}));
  EXPECT_EQ(scores.bad_0_5, 0.8);
  EXPECT_EQ(scores.bad_1, 0.6);
  EXPECT_EQ(scores.bad_2, 0.4);
  EXPECT_EQ(scores.bad_4, 0.2);
  EXPECT_EQ(scores.average, 2.05);
  EXPECT_DOUBLE_EQ(scores.rms, std::sqrt((0.5625 + 2.25 + 9 + 25) / 5));
  EXPECT_EQ(scores.d1_all, 0.2);
  EXPECT_EQ(scores.density, 1);
  EXPECT_EQ(scores.pixels, 5);
  EXPECT_EQ(scores.unknown, 0);
  EXPECT_EQ(scores.missing, 0);
}

TEST(DisparityScores, SharesCountErrorsAboveTheirBoundOnly) {
  const DisparityScores scores = evaluate(row({0.5f, 1, 2, 4}), row({0, 0, 0, 0}));
  EXPECT_EQ(scores.bad_0_5, 0.75);
  EXPECT_EQ(scores.bad_1, 0.5);
  EXPECT_EQ(scores.bad_2, 0.25);
  EXPECT_EQ(scores.bad_4, 0);
}

TEST(DisparityScores, KittiForgivesFivePercent) {
  // Above 3 px, but 5 % of 100 px are 5 px; then 5.5 px of 100, 3.5 px of 20, 3 px of 1.
  EXPECT_EQ(evaluate(row({104, 105.5f, 23.5f, 4}), row({100, 100, 20, 1})).d1_all, 0.5);
}

TEST(DisparityScores, UnknownTruthAndMissingEstimatesDoNotCount) {
  DisparityField truth = row({1, infinity, nan, 7, -infinity, 2, 3, 4});
  truth.valid(3, 0) = 0;
  const DisparityScores scores = evaluate(row({3, 1, 1, 1, nan, infinity, nan, 4}), truth);
  EXPECT_EQ(scores.unknown, 4);
  EXPECT_EQ(scores.missing, 2);
  EXPECT_EQ(scores.pixels, 2);
  EXPECT_EQ(scores.average, 1);
  EXPECT_EQ(scores.density, 0.5);
}

TEST(DisparityScores, InvalidEstimatesCountUnlessValidOnly) {
  DisparityField estimate = row({5, 9, 5, 5});
  estimate.valid(1, 0) = 0;
  const DisparityField truth = row({5, 5, 5, 5});
  const DisparityScores all = evaluate(estimate, truth),
                        valid = evaluate(estimate, truth, {.valid_only = true});
  EXPECT_EQ(all.pixels, 4);
  EXPECT_EQ(all.average, 1);
  EXPECT_EQ(valid.pixels, 3);
  EXPECT_EQ(valid.average, 0);
  EXPECT_EQ(all.density, 0.75);
  EXPECT_EQ(valid.density, 0.75);
  EXPECT_EQ(evaluate(DisparityView{estimate.d}, DisparityView{truth.d}).density, 1)
      << "without a plane all pixels are valid";
}

TEST(DisparityScores, MaskedPixelsAreNeitherUnknownNorMissing) {
  Image<std::uint8_t> mask({4, 1});
  mask(2, 0) = 255;
  mask(3, 0) = 1;
  const DisparityScores scores = evaluate(row({0, nan, 3, 0}), row({nan, 0, 0, 0}), {.mask = mask});
  EXPECT_EQ(scores.unknown + scores.missing, 0);
  EXPECT_EQ(scores.pixels, 2);
  EXPECT_EQ(scores.average, 1.5);
}

TEST(DisparityScores, AreNaNWithoutPixels) {
  const DisparityScores unknown = evaluate(row({1}), row({nan})), missing = evaluate(row({nan}), row({1}));
  for (const double score : {unknown.bad_0_5, unknown.bad_1, unknown.bad_2, unknown.bad_4, unknown.average,
                             unknown.rms, unknown.d1_all, unknown.density, missing.rms})
    EXPECT_TRUE(std::isnan(score));
  EXPECT_EQ(missing.density, 0);
}

TEST(DisparityScores, RefuseSizesThatDiffer) {
  const DisparityField field({4, 3}), other({3, 4});
  const Image<std::uint8_t> mask({4, 4});
  const auto expect = [](std::string_view part, auto work) {
    expect_error(ErrorCode::invalid_argument, part, work);
  };
  expect("the estimated disparity has 3x4 pixels, the true disparity has 4x3",
         [&] { evaluate(other, field); });
  expect("the mask has 4x4 pixels, the true disparity has 4x3",
         [&] { evaluate(field, field, {.mask = mask}); });
  expect("the true disparity has no pixels", [&] { evaluate(field, DisparityView{}); });
  expect("the estimated disparity has no pixels", [&] { evaluate(DisparityView{}, field); });
  expect("the estimated disparity has 4x3 pixels, its valid plane has 3x4", [&] {
    evaluate(DisparityView{field.d, other.valid}, field);
  });
}

}  // namespace
}  // namespace parafield
