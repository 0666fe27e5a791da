// SPDX-License-Identifier: MIT
// The oracle of the refinement, against values found by hand and known motion.
#include <gtest/gtest.h>

#include "oracle/refinement.hpp"

namespace parafield::oracle {
namespace {

/// The texture after a motion, and its frame.
struct MovedTexture {
  Size size{48, 40};
  std::vector<float> values;

  MovedTexture(double u, double v) {
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        values.push_back(float(127 + 60 * std::sin(0.4 * (x - u) + 0.2 * (y - v)) +
                               50 * std::cos(0.35 * (y - v) - 0.25 * (x - u))));
  }
  Frame frame() const {
    return {values.data(),         size.width,     size.height, std::ptrdiff_t(sizeof(float)) * size.width,
            PixelFormat::gray_f32, Memory::host(), {0, 255}};
  }
};

TEST(OracleRefinement, MovesFlowTowardTheMotion) {
  const MovedTexture from(0, 0), to(0.6, -0.4);
  const Flow start{Grid(from.size, 0.5), Grid(from.size, -0.3)};
  for (const RefineData data : {RefineData::luma, RefineData::color}) {
    const Flow flow =
        refined_flow(from.frame(), to.frame(), start, nullptr,
                     {.refine = 3, .refine_sweeps = 8, .refine_data = data, .refine_median = 2});
    for (int y = 6; y < 34; ++y)
      for (int x = 6; x < 42; ++x) {
        EXPECT_NEAR(flow.u(x, y), 0.6, 0.045);
        EXPECT_NEAR(flow.v(x, y), -0.4, 0.045);
      }
  }
}

TEST(OracleRefinement, DataAreLeastAtTheMotion) {
  const MovedTexture from(0, 0), to(0.2, 0.1);
  const Channels a = compared_channels(from.frame(), RefineData::luma),
                 b = compared_channels(to.frame(), RefineData::luma);
  const Flow none{Grid(from.size), Grid(from.size)};
  const RefinementData data = refinement_data(a, b, none, nullptr);
  for (const auto& [x, y] : {std::pair{20, 20}, {30, 12}, {11, 27}}) {
    const double determinant = data.xx(x, y) * data.yy(x, y) - data.xy(x, y) * data.xy(x, y);
    EXPECT_NEAR((data.xy(x, y) * data.yt(x, y) - data.yy(x, y) * data.xt(x, y)) / determinant, 0.2, 0.02);
    EXPECT_NEAR((data.xy(x, y) * data.xt(x, y) - data.xx(x, y) * data.yt(x, y)) / determinant, 0.1, 0.02);
  }
}

TEST(OracleRefinement, SlopesAreThoseOfAnAffineFlow) {
  const Size size{40, 32};
  const Flow flow{tabulate(size, [](int x, int y) { return 0.01 * x - 0.02 * y; }),
                  tabulate(size, [](int x, int) { return 0.005 * x; })};
  const Slopes slopes = flow_slopes(flow, color_edges({Grid(size, 100)}));
  const double expected[] = {0.01, 0.005, -0.02, 0};
  for (std::size_t i = 0; i < 4; ++i)
    for (const double slope : slopes[i].values) EXPECT_NEAR(slope, expected[i], 1e-4);
}

TEST(OracleRefinement, EdgesOfColorAreWeak) {
  const Grid step = tabulate({6, 4}, [](int x, int) { return x < 3 ? 0.0 : 25.0; });
  const EdgeWeights edges = color_edges({step});
  EXPECT_EQ(edges.x(0, 0), 1);
  EXPECT_EQ(edges.x(2, 0), 0.05 + 0.95 / 2);
  EXPECT_EQ(edges.x(5, 0), 0) << "no pixel follows";
  EXPECT_EQ(edges.y(2, 2), 1);
  EXPECT_EQ(edges.y(2, 3), 0);
}

}  // namespace
}  // namespace parafield::oracle
