// SPDX-License-Identifier: MIT
// The oracle of Lucas-Kanade, against values found by hand and known motion.
#include <gtest/gtest.h>

#include <limits>

#include "lucas_kanade.hpp"

namespace parafield::oracle {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A texture that is defined at every real position, 0..255.
double texture(double x, double y) {
  return 127.5 + 45 * std::sin(0.38 * x + 0.12 * y) + 40 * std::sin(0.14 * x - 0.42 * y + 1) +
         30 * std::sin(0.24 * x + 0.3 * y + 2);
}

TEST(OracleLucasKanade, PyramidStopsBeforeASideBelowFourPixels) {
  EXPECT_EQ(gaussian_pyramid(Grid({64, 14}), 16).size(), 3u);  // 14, 7, 4; then 2
  EXPECT_EQ(gaussian_pyramid(Grid({64, 48}), 3).size(), 3u);
  EXPECT_EQ(gaussian_pyramid(Grid({1, 9}), 4).size(), 1u);
}

/// Two frames: frame1 is frame0 moved by (u, v), without noise.
struct Translation {
  Size size{72, 56};
  double u, v;
  Grid frame0 = tabulate(size, [](int x, int y) { return texture(x, y); });
  Grid frame1 = tabulate(size, [this](int x, int y) { return texture(x - u, y - v); });

  /// Largest distance from the true flow, farther than 12 px from the border.
  double largest_error(const oracle::Flow& flow) const {
    double largest = 0;
    for (int y = 12; y < size.height - 12; ++y)
      for (int x = 12; x < size.width - 12; ++x)
        largest = std::max(largest, std::hypot(flow.u(x, y) - u, flow.v(x, y) - v));
    return largest;
  }
};

/// The paper's method, with other numbers.
LucasKanade plain(int levels, int iterations, float alpha = 1e-6f) {
  auto method = preset<LucasKanade>("paper");
  method.levels = levels;
  method.iterations = iterations;
  method.alpha = alpha;
  return method;
}

/// At whole pixels bilinear interpolation is exact, and only the number of iterations limits the error.
TEST(OracleLucasKanade, FindsAWholeTranslationExactly) {
  const Translation scene{.u = 3, .v = -2};
  EXPECT_LT(scene.largest_error(lucas_kanade(scene.frame0, scene.frame1).flow), 1e-3);
  EXPECT_LT(scene.largest_error(lucas_kanade(scene.frame0, scene.frame1, plain(4, 12)).flow), 1e-8);
}

/// Between pixels bilinear interpolation flattens frame1, which makes an error of some hundredths of a pixel.
TEST(OracleLucasKanade, FindsATranslation) {
  const Translation scene{.u = 2.3, .v = -1.4};
  for (const auto& preset : presets(LucasKanade{})) {
    const LucasKanadeResult result = lucas_kanade(scene.frame0, scene.frame1, preset.method);
    EXPECT_LT(scene.largest_error(result.flow), 0.06) << preset.name;
    EXPECT_EQ(result.valid(36, 28), 1) << preset.name;
    EXPECT_EQ(result.valid(71, 28), 0) << preset.name;  // matches x = 73.3
    EXPECT_EQ(result.valid(36, 0), 0) << preset.name;   // matches y = -1.4
  }
}

TEST(OracleLucasKanade, KeepsATrueStart) {
  const Translation scene{.u = 3, .v = -2};
  const oracle::Flow truth{Grid(scene.size, scene.u), Grid(scene.size, scene.v)};
  EXPECT_LT(scene.largest_error(lucas_kanade(scene.frame0, scene.frame1, plain(1, 1), truth).flow), 1e-9);
  const oracle::Flow far{Grid({72, 56}, 40),
                         Grid({72, 56}, -30)};  // outside, without an equation: the flow stays
  const LucasKanadeResult result = lucas_kanade(scene.frame0, scene.frame1, plain(1, 1), far);
  EXPECT_EQ(result.flow.u(40, 20), 40);
  EXPECT_EQ(result.eigenvalue(40, 20), 0);
}

TEST(OracleLucasKanade, GivesNoWeightToPixelsThatAreNotFinite) {
  Translation scene{.u = 3, .v = -2};
  scene.frame0(30, 20) = nan;
  scene.frame1(40, 30) = std::numeric_limits<double>::infinity();
  const LucasKanadeResult result = lucas_kanade(scene.frame0, scene.frame1, plain(1, 30));
  EXPECT_LT(scene.largest_error(result.flow), 1e-3);
  EXPECT_EQ(result.valid(30, 20), 0);
  EXPECT_EQ(result.valid(31, 20), 1);
}

TEST(OracleLucasKanade, LimitsTheFlowToTheSizeOfTheImage) {
  const Grid frame0 = tabulate({8, 8}, [](int x, int y) { return 0.01 * x + 0.02 * y; });
  const LucasKanadeResult result = lucas_kanade(frame0, Grid({8, 8}, 255), plain(1, 1, 1e-9f));
  EXPECT_EQ(result.flow.u(4, 4), -8);
  EXPECT_EQ(result.flow.v(4, 4), -8);
}

TEST(OracleLucasKanade, KeepsTheStartOnFlatFrames) {
  const Grid flat({12, 9}, 80);
  const LucasKanadeResult result = lucas_kanade(flat, Grid({12, 9}, 90));
  for (double u : result.flow.u.values) EXPECT_EQ(u, 0);
  for (double valid : result.valid.values) EXPECT_EQ(valid, 0);
  EXPECT_EQ(lucas_kanade(Grid({1, 1}, 7), Grid({1, 1}, 9)).flow.u(0, 0), 0);
}

/// One iteration by hand. frame0 = 10 x, frame1 = 10 (x - 1/2), so gx = 10 and I_t = -5 in the middle: the
/// aperture leaves v at 0 and eq. 5 gives u = 5 gx / (gx^2 + alpha), intensities divided by 255.
TEST(OracleLucasKanade, SolvesEquation5) {
  const Grid frame0 = tabulate({21, 21}, [](int x, int) { return 10.0 * x; });
  const Grid frame1 = tabulate({21, 21}, [](int x, int) { return 10.0 * x - 5; });
  const float alpha = 1e-3f;
  LucasKanade method = plain(1, 1, alpha);
  method.window = 3;
  const double g = 10 / 255.0;
  const LucasKanadeResult result = lucas_kanade(frame0, frame1, method);
  EXPECT_NEAR(result.flow.u(10, 10), 0.5 * g * g / (g * g + alpha), 1e-12);
  EXPECT_NEAR(result.flow.v(10, 10), 0, 1e-12);
  EXPECT_NEAR(result.eigenvalue(10, 10), 0, 1e-15);
  // Every pixel has the same weight 1 / (1 + (5 / 255 / 0.02)^2), which acts as a larger alpha.
  LucasKanade robust = method;
  robust.robust = 0.02f;
  const double e = 5 / 255.0 / 0.02f, weight = 1 / (1 + e * e);
  EXPECT_NEAR(lucas_kanade(frame0, frame1, robust).flow.u(10, 10),
              0.5 * weight * g * g / (weight * g * g + alpha), 1e-12);
}

}  // namespace
}  // namespace parafield::oracle
