// SPDX-License-Identifier: MIT
// The warnings about a pair.
#include <vector>

#include "parafield/parafield.hpp"
#include "support.hpp"

namespace parafield {
namespace {

using Texts = std::vector<std::string>;

/// Findings of a pair whose matches are clear.
constexpr PairFindings clear{.disparities = 64, .matched = 0.7f, .correlation = 0.9f};

TEST(PairWarnings, AGoodPairHasNone) {
  EXPECT_EQ(pair_warnings(clear, {.tracks = 300, .median_error = 0.7, .rotation = -0.3}), Texts{});
  PairFindings some = clear;
  some.negative = 0.6f;
  EXPECT_EQ(pair_warnings(some, {}, 48), Texts{}) << "steps of 16";
}

TEST(PairWarnings, SwappedViewsHaveNoNumberOfDisparities) {
  const PairFindings swapped{.disparities = 64, .matched = 0.41f, .negative = 0.874f, .correlation = 0.9f};
  const Texts expected = {
      "the views seem to be swapped: 87 % of the matches lie farther right in the right image"};
  EXPECT_EQ(pair_warnings(swapped, {}), expected);
  EXPECT_EQ(pair_warnings(swapped, {}, 16), expected);
  EXPECT_EQ(pair_warnings({.disparities = 64, .matched = 0.39f, .negative = 1, .correlation = 0.9f}, {}),
            Texts{});
}

TEST(PairWarnings, TooFewDisparities) {
  EXPECT_EQ(pair_warnings(clear, {}, 47),
            Texts{"47 disparities seem to be too few: the pair needs about 64"});
}

TEST(PairWarnings, NoiseSaysNothing) {
  PairFindings noise = clear;
  noise.correlation = 0.4f;
  EXPECT_EQ(pair_warnings(noise, {}, 16), Texts{});
  noise.negative = 1;
  EXPECT_EQ(pair_warnings(noise, {}), Texts{});
}

TEST(PairWarnings, RowsAreJudgedByEnoughTracks) {
  const auto texts = [](int tracks, double error, double rotation) {
    return pair_warnings({}, {.tracks = tracks, .median_error = error, .rotation = rotation});
  };
  const std::string turned =
      "the rows are not aligned: matches lie 2.6 px off their rows (median of 20 tracks), and the right "
      "image "
      "seems to be turned by -1.25 degrees; rectify the pair by the calibration of its cameras, or calibrate "
      "them anew if that was done";
  EXPECT_EQ(texts(20, 2.6, -1.25), Texts{turned});
  EXPECT_EQ(texts(19, 2.6, -1.25), Texts{});
  EXPECT_EQ(
      texts(100, 0.76, 0.1),
      Texts{"the rows are not aligned: matches lie 0.8 px off their rows (median of "
            "100 tracks); rectify the pair by the calibration of its cameras, or calibrate them anew if "
            "that was done"});
  EXPECT_EQ(texts(100, 0.1, 0.31).size(), 1u);
}

}  // namespace
}  // namespace parafield
