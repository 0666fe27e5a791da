// SPDX-License-Identifier: MIT
// Arrows, wheel, legend and pictures side by side.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "parafield/color.hpp"

namespace parafield {
namespace {

using Rgb = std::array<int, 3>;

Rgb color_at(const FrameBuffer& picture, int x, int y) {
  const auto* pixel = static_cast<const std::uint8_t*>(picture.row(y)) + 3 * x;
  return {pixel[0], pixel[1], pixel[2]};
}

FrameBuffer gray(Size size, int value) {
  FrameBuffer frame(size, PixelFormat::gray_u8);
  for (int y = 0; y < size.height; ++y)
    std::fill_n(static_cast<std::uint8_t*>(frame.row(y)), size.width, std::uint8_t(value));
  return frame;
}

FlowField uniform(Size size, float u, float v) {
  FlowField flow(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      flow.u(x, y) = u;
      flow.v(x, y) = v;
      flow.valid(x, y) = 1;
    }
  return flow;
}

constexpr Rgb yellow{255, 225, 0}, untouched{100, 100, 100};

TEST(Arrows, GoFromAPixelToItsMatch) {
  const Size size{40, 40};
  const FrameBuffer picture = draw_arrows(gray(size, 100), uniform(size, 12, 0), {.step = 40, .scale = 1});
  EXPECT_EQ(picture.format(), PixelFormat::rgb_u8);
  for (int x = 20; x <= 32; ++x) EXPECT_EQ(color_at(picture, x, 20), yellow) << x;
  for (const auto& [x, y] : {std::pair{16, 20}, {36, 20}, {24, 24}, {24, 16}, {5, 5}})
    EXPECT_EQ(color_at(picture, x, y), untouched) << x << ", " << y;
  EXPECT_EQ(color_at(picture, 24, 21), color_at(picture, 24, 19)) << "the same on both sides";
  EXPECT_LT(color_at(picture, 24, 21)[0], 80) << "a dark outline";
  EXPECT_GT(color_at(picture, 29, 21)[0], 200) << "the head";
}

TEST(Arrows, AreScaledAndStepped) {
  const Size size{64, 48};
  const FrameBuffer picture = draw_arrows(gray(size, 100), uniform(size, 0, -2), {.step = 16, .scale = 3});
  for (int y = 8; y < 48; y += 16)
    for (int x = 8; x < 64; x += 16) {
      EXPECT_EQ(color_at(picture, x, y), yellow);
      EXPECT_EQ(color_at(picture, x, y - 6), yellow);
      EXPECT_EQ(color_at(picture, x, y + 4), untouched);
    }
}

TEST(Arrows, SkipUnknownAndInvalidPixels) {
  const Size size{48, 16};
  FlowField flow = uniform(size, 3, 3);
  flow.u(8, 8) = std::numeric_limits<float>::quiet_NaN();
  flow.v(24, 8) = 1e10f;
  flow.valid(40, 8) = 0;
  const FrameBuffer picture = draw_arrows(gray(size, 100), flow);
  for (int y = 0; y < 16; ++y)
    for (int x = 0; x < 48; ++x) ASSERT_EQ(color_at(picture, x, y), untouched) << x << ", " << y;
}

TEST(Arrows, AreDotsWithoutMotion) {
  const Size size{16, 16};
  const FrameBuffer picture = draw_arrows(gray(size, 100), uniform(size, 0, 0));
  EXPECT_EQ(color_at(picture, 8, 8), yellow);
  EXPECT_EQ(color_at(picture, 12, 8), untouched);
}

TEST(Arrows, MayLeaveTheImage) {
  const Size size{5, 3};
  for (const float far : {1.0f, 7.0f, 1e4f, 1e9f})
    for (const auto& [u, v] : {std::pair{far, far}, {-far, far}, {0.0f, -far}, {-far, 0.0f}})
      EXPECT_EQ(draw_arrows(gray(size, 100), uniform(size, u, v), {.step = 1, .scale = 100}).size(), size);
}

TEST(Arrows, RefuseBadSizesAndOptions) {
  const Size size{8, 6};
  const FlowField flow(size);
  const FrameBuffer frame = gray(size, 0);
  try {
    draw_arrows(gray({9, 6}, 0), flow);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_STREQ(error.what(), "the frame has 9x6 pixels, its flow 8x6");
  }
  EXPECT_THROW(draw_arrows(Frame{}, flow), Error);
  EXPECT_THROW(draw_arrows(frame, FlowView{}), Error);
  for (const int step : {0, -1}) EXPECT_THROW(draw_arrows(frame, flow, {.step = step}), Error);
  for (const float scale : {-1.0f, std::numeric_limits<float>::infinity()})
    EXPECT_THROW(draw_arrows(frame, flow, {.scale = scale}), Error);
}

TEST(Beside, TakesEveryFormat) {
  const Size size{3, 2};
  const std::uint8_t rgb[18] = {255, 128, 0, 255, 128, 0, 255, 128, 0, 255, 128, 0, 255, 128, 0, 255, 128, 0};
  const std::uint8_t bgra[24] = {0, 128, 255, 9, 0, 128, 255, 9, 0, 128, 255, 9,
                                 0, 128, 255, 9, 0, 128, 255, 9, 0, 128, 255, 9};
  const std::uint16_t wide[6] = {100 * 257, 100 * 257, 100 * 257, 100 * 257, 100 * 257, 100 * 257};
  const float real[6] = {100, 300, -5, NAN, 99.6f, 0};
  const FrameBuffer colors =
      beside({rgb, 3, 2, 0, PixelFormat::rgb_u8}, {bgra, 3, 2, 0, PixelFormat::bgra_u8});
  EXPECT_EQ(colors.size(), (Size{6, 2}));
  for (int y = 0; y < 2; ++y)
    for (int x = 0; x < 6; ++x) EXPECT_EQ(color_at(colors, x, y), (Rgb{255, 128, 0}));
  Frame reals{real, 3, 2, 0, PixelFormat::gray_f32};
  reals.range = {0, 255};
  const FrameBuffer grays = beside({wide, 3, 2, 0, PixelFormat::gray_u16}, reals);
  const Rgb black{0, 0, 0};
  EXPECT_EQ(color_at(grays, 2, 1), untouched);
  EXPECT_EQ(color_at(grays, 3, 0), untouched);
  EXPECT_EQ(color_at(grays, 4, 0), (Rgb{255, 255, 255}));
  EXPECT_EQ(color_at(grays, 5, 0), black);
  EXPECT_EQ(color_at(grays, 3, 1), black);
  EXPECT_EQ(color_at(grays, 4, 1), untouched);
  EXPECT_THROW(beside(gray(size, 0), gray({3, 3}, 0)), Error);
  EXPECT_THROW(beside(gray(size, 0), Frame{}), Error);
}

TEST(Wheel, HasTheColorsOfItsDirections) {
  const FrameBuffer wheel = color_wheel(101);
  EXPECT_EQ(wheel.size(), (Size{101, 101}));
  EXPECT_EQ(color_at(wheel, 50, 50), (Rgb{255, 255, 255}));
  EXPECT_EQ(color_at(wheel, 0, 0), (Rgb{255, 255, 255}));
  const Rgb right = color_at(wheel, 98, 50), down = color_at(wheel, 50, 98), left = color_at(wheel, 2, 50);
  EXPECT_TRUE(right[0] == 255 && right[1] < 20 && right[2] < 20);
  EXPECT_TRUE(down[0] == 255 && down[1] > 220 && down[2] < 20);
  EXPECT_TRUE(left[0] < 20 && left[1] > 200 && left[2] == 255);
  EXPECT_EQ(color_at(color_wheel(64, ColorScheme::marzat), 0, 0), (Rgb{0, 0, 0}));
  EXPECT_EQ(color_wheel(1).size(), (Size{1, 1}));
  EXPECT_THROW(color_wheel(0), Error);
}

TEST(Arrows, ScaleThemselvesByTheLongestThatIsDrawn) {
  const Size size{64, 64};
  FlowField flow = uniform(size, 0.1f, 0);
  flow.u(24, 40) = 0.5f;                        // one with an arrow
  flow.u(25, 40) = 100;                         // one without
  flow.u(40, 40) = 70, flow.valid(40, 40) = 0;  // not valid
  EXPECT_EQ(arrow_scale(flow, 16), 32);
  const FrameBuffer drawn = draw_arrows(gray(size, 100), flow, {.step = 16}),
                    same = draw_arrows(gray(size, 100), flow, {.step = 16, .scale = 32});
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) ASSERT_EQ(color_at(drawn, x, y), color_at(same, x, y));
  EXPECT_EQ(arrow_scale(uniform(size, 0, 0), 16), 1);
  EXPECT_EQ(arrow_scale(uniform(size, 1e-40f, 0), 16), 1);
  EXPECT_THROW(arrow_scale(flow, 0), Error);
}

TEST(Legend, SaysWhatFlowHasFullColor) {
  const FrameBuffer plain = with_legend(gray({320, 240}, 100)),
                    said = with_legend(gray({320, 240}, 100), ColorScheme::middlebury, 12.34f);
  int dark = 0;
  for (int y = 0; y < 240; ++y)
    for (int x = 0; x < 320; ++x) {
      if (color_at(said, x, y) == color_at(plain, x, y)) continue;
      EXPECT_TRUE(x < 320 - 65 && x > 320 - 65 - 60 && y > 240 - 65) << x << ", " << y;
      dark += color_at(said, x, y)[0] == 20;
    }
  EXPECT_GT(dark, 60);
  for (const Size size : {Size{1, 1}, Size{30, 20}, Size{90, 2}})
    EXPECT_EQ(with_legend(gray(size, 5), ColorScheme::marzat, 3).size(), size);
  for (const float bad :
       {-1.0f, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
    EXPECT_THROW(with_legend(gray({9, 9}, 5), ColorScheme::marzat, bad), Error);
}

TEST(Legend, LiesInTheCorner) {
  const FrameBuffer picture = with_legend(gray({160, 120}, 100));
  EXPECT_EQ(picture.size(), (Size{160, 120}));
  for (int y = 0; y < 120; ++y)
    for (int x = 0; x < 160; ++x) {
      // The wheel of 30 px ends 2 px from the border.
      const bool in_wheel = std::hypot(x - 142.5, y - 102.5) < 16;
      if (!in_wheel) {
        ASSERT_EQ(color_at(picture, x, y), untouched) << x << ", " << y;
      }
    }
  EXPECT_GT(color_at(picture, 142, 102)[1], 200);
  for (const Size size : {Size{1, 1}, Size{2, 90}, Size{9, 3}})
    EXPECT_EQ(with_legend(gray(size, 5), ColorScheme::marzat).size(), size);
}

TEST(Pictures, ScaleArrowStandsInTheLowerLeftCorner) {
  const FrameBuffer dark({200, 100}, PixelFormat::gray_u8);
  const FrameBuffer drawn = with_scale_arrow(dark, 40, "20 m/s");
  const auto at = [&](int x, int y) { return static_cast<const std::uint8_t*>(drawn.row(y)) + 3 * x; };
  int yellow = 0, changed = 0;
  for (int y = 0; y < 100; ++y)
    for (int x = 0; x < 200; ++x) {
      if (y < 80 || x > 110) {
        EXPECT_EQ(at(x, y)[0], 0) << x << " " << y;
      }
      changed += at(x, y)[0] > 0;
      yellow += at(x, y)[0] > 200 && at(x, y)[2] < 60;
    }
  EXPECT_GE(yellow, 40) << "the shaft is 40 px long";
  EXPECT_GT(changed, 500);
  const FrameBuffer small = with_scale_arrow(dark, 190, "20 m/s");
  EXPECT_EQ(static_cast<const std::uint8_t*>(small.row(90))[3 * 20], 0) << "there is no room for it";
  EXPECT_THROW(with_scale_arrow(dark, 0, "1 px"), Error);
  EXPECT_THROW(with_scale_arrow(dark, 10, "~"), Error);
}

}  // namespace
}  // namespace parafield
