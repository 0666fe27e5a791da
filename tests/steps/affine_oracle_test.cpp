// SPDX-License-Identifier: MIT
// Affine interpolation against the oracle's. Ways along the grid are the same, as they are whole numbers.
#include "oracle/affine.hpp"
#include "steps/affine_on.hpp"

namespace parafield {
namespace {

void expect_agreement(const AffineCase& c) {
  SCOPED_TRACE(testing::Message() << c.size.width << "x" << c.size.height << " stride " << c.stride);
  std::array<oracle::Grid, 3> colors;
  for (std::size_t k = 0; k < 3; ++k)
    colors[k] = oracle::tabulate(c.size, [&](int x, int y) {
      return double(c.colors[k][std::size_t(y) * std::size_t(c.size.width) + std::size_t(x)]);
    });
  std::vector<std::optional<oracle::Vector2>> matches;
  for (std::size_t i = 0; i < c.valid.size(); ++i)
    matches.push_back(c.valid[i] ? std::optional(oracle::Vector2{c.u[i], c.v[i]}) : std::nullopt);
  const oracle::AffineFlow expected(colors, c.stride, matches);
  const AffineResult found = interpolate_on(reference_target(), c);
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (expected.nearest[i] < 0) {
      ASSERT_EQ(found.nearest[i], no_match);
      continue;
    }
    ASSERT_EQ(seed_of(found.nearest[i]), expected.nearest[i]) << "seed " << i;
    ASSERT_NEAR(double(found.nearest[i] >> nearest_bits), expected.distance[i] * step_length, 1e-6);
    if (!matches[i]) continue;
    const oracle::LinearFlow& fit = expected.fits[i];
    const double values[] = {fit.value[0],   fit.value[1],   fit.slope_x[0],
                             fit.slope_y[0], fit.slope_x[1], fit.slope_y[1]};
    for (int k = 0; k < 6; ++k) ASSERT_NEAR(found.models[k][i], values[k], 2e-4) << "seed " << i << ", " << k;
  }
  for (int y = 0; y < c.size.height; ++y)
    for (int x = 0; x < c.size.width; ++x) {
      const auto i = std::size_t(y) * std::size_t(c.size.width) + std::size_t(x);
      double confidence = 0;
      const std::optional<oracle::Vector2> flow = expected.flow(x, y, confidence);
      ASSERT_NEAR(found.confidence[i], confidence, 1e-5) << x << ", " << y;
      ASSERT_EQ(std::isnan(found.u[i]), !flow) << x << ", " << y;
      if (!flow) continue;
      // Far from its match a model's slopes count many times.
      const double tolerance = 1e-3 * (1 + std::hypot((*flow)[0], (*flow)[1]) / 10);
      ASSERT_NEAR(found.u[i], (*flow)[0], tolerance) << x << ", " << y;
      ASSERT_NEAR(found.v[i], (*flow)[1], tolerance) << x << ", " << y;
    }
}

TEST(AffineOracle, Agrees) {
  unsigned seed = 0;
  for (const Size size : {Size{1, 1}, Size{3, 2}, Size{1, 40}, Size{17, 13}, Size{64, 48}, Size{201, 67}})
    for (const int stride : {2, 3, 4, 6, 32})
      for (const double share : {0.0, 0.03, 0.5, 1.0})
        expect_agreement(affine_case(size, stride, share, ++seed));
}

}  // namespace
}  // namespace parafield
