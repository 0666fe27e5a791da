// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "io/folder.hpp"
#include "parafield/evaluation.hpp"
#include "parafield/io.hpp"
#include "support.hpp"

namespace parafield {
namespace {

using Values = std::vector<std::uint8_t>;

Image<std::uint8_t> mask_of(const Values& values) {
  Image<std::uint8_t> mask({int(values.size()), 1});
  std::copy(values.begin(), values.end(), mask.view().row(0));
  return mask;
}

Frame labels_of(const Values& values) { return {values.data(), int(values.size()), 1}; }

MaskScores mask_scores_of(const Values& estimate, const Values& labels,
                          const EvaluationOptions& options = {}) {
  const Image<std::uint8_t> mask = mask_of(estimate);
  return evaluate(MotionMaskView{mask}, labels_of(labels), options);
}

TEST(MaskScores, FollowFromTheCounts) {
  // TP 3, FP 1, FN 2, TN 4.
  const MaskScores scores =
      mask_scores_of({1, 255, 1, 1, 0, 0, 0, 0, 0, 0}, {255, 255, 255, 0, 255, 255, 0, 0, 0, 0});
  EXPECT_EQ(scores.true_positives, 3);
  EXPECT_EQ(scores.false_positives, 1);
  EXPECT_EQ(scores.false_negatives, 2);
  EXPECT_EQ(scores.true_negatives, 4);
  EXPECT_EQ(scores.unscored, 0);
  EXPECT_EQ(scores.precision, 0.75);
  EXPECT_EQ(scores.recall, 0.6);
  EXPECT_DOUBLE_EQ(scores.f1, 2 * 0.75 * 0.6 / (0.75 + 0.6));
  EXPECT_EQ(scores.iou, 0.5);
  EXPECT_DOUBLE_EQ(scores.pwc, 30);
}

TEST(MaskScores, FollowCdnetsLabels) {
  const Values labels = {0, 50, 85, 170, 255};
  const MaskScores all = mask_scores_of({1, 1, 1, 1, 1}, labels),
                   none = mask_scores_of({0, 0, 0, 0, 0}, labels);
  EXPECT_EQ(all.false_positives, 2) << "a shadow is static";
  EXPECT_EQ(all.true_positives, 1);
  EXPECT_EQ(all.unscored, 2);
  EXPECT_EQ(none.true_negatives, 2);
  EXPECT_EQ(none.false_negatives, 1);
  EXPECT_EQ(none.unscored, 2);
}

TEST(MaskScores, LabelsMayHaveEqualChannels) {
  const Values rgb = {255, 255, 255, 50, 50, 50}, bgra = {255, 255, 255, 7, 0, 0, 0, 9},
               color = {255, 255, 255, 50, 50, 51};
  const Image<std::uint8_t> mask = mask_of({1, 1});
  for (const MaskScores& scores :
       {evaluate(MotionMaskView{mask}, Frame{rgb.data(), 2, 1, 0, PixelFormat::rgb_u8}),
        evaluate(MotionMaskView{mask}, Frame{bgra.data(), 2, 1, 0, PixelFormat::bgra_u8})}) {
    EXPECT_EQ(scores.true_positives, 1);
    EXPECT_EQ(scores.false_positives, 1);
  }
  expect_error(ErrorCode::invalid_argument, "the label at pixel (1, 0) is a color, 50 50 51", [&] {
    evaluate(MotionMaskView{mask}, Frame{color.data(), 2, 1, 0, PixelFormat::rgb_u8});
  });
}

TEST(MaskScores, RowsMayHaveAPitch) {
  const Values labels = {255, 0, 99, 0, 255, 99};
  Image<std::uint8_t> mask({2, 2});
  mask(0, 0) = mask(1, 1) = 1;
  const MaskScores scores = evaluate(MotionMaskView{mask}, Frame{labels.data(), 2, 2, 3});
  EXPECT_EQ(scores.true_positives, 2);
  EXPECT_EQ(scores.true_negatives, 2);
}

TEST(MaskScores, CountInsideTheMaskOnly) {
  const Image<std::uint8_t> inside = mask_of({1, 0, 9, 0});
  const MaskScores scores = mask_scores_of({1, 1, 0, 0}, {255, 0, 170, 33}, {.mask = inside});
  EXPECT_EQ(scores.true_positives, 1);
  EXPECT_EQ(scores.false_positives, 0);
  EXPECT_EQ(scores.unscored, 1);
}

TEST(MaskScores, SumTheCountsOfSeveralFrames) {
  MaskScores sequence;
  EXPECT_TRUE(std::isnan(sequence.f1));
  sequence += mask_scores_of({1, 1, 0}, {255, 0, 85});
  EXPECT_EQ(sequence.precision, 0.5);
  sequence += mask_scores_of({1, 1, 0, 0}, {255, 255, 255, 0});
  EXPECT_EQ(sequence.true_positives, 3);
  EXPECT_EQ(sequence.false_positives, 1);
  EXPECT_EQ(sequence.false_negatives, 1);
  EXPECT_EQ(sequence.true_negatives, 1);
  EXPECT_EQ(sequence.unscored, 1);
  EXPECT_EQ(sequence.precision, 0.75);
  EXPECT_EQ(sequence.recall, 0.75);
  EXPECT_EQ(sequence.f1, 0.75);
  EXPECT_EQ(sequence.iou, 0.6);
  EXPECT_DOUBLE_EQ(sequence.pwc, 100.0 / 3);
}

TEST(MaskScores, AreNaNWithoutPixels) {
  const MaskScores still = mask_scores_of({0, 0}, {0, 50}), nothing = mask_scores_of({1}, {170});
  for (const double score : {still.precision, still.recall, still.f1, still.iou, nothing.pwc, nothing.f1})
    EXPECT_TRUE(std::isnan(score));
  EXPECT_EQ(still.pwc, 0);
  EXPECT_EQ(mask_scores_of({1}, {0}).f1, 0);
}

TEST(MaskScores, RefuseOtherLabelsAndSizes) {
  const auto expect = [](std::string_view part, auto work) {
    expect_error(ErrorCode::invalid_argument, part, work);
  };
  for (const int bad : {1, 49, 86, 128, 254})
    expect("label " + std::to_string(bad) + " at pixel (1, 0); labels are 0 (static), 50", [&] {
      mask_scores_of({0, 0}, {0, std::uint8_t(bad)});
    });
  expect("the estimated mask has 3x1 pixels, the true one has 2x1", [] {
    mask_scores_of({0, 0, 0}, {0, 0});
  });
  const Image<std::uint8_t> inside({1, 2});
  expect("the mask has 1x2 pixels, the true one has 2x1", [&] {
    mask_scores_of({0, 0}, {0, 0}, {.mask = inside});
  });
  expect("the estimated mask has no pixels", [] { evaluate(MotionMaskView{}, labels_of({0})); });
  const Image<std::uint8_t> mask({2, 1});
  expect("the image of labels has no pixels", [&] { evaluate(MotionMaskView{mask}, Frame{}); });
  const std::uint16_t wide[2] = {};
  expect("the format of the labels is gray_u16; it should have 8 bits", [&] {
    evaluate(MotionMaskView{mask}, Frame{wide, 2, 1, 0, PixelFormat::gray_u16});
  });
}

TEST(MaskScores, ReadCdnetsFiles) {
  PARAFIELD_DATA_OR_SKIP(file, "cdnet/highway_a/groundtruth/gt000890.png");
  const FrameBuffer labels = read_frame(file);
  Image<std::uint8_t> moving(labels.size());
  for (int y = 0; y < labels.size().height; ++y)
    for (int x = 0; x < labels.size().width; ++x)
      moving(x, y) = static_cast<const std::uint8_t*>(labels.row(y))[3 * x] == 255;
  const MaskScores scores = evaluate(MotionMaskView{moving}, labels);
  EXPECT_EQ(scores.f1, 1);
  EXPECT_EQ(scores.pwc, 0);
  EXPECT_GT(scores.true_positives, 1000);
  EXPECT_GT(scores.unscored, 1000);
}

}  // namespace
}  // namespace parafield
