// SPDX-License-Identifier: MIT
// The area under the sparsification curve: how a confidence ranks errors.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "disparity_row.hpp"
#include "evaluation/scores.hpp"
#include "io/folder.hpp"
#include "not_finite.hpp"
#include "parafield/evaluation.hpp"

namespace parafield {
namespace {

constexpr EvaluationOptions with_confidence{.confidence = true};

/// Disparities that are off by `errors` from 10, with their confidence; `row` of 10s is their truth.
DisparityField field(std::initializer_list<float> errors, std::initializer_list<float> confidence) {
  DisparityField field = row(errors);
  int x = 0;
  for (const float value : confidence) {
    field.d(x, 0) += 10;
    field.confidence(x++, 0) = value;
  }
  return field;
}

DisparityScores scores_of(std::initializer_list<float> errors, std::initializer_list<float> confidence,
                          const EvaluationOptions& options = with_confidence) {
  const DisparityField estimate = field(errors, confidence);
  DisparityField truth(estimate.size());
  for (int x = 0; x < truth.size().width; ++x) {
    truth.d(x, 0) = 10;
    truth.valid(x, 0) = 1;
  }
  return evaluate(estimate, truth, options);
}

TEST(ConfidenceScores, AreMeansOfTheMeansOfTheMostConfident) {
  // By confidence the errors are 1, 4, 0, 3: means 1, 5/2, 5/3, 2. By error: 0, 1, 3, 4: 0, 1/2, 4/3, 2.
  const DisparityScores scores = scores_of({4, 1, 3, 0}, {.8f, .9f, .1f, .2f});
  EXPECT_DOUBLE_EQ(scores.auc, (1 + 5 / 2. + 5 / 3. + 2) / 4);
  EXPECT_DOUBLE_EQ(scores.auc_best, (0 + 1 / 2. + 4 / 3. + 2) / 4);
}

TEST(ConfidenceScores, OfFlowAreOfItsEndpointError) {
  FlowField estimate({3, 1}), truth({3, 1});
  for (int x = 0; x < 3; ++x) {
    estimate.u(x, 0) = 3 * float(x);
    estimate.v(x, 0) = -4 * float(x);  // errors 0, 5, 10
    estimate.confidence(x, 0) = float(x);
    estimate.valid(x, 0) = truth.valid(x, 0) = 1;
  }
  const FlowScores scores = evaluate(estimate, truth, with_confidence);
  EXPECT_DOUBLE_EQ(scores.auc, (10 + 15 / 2. + 5) / 3);
  EXPECT_DOUBLE_EQ(scores.auc_best, (0 + 5 / 2. + 5) / 3);
  EXPECT_EQ(scores.epe, evaluate(estimate, truth).epe) << "nothing else changes";
}

TEST(ConfidenceScores, OfOnePixelAreItsError) {
  const DisparityScores scores = scores_of({3}, {.5f});
  EXPECT_EQ(scores.auc, 3);
  EXPECT_EQ(scores.auc_best, 3);
}

TEST(ConfidenceScores, EqualConfidencesShareTheirMeanError) {
  // 0, then 1 and 5, which share 3, then 2: means 0, 3/2, 2, 2.
  for (const auto& scores : {scores_of({0, 1, 5, 2}, {7, 4, 4, 1}), scores_of({2, 5, 0, 1}, {1, 4, 7, 4}),
                             scores_of({0, 5, 1, 2}, {infinity, -0.0f, 0, -1})})
    EXPECT_DOUBLE_EQ(scores.auc, (0 + 3 / 2. + 2 + 2) / 4);
}

TEST(ConfidenceScores, NanIsTheLowestConfidence) {
  // 2, 4, then 0 and 6, which share 3: means 2, 3, 3, 3.
  EXPECT_DOUBLE_EQ(scores_of({0, 2, 6, 4}, {nan, 1, -nan, 0}).auc, 11 / 4.);
  EXPECT_DOUBLE_EQ(scores_of({0, 2, 6, 4}, {nan, 1, -infinity, 0}).auc, 11 / 4.);
  EXPECT_DOUBLE_EQ(scores_of({0, 2, 6, 4}, {nan, nan, nan, nan}).auc, 3);
}

TEST(ConfidenceScores, OfAConstantAreTheMeanError) {
  const DisparityScores scores = scores_of({.5f, 7, 0, 2.25f, 1}, {1, 1, 1, 1, 1});
  EXPECT_DOUBLE_EQ(scores.auc, scores.average);
  EXPECT_LT(scores.auc_best, scores.auc);
}

TEST(ConfidenceScores, OfTheOrderOfTheErrorsAreTheBest) {
  const DisparityScores scores = scores_of({.5f, 7, 0, 2.25f, 1, .5f}, {-.5f, -7, 0, -2.25f, -1, -.5f});
  EXPECT_EQ(scores.auc, scores.auc_best);
}

TEST(ConfidenceScores, CountThePixelsThatCount) {
  // Without the second and the last pixel.
  const double expected = scores_of({4, 3, 0}, {.8f, .1f, .2f}).auc;
  Image<std::uint8_t> mask({5, 1});
  for (const int x : {0, 2, 3}) mask(x, 0) = 1;
  EXPECT_EQ(scores_of({4, 9, 3, 0, 9}, {.8f, 1, .1f, .2f, nan}, {.mask = mask, .confidence = true}).auc,
            expected);
  EXPECT_EQ(scores_of({4, nan, 3, 0, infinity}, {.8f, 1, .1f, .2f, nan}).auc, expected) << "unknown";

  DisparityField estimate = field({4, 9, 3, 0, 9}, {.8f, 1, .1f, .2f, 0});
  const DisparityField truth = row({10, 10, 10, 10, 10});
  estimate.valid(1, 0) = estimate.valid(4, 0) = 0;
  EXPECT_EQ(evaluate(estimate, truth, {.valid_only = true, .confidence = true}).auc, expected);
  EXPECT_GT(evaluate(estimate, truth, with_confidence).auc, expected);
}

TEST(ConfidenceScores, AreNanIfNobodyAsksAndWithoutPixels) {
  const DisparityScores silent = scores_of({1, 2}, {1, 2}, {}), empty = scores_of({nan}, {1});
  for (const double score : {silent.auc, silent.auc_best, empty.auc, empty.auc_best})
    EXPECT_TRUE(std::isnan(score));
  const FlowField flow({2, 2});
  EXPECT_TRUE(std::isnan(evaluate(flow, flow).auc));
}

TEST(ConfidenceScores, NeedAConfidence) {
  const auto expect = [](std::string_view part, auto work) {
    expect_error(ErrorCode::invalid_argument, part, work);
  };
  const FlowField flow({2, 2}), bare({2, 2}, {}, false);
  const DisparityField disparity({2, 2}), bare_disparity({2, 2}, {}, false);
  const MotionMask mask({2, 2});
  expect("the estimated flow has no confidence to score", [&] { evaluate(bare, flow, with_confidence); });
  expect("the estimated disparity has no confidence to score",
         [&] { evaluate(bare_disparity, disparity, with_confidence); });
  EXPECT_EQ(evaluate(disparity, bare_disparity, with_confidence).unknown, 4) << "the truth needs none";
  const FrameBuffer labels({2, 2}, PixelFormat::gray_u8);
  expect("the confidence of a motion mask has no score", [&] { evaluate(mask, labels, with_confidence); });
  const Image<float> other({3, 2});
  expect("the estimated flow has 2x2 pixels, its confidence plane has 3x2", [&] {
    evaluate(FlowView{flow.u, flow.v, {}, other}, flow, with_confidence);
  });
}

TEST(AreasUnderCurves, AreThoseOfTheDefinitionWhateverTheOrder) {
  std::mt19937 random(5);
  std::vector<RankedError> pixels(500);
  for (RankedError& pixel : pixels)
    pixel = {float(random() % 40), double(random() % 1000) / 64};  // many are equal
  // The mean over random orders of the ties: each pixel has the mean error of its confidence.
  std::vector<RankedError> shared = pixels;
  for (RankedError& one : shared) {
    double sum = 0;
    int count = 0;
    for (const RankedError& other : pixels)
      if (other.confidence == one.confidence) sum += other.error, ++count;
    one.error = sum / count;
  }
  std::ranges::stable_sort(shared, std::greater(), &RankedError::confidence);
  std::vector<double> sorted;
  for (const RankedError& pixel : pixels) sorted.push_back(pixel.error);
  std::ranges::sort(sorted);
  double sum = 0, best_sum = 0, area = 0, best = 0;
  for (std::size_t k = 0; k < pixels.size(); ++k) {
    area += (sum += shared[k].error) / double(k + 1) / double(pixels.size());
    best += (best_sum += sorted[k]) / double(k + 1) / double(pixels.size());
  }
  const auto first = areas_under_curves(pixels);
  EXPECT_NEAR(first.first, area, 1e-12);
  EXPECT_NEAR(first.second, best, 1e-12);
  for (int i = 0; i < 5; ++i) {
    std::ranges::shuffle(pixels, random);
    EXPECT_EQ(areas_under_curves(pixels), first);
  }
}

}  // namespace
}  // namespace parafield
