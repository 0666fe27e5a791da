// SPDX-License-Identifier: MIT
// The findings of a coarse search on a pair.
#include <cstdio>
#include <limits>
#include <vector>

#include "support.hpp"
#include "targets.hpp"
#include "tasks/dim_frame.hpp"
#include "tasks/on_device.hpp"
#include "tasks/wall_pair.hpp"

namespace parafield {
namespace {

TEST(ExaminePair, FindsTheRangeAtEverySize) {
  for (const int width : {60, 127, 128, 129, 256, 400, 700}) {
    const Size size{width, std::max(40, width / 2)};
    for (const double share : {0.06, 0.15, 0.3}) {
      if (sanitized && (width > 256 || share != 0.15)) continue;
      const int near = int(share * width);
      const WallPair pair(size, near / 2, near);
      const PairFindings found = examine_pair(pair.left, pair.right);
      const std::string what = std::to_string(width) + " px wide, up to " + std::to_string(near);
      expect_covers(found.disparities, near, what);
      EXPECT_FALSE(found.swapped()) << what;
      EXPECT_GT(found.matched, 0.4) << what;
      EXPECT_LT(found.negative, 0.2) << what;
    }
  }
}

TEST(ExaminePair, TheNumberCountsFromTheLeastDisparity) {
  const WallPair pair({200, 120}, 10, 30);
  const int from_0 = examine_pair(pair.left, pair.right).disparities;
  for (const int least : {-40, -7, 8}) {
    const int found = examine_pair(pair.left, pair.right, least).disparities;
    EXPECT_GE(found + least, 31) << least;
    EXPECT_LE(std::abs(found + least - from_0), 16) << least;
  }
}

TEST(ExaminePair, TheNumberFitsIntoTheImage) {
  for (const int width : {1, 2, 3, 8, 20, 50})
    for (const int least : {-60, -3, 0, 1, 30}) {
      if (std::abs(least) >= width) continue;
      const WallPair pair({width, 20}, 0, 0);
      const int found = examine_pair(pair.left, pair.right, least).disparities;
      EXPECT_GE(found, 1);
      EXPECT_LE(least + found - 1, width - 1) << width << " px wide, from " << least;
    }
}

TEST(ExaminePair, FindsTheSameInEveryFormat) {
  const Size size{300, 160};
  const PairFindings expected = examine_pair(WallPair(size, 12, 40).left, WallPair(size, 12, 40).right);
  expect_covers(expected.disparities, 40, "gray_u8");
  for (const PixelFormat format :
       {PixelFormat::gray_u16, PixelFormat::gray_f32, PixelFormat::rgb_u8, PixelFormat::rgb_u16,
        PixelFormat::rgb_f32, PixelFormat::bgr_u8, PixelFormat::rgba_u8, PixelFormat::bgra_u8}) {
    WallPair pair(size, 12, 40, format);
    if (format == PixelFormat::gray_u16 || format == PixelFormat::rgb_u16)
      for (FrameBuffer* frame : {&pair.left, &pair.right}) frame->set_range({0, 65535});
    const PairFindings found = examine_pair(pair.left, pair.right);
    EXPECT_EQ(found.disparities, expected.disparities) << to_string(format);
    EXPECT_NEAR(found.matched, expected.matched, 0.02) << to_string(format);
  }
}

TEST(ExaminePair, TinyImagesGiveANumberThatAnEstimatorTakes) {
  for (const Size size :
       {Size{1, 1}, Size{8, 6}, Size{3, 3}, Size{3, 50}, Size{50, 3}, Size{2, 1}, Size{1, 9}}) {
    const WallPair pair(size, 0, 0);
    const PairFindings found = examine_pair(pair.left, pair.right);
    EXPECT_GE(found.disparities, 1);
    EXPECT_LE(found.disparities, size.width);
    EXPECT_GE(found.matched, 0);
    EXPECT_LE(found.matched, 1);
    EXPECT_EQ(message_of([&] { estimate_disparity(pair.left, pair.right, {}, {.device = Device::cpu()}); }),
              "no error")
        << size.width << "x" << size.height;
  }
}

TEST(ExaminePair, SaysThatViewsAreSwapped) {
  for (const int width : {100, 300}) {
    const WallPair pair({width, 80}, width / 12, width / 6);
    EXPECT_FALSE(examine_pair(pair.left, pair.right).swapped()) << width;
    const PairFindings swapped = examine_pair(pair.right, pair.left);
    EXPECT_TRUE(swapped.swapped()) << width << ": " << swapped.negative;
    EXPECT_GT(swapped.negative, 0.8) << width;
  }
  const WallPair same({200, 100}, 0, 0);
  EXPECT_FALSE(examine_pair(same.left, same.right).swapped()) << "one image twice";
}

TEST(ExaminePair, TakesImagesWithoutTextureAndNoise) {
  const WallPair pair({200, 100}, 0, 0);
  const FrameBuffer flat({200, 100}, PixelFormat::gray_u8);
  for (const auto& [left, right] :
       {std::pair{&flat, &flat}, std::pair{&flat, &pair.right}, std::pair{&pair.left, &flat}}) {
    const PairFindings found = examine_pair(*left, *right);
    EXPECT_GE(found.disparities, 1);
    EXPECT_LE(found.disparities, 200);
    EXPECT_FALSE(found.swapped());
  }
  FrameBuffer nothing({200, 100}, PixelFormat::gray_f32);
  for (int y = 0; y < 100; ++y)
    std::fill_n(static_cast<float*>(nothing.row(y)), 200, std::numeric_limits<float>::quiet_NaN());
  nothing.set_range({0, 255});
  const PairFindings found = examine_pair(nothing, nothing);
  EXPECT_EQ(found.matched, 0);
  EXPECT_FALSE(found.swapped());
}

TEST(ExaminePair, NoiseIsBlankAndDarkScenesAreNot) {
  for (const Size size : {Size{80, 60}, Size{160, 120}, Size{320, 240}}) {
    if (sanitized && size.width > 160) break;
    const FrameBuffer black(size, PixelFormat::gray_u8);
    const Scene scene = render_scene("stereo", {.size = size});
    const FrameBuffer &left = scene.frames[0], &right = scene.frames[1];
    EXPECT_GT(examine_pair(left, right).correlation, 0.95f);
    for (const double sigma : {1, 2, 3, 4})
      for (unsigned seed = 1; seed <= (sanitized ? 1 : 4); ++seed) {
        const std::string what = std::to_string(size.width) + " px wide, noise of " + std::to_string(sigma) +
                                 ", seed " + std::to_string(seed);
        const PairFindings noise =
            examine_pair(dim(black, 1, 2 * seed, sigma, seed), dim(black, 1, 2 * seed, sigma, seed + 1000));
        EXPECT_TRUE(noise.blank()) << what << ": " << noise.correlation;
        EXPECT_FALSE(noise.swapped()) << what;
        const PairFindings dark =
            examine_pair(dim(left, 8, 2 * seed, sigma, seed), dim(right, 8, 2 * seed, sigma, seed + 1000));
        EXPECT_FALSE(dark.blank()) << what << ": " << dark.correlation;
      }
  }
}

TEST(ExaminePair, CorrelationLeavesOutUnknownPixels) {
  const Size size{200, 100};
  WallPair pair(size, 10, 30, PixelFormat::gray_f32);
  for (FrameBuffer* frame : {&pair.left, &pair.right}) {
    frame->set_range({0, 255});
    for (int y = 0; y < 20; ++y)
      std::fill_n(static_cast<float*>(frame->row(y)), 60, std::numeric_limits<float>::quiet_NaN());
  }
  const PairFindings found = examine_pair(pair.left, pair.right);
  EXPECT_GT(found.correlation, 0.9f);
  EXPECT_FALSE(found.blank());
}

TEST(ExaminePair, RefusesFramesThatDoNotFit) {
  const WallPair pair({40, 30}, 0, 0), other({41, 30}, 0, 0);
  EXPECT_EQ(message_of([&] { examine_pair(pair.left, other.right); }), "right is 41x30, expected 40x30");
  EXPECT_EQ(message_of([&] { examine_pair(Frame{nullptr, 40, 30}, pair.right); }), "left has no data");
}

/// The number covers 99.5 % of the true disparities of real scenes. It is a multiple of 16, and at most the
/// next one above twice the largest.
TEST(ExaminePair, CoversRealScenes) {
  struct {
    const char* name;
    float scale;
  } constexpr scenes[] = {{"tsukuba", 16}, {"venus", 8}, {"cones", 4}, {"art", 3}, {"aloe", 3}, {"midd2", 3}};
  for (const auto& [name, scale] : scenes) {
    if (sanitized && &name != &scenes[0].name) break;
    PARAFIELD_DATA_OR_SKIP(folder, std::string("middlebury-stereo/") + name);
    const FrameBuffer left = read_frame(folder / "left.png"), right = read_frame(folder / "right.png");
    const DisparityField truth = read_disparity(folder / "disp_left.png", scale);
    std::vector<float> known;
    for (int y = 0; y < truth.size().height; ++y)
      for (int x = 0; x < truth.size().width; ++x)
        if (truth.valid(x, y)) known.push_back(truth.d(x, y));
    const float most = std::ranges::max(known);
    const PairFindings found = examine_pair(left, right);
    const auto beyond =
        std::ranges::count_if(known, [&](float d) { return d > float(found.disparities - 1); });
    const double missed = 100.0 * double(beyond) / double(known.size());
    std::printf("%s: up to %.1f px; %d disparities found, %.2f %% of the truth beyond, %.0f %% matched\n",
                name, most, found.disparities, missed, 100 * found.matched);
    EXPECT_LE(missed, 0.5) << name;
    EXPECT_LE(found.disparities, (int(2 * (most + 1)) + 15) / 16 * 16) << name;
    EXPECT_FALSE(found.swapped()) << name;
    EXPECT_TRUE(examine_pair(right, left).swapped()) << name;
  }
}

}  // namespace
}  // namespace parafield
