// SPDX-License-Identifier: MIT
// The oracle of adaptive ridge, against values found by hand and known motion.
#include <gtest/gtest.h>

#include "adaptive_ridge.hpp"

namespace parafield::oracle {
namespace {

TEST(OracleAdaptiveRidge, CubicGoesThroughThePixelsAndMeetsStraightLinesHalfway) {
  const Grid ramp = tabulate({9, 7}, [](int x, int y) { return 3.0 * x - 2.0 * y; });
  EXPECT_EQ(bicubic(ramp, 4, 3), 6);
  EXPECT_NEAR(bicubic(ramp, 4.5, 3), 7.5, 1e-12);
  EXPECT_NEAR(bicubic(ramp, 4.5, 2.5), 8.5, 1e-12);
  for (const double t : {0.1, 0.25, 0.7})
    EXPECT_NEAR(keys(1 + t) + keys(t) + keys(1 - t) + keys(2 - t), 1, 1e-12);
}

TEST(OracleAdaptiveRidge, CellsWeightPixelsByHowWellTheirFlowIsDetermined) {
  const Size size{8, 8};
  // The left half has no texture: its flow, 5, has little weight compared with the right half's 1.
  const auto half = [&](double left, double right) {
    return tabulate(size, [=](int x, int) { return x < 4 ? left : right; });
  };
  const NormalEquations normal{half(0, 1), half(0, 0), half(0, 1), Grid(size), Grid(size), Grid(size)};
  const CellStatistics cells = cell_statistics(normal, {half(5, 1), Grid(size)}, half(10, 30));
  const double determined = 1 / (1 + 0.05 * 2 + 1e-12) + 1e-3, not_determined = 1e-3,
               mean = (5 * not_determined + determined) / (determined + not_determined);
  EXPECT_NEAR(cells.mean.u(0, 0), mean, 1e-12);
  EXPECT_NEAR(cells.spread(0, 0),
              (std::pow(5 - mean, 2) * not_determined + std::pow(1 - mean, 2) * determined) /
                  (determined + not_determined),
              1e-12);
  EXPECT_NEAR(cells.weight(0, 0), (determined + not_determined) / 2, 1e-12);
  EXPECT_EQ(cells.luma(0, 0), 20);
}

TEST(OracleAdaptiveRidge, FindsAMotion) {
  const Size size{64, 48};
  for (const int count : {2, 3, 5}) {
    std::vector<Grid> frames;
    for (int i = 0; i < count; ++i) {
      const double after = i - (count - 1) / 2;
      frames.push_back(tabulate(size, [&](int x, int y) {
        const double at_x = x - 1.4 * after, at_y = y + 0.6 * after;
        return 127.5 + 45 * std::sin(0.38 * at_x + 0.12 * at_y) +
               40 * std::sin(0.14 * at_x - 0.42 * at_y + 1) + 30 * std::sin(0.24 * at_x + 0.3 * at_y + 2);
      }));
    }
    const AdaptiveRidgeResult result = adaptive_ridge(frames, {.frames = count});
    for (int y = 10; y < size.height - 10; ++y)
      for (int x = 10; x < size.width - 10; ++x) {
        EXPECT_NEAR(result.flow.u(x, y), 1.4, 0.06);
        EXPECT_NEAR(result.flow.v(x, y), -0.6, 0.06);
        EXPECT_EQ(result.valid(x, y), 1);
      }
  }
}

}  // namespace
}  // namespace parafield::oracle
