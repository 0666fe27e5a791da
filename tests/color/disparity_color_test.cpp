// SPDX-License-Identifier: MIT
// Disparities in colors, and motion masks over frames.
#include <gtest/gtest.h>

#include <cmath>

#include "color/picture.hpp"
#include "disparity_row.hpp"
#include "io/folder.hpp"
#include "not_finite.hpp"
#include "parafield/color.hpp"

namespace parafield {
namespace {

constexpr Color black{0, 0, 0};

Color at(const FrameBuffer& picture, int x, int y = 0) {
  const auto* pixel = static_cast<const std::uint8_t*>(picture.row(y)) + 3 * x;
  return {pixel[0], pixel[1], pixel[2]};
}

TEST(ColorMap, GoesFromBlueOverGreenToRed) {
  const auto& map = color_map();
  const auto [r0, g0, b0] = map[0];
  EXPECT_TRUE(b0 > 2 * r0 && r0 > g0);
  const auto [r1, g1, b1] = map[128];
  EXPECT_TRUE(g1 > 200 && g1 > r1 && g1 > b1);
  const auto [r2, g2, b2] = map[255];
  EXPECT_TRUE(r2 > 5 * g2 && r2 > 5 * b2);
}

TEST(ColorMap, HasNoJumpsAndNoColorTwice) {
  const auto& map = color_map();
  for (int i = 1; i < 256; ++i)
    for (int k = 0; k < 3; ++k) EXPECT_LE(std::abs(map[i][k] - map[i - 1][k]), 12) << i;
  for (int i = 0; i < 256; ++i)
    for (int k = 0; k < i; ++k) EXPECT_NE(map[i], map[k]) << i << ' ' << k;
}

TEST(DisparityColor, TakesTheRangeOfValidPixels) {
  DisparityField field = row({10, 15, 20, 99, nan, infinity, -infinity});
  field.valid(3, 0) = 0;
  const FrameBuffer picture = color_disparity(field);
  EXPECT_EQ(picture.format(), PixelFormat::rgb_u8);
  EXPECT_EQ(at(picture, 0), color_map()[0]);
  EXPECT_EQ(at(picture, 1), color_map()[128]);
  EXPECT_EQ(at(picture, 2), color_map()[255]);
  for (const int x : {3, 4, 5, 6}) EXPECT_EQ(at(picture, x), black) << x;
}

TEST(DisparityColor, RangeMayBeGiven) {
  const FrameBuffer picture = color_disparity(row({-5, 0, 51, 102, 500}), {.max = 102});
  EXPECT_EQ(at(picture, 0), color_map()[0]);
  EXPECT_EQ(at(picture, 1), color_map()[0]);
  EXPECT_EQ(at(picture, 2), color_map()[128]);
  EXPECT_EQ(at(picture, 3), color_map()[255]);
  EXPECT_EQ(at(picture, 4), color_map()[255]);
}

TEST(DisparityColor, InvalidPixelsCanBeShown) {
  DisparityField field = row({0, 10, 5, nan});
  field.valid(2, 0) = 0;
  const FrameBuffer picture = color_disparity(field, {.show_invalid = true});
  EXPECT_EQ(at(picture, 2), color_map()[128]);
  EXPECT_EQ(at(picture, 3), black);
}

TEST(DisparityColor, AFieldOfOneOrNoDisparityHasAPicture) {
  EXPECT_EQ(at(color_disparity(row({7, 7})), 1), color_map()[0]);
  EXPECT_EQ(at(color_disparity(row({nan})), 0), black);
  const DisparityField field = row({3});
  EXPECT_EQ(at(color_disparity(DisparityView{field.d}), 0), color_map()[0]);
}

TEST(DisparityColor, RefusesBadFieldsAndRanges) {
  const DisparityField field = row({1, 2});
  const auto expect = [](std::string_view part, auto work) {
    expect_error(ErrorCode::invalid_argument, part, work);
  };
  expect("no pixels", [] { color_disparity(DisparityView{}); });
  expect("min and max cannot be 5 and 5 px", [&] { color_disparity(field, {.min = 5, .max = 5}); });
  expect("5 and 0 px", [&] { color_disparity(field, {.min = 5}); });
  expect("0 and nan px", [&] { color_disparity(field, {.max = nan}); });
  expect("0 and inf px", [&] { color_disparity(field, {.max = infinity}); });
  const DisparityField other({1, 2});
  expect("its valid plane has 1x2", [&] { color_disparity(DisparityView{field.d, other.valid}); });
}

TEST(OverlayMask, TintsMovingPixels) {
  const std::uint8_t gray[6] = {0, 100, 255, 0, 100, 255};
  Image<std::uint8_t> moving({3, 2});
  for (int x = 0; x < 3; ++x) moving(x, 1) = std::uint8_t(x + 1);
  const FrameBuffer picture = overlay_mask({gray, 3, 2}, MotionMaskView{moving});
  EXPECT_EQ(at(picture, 1, 0), (Color{100, 100, 100}));
  EXPECT_EQ(at(picture, 0, 1), (Color{128, 0, 0}));
  EXPECT_EQ(at(picture, 1, 1), (Color{178, 50, 50}));
  EXPECT_EQ(at(picture, 2, 1), (Color{255, 128, 128}));
  expect_error(ErrorCode::invalid_argument, "the frame has 2x2 pixels, its mask 3x2", [&] {
    overlay_mask({gray, 2, 2}, MotionMaskView{moving});
  });
  expect_error(ErrorCode::invalid_argument, "no pixels",
               [&] { overlay_mask(Frame{}, MotionMaskView{moving}); });
  expect_error(ErrorCode::invalid_argument, "its mask 0x0", [&] {
    overlay_mask({gray, 2, 2}, MotionMaskView{});
  });
}

}  // namespace
}  // namespace parafield
