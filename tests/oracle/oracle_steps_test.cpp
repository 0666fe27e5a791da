// SPDX-License-Identifier: MIT
// The steps of the oracles, against values found by hand.
#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "steps.hpp"

namespace parafield::oracle {
namespace {

Grid grid(Size size, std::vector<double> values) {
  Grid result(size);
  result.values = std::move(values);
  return result;
}

template <class Sample, std::size_t n>
Frame one_pixel(const std::array<Sample, n>& sample, PixelFormat format) {
  return {.data = sample.data(), .width = 1, .height = 1, .pitch = 0, .format = format};
}

TEST(OracleSteps, ReadsTheNearestPixelBeyondTheBorder) {
  const Grid image = grid({2, 2}, {1, 2, 3, 4});
  EXPECT_EQ(image(-3, -1), 1);
  EXPECT_EQ(image(5, 0), 2);
  EXPECT_EQ(image(-1, 7), 3);
  EXPECT_EQ(image(2, 2), 4);
}

TEST(OracleSteps, LumaIsBT601InEveryFormat) {
  const double luma_of_100_50_200 = 29.9 + 29.35 + 22.8;
  const std::array<std::uint8_t, 4> rgba{100, 50, 200, 9}, bgra{200, 50, 100, 9};
  for (PixelFormat format : {PixelFormat::rgb_u8, PixelFormat::rgba_u8})
    EXPECT_NEAR(luma(one_pixel(rgba, format))(0, 0), luma_of_100_50_200, 1e-12);
  for (PixelFormat format : {PixelFormat::bgr_u8, PixelFormat::bgra_u8})
    EXPECT_NEAR(luma(one_pixel(bgra, format))(0, 0), luma_of_100_50_200, 1e-12);
  EXPECT_EQ(luma(one_pixel(rgba, PixelFormat::gray_u8))(0, 0), 100);

  const std::array<std::uint16_t, 3> deep{25700, 12850, 51400};
  EXPECT_NEAR(luma(one_pixel(deep, PixelFormat::rgb_u16))(0, 0), luma_of_100_50_200, 1e-12);
  EXPECT_EQ(luma(one_pixel(std::array<std::uint16_t, 1>{65535}, PixelFormat::gray_u16))(0, 0), 255);

  const std::array<float, 3> real{100, 50, 200};
  EXPECT_NEAR(luma(one_pixel(real, PixelFormat::rgb_f32))(0, 0), luma_of_100_50_200, 1e-12);
  EXPECT_EQ(luma(one_pixel(std::array<float, 1>{0.25f}, PixelFormat::gray_f32))(0, 0), 0.25);
}

TEST(OracleSteps, LumaFollowsThePitch) {
  const std::array<std::uint8_t, 8> bytes{1, 2, 3, 99, 4, 5, 6, 99};
  const Grid image = luma({.data = bytes.data(), .width = 3, .height = 2, .pitch = 4});
  EXPECT_EQ(image.values, (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST(OracleSteps, GaussianTapsEndAtTwoAndAHalfSigma) {
  const auto taps = gaussian_taps(0.5f);  // radius 2: exp(-2) and exp(-8) next to 1
  const double sum = 1 + 2 * std::exp(-2.0) + 2 * std::exp(-8.0);
  ASSERT_EQ(taps.size(), 5u);
  EXPECT_NEAR(taps[0], std::exp(-8.0) / sum, 1e-15);
  EXPECT_NEAR(taps[1], std::exp(-2.0) / sum, 1e-15);
  EXPECT_NEAR(taps[2], 1 / sum, 1e-15);
  EXPECT_EQ(gaussian_taps(0.8f).size(), 5u);
  EXPECT_EQ(gaussian_taps(0.9f).size(), 7u);
}

TEST(OracleSteps, ReductionHalvesAndKeepsAConstant) {
  const Grid reduced = reduce(Grid({7, 4}, 3.25));
  EXPECT_EQ(reduced.size, (Size{4, 2}));
  for (double value : reduced.values) EXPECT_DOUBLE_EQ(value, 3.25);
  // One bright pixel at x = 2 of 5: 6/16 of it at x = 2, 1/16 at x = 0 and 4.
  const Grid spot = reduce(grid({5, 1}, {0, 0, 16, 0, 0}));
  EXPECT_EQ(spot.values, (std::vector<double>{1, 6, 1}));
}

TEST(OracleSteps, EnlargementDoublesAFlow) {
  const Grid flow = enlarge(grid({2, 1}, {1, 3}), {4, 2});
  EXPECT_EQ(flow.values, (std::vector<double>{2, 4, 6, 6, 2, 4, 6, 6}));
}

TEST(OracleSteps, DerivativeOfARampIsItsSlope) {
  const Grid ramp = tabulate({9, 8}, [](int x, int y) { return 3.0 * x - 2.0 * y; });
  const Grid gx = derivative_x(ramp), gy = derivative_y(ramp);
  EXPECT_NEAR(gx(4, 3), 3, 1e-12);
  EXPECT_NEAR(gy(4, 3), -2, 1e-12);
  EXPECT_NEAR(gx(0, 3), 3.0 * (8 - 2) / 12, 1e-12);  // 0 0 [0] 3 6: the border's pixel stands in twice
  EXPECT_NEAR(gx(1, 3), 3.0 * (8 * 2 - 3) / 12, 1e-12);
}

TEST(OracleSteps, BilinearIsExactForABilinearImageAndClamps) {
  const Grid image = tabulate({4, 3}, [](int x, int y) { return 1 + 2.0 * x - 3.0 * y + 0.5 * x * y; });
  EXPECT_NEAR(bilinear(image, 1.25, 0.75), 1 + 2.5 - 2.25 + 0.5 * 1.25 * 0.75, 1e-12);
  EXPECT_EQ(bilinear(image, 3, 2), image(3, 2));
  EXPECT_EQ(bilinear(image, 3.5, 2), image(3, 2));
  EXPECT_EQ(bilinear(image, -7, -1), image(0, 0));
}

TEST(OracleSteps, InsideIsBetweenTheCentersOfTheCornerPixels) {
  EXPECT_TRUE(inside({4, 3}, 0, 0));
  EXPECT_TRUE(inside({4, 3}, 3, 2));
  EXPECT_FALSE(inside({4, 3}, 3.001, 2));
  EXPECT_FALSE(inside({4, 3}, 0, -0.001));
  EXPECT_FALSE(inside({4, 3}, std::numeric_limits<double>::quiet_NaN(), 0));
}

TEST(OracleSteps, AnEvenWindowReachesFurtherLeftAndUp) {
  const Grid image = tabulate({8, 8}, [](int x, int y) { return x + 10.0 * y; });
  EXPECT_NEAR(window_mean(image, 3)(4, 4), 44, 1e-12);
  EXPECT_NEAR(window_mean(image, 2)(4, 4), 44 - 0.5 - 5, 1e-12);  // x of 3 and 4, y of 3 and 4
  EXPECT_NEAR(window_mean(image, 4)(4, 4), 44 - 0.5 - 5, 1e-12);  // x of 2 to 5
  EXPECT_NEAR(window_mean(image, 4)(0, 0), (0 + 0 + 0 + 1) / 4.0 + 10 * (0 + 0 + 0 + 1) / 4.0, 1e-12);
  EXPECT_NEAR(window_mean(grid({1, 1}, {5}), 31)(0, 0), 5, 1e-12);
}

TEST(OracleSteps, MedianOfAWindow) {
  const Grid image = grid({3, 3}, {9, 1, 8, 2, 7, 3, 6, 4, 5});
  EXPECT_EQ(median(image, 3)(1, 1), 5);
  EXPECT_EQ(median(image, 3)(0, 0), 7);  // 9 9 1 9 9 1 2 2 7: 1 1 2 2 7 9 9 9 9
  EXPECT_EQ(median(image, 5)(1, 1), 6);  // 4 each of 9 8 6 5, 2 each of 1 2 3 4, one 7
}

}  // namespace
}  // namespace parafield::oracle
