// SPDX-License-Identifier: MIT
// Affine interpolation of matches: the same bits on every target, and flow that is known.
#include "not_finite.hpp"
#include "steps/affine_on.hpp"

namespace parafield {
namespace {

class AffineInterpolationOn : public OnTarget {
 protected:
  static AffineResult interpolated(const AffineCase& c) { return interpolate_on(GetParam(), c); }
};

TEST_P(AffineInterpolationOn, SameBits) {
  unsigned seed = 0;
  for (const Size size :
       {Size{1, 1}, Size{2, 3}, Size{1, 70}, Size{50, 1}, Size{33, 17}, Size{160, 90}, Size{323, 197}})
    for (const int stride : {2, 3, 4, 5, 7, 32})
      for (const double share : {0.0, 0.01, 0.6, 1.0}) {
        SCOPED_TRACE(testing::Message()
                     << size.width << "x" << size.height << " stride " << stride << " share " << share);
        AffineCase c = affine_case(size, stride, share, ++seed);
        if (seed % 3 == 1) c.color(int(seed % 2), size.width / 2, size.height / 3) = nan;
        if (seed % 5 == 1) c.color(2, size.width / 3, size.height / 2) = 1e36f;
        if (seed % 5 == 2) c.u[c.u.size() / 2] = nan;
        const bool confidence = seed % 4 != 0;
        expect_same_result(interpolate_on(reference_target(), c, 1, confidence),
                           interpolate_on(GetParam(), c, 1 + int(seed % 3), confidence));
      }
}

TEST_P(AffineInterpolationOn, WithoutMatchesThereIsNoFlow) {
  const AffineResult found = interpolated(affine_case({70, 50}, 4, 0, 1));
  for (std::size_t i = 0; i < found.u.size(); ++i) {
    ASSERT_TRUE(std::isnan(found.u[i]) && std::isnan(found.v[i])) << i;
    ASSERT_EQ(found.confidence[i], 0) << i;
  }
  for (const std::vector<float>& values : found.models)
    for (const float value : values) ASSERT_EQ(value, 0);
}

TEST_P(AffineInterpolationOn, OneMatchIsTheFlowOfAll) {
  for (const Size size : {Size{1, 1}, Size{3, 90}, Size{150, 110}, Size{600, 10}})
    for (const int place : {0, 1, 2}) {
      AffineCase c = affine_case(size, 4, 0, 3);
      const std::size_t last = c.valid.size() - 1, at = place == 0 ? 0 : place == 1 ? last / 2 : last;
      c.valid[at] = 1;
      c.u[at] = 5.25f, c.v[at] = -3.5f;
      const AffineResult found = interpolated(c);
      for (std::size_t i = 0; i < found.u.size(); ++i) {
        ASSERT_NEAR(found.u[i], 5.25f, 1e-5f) << i;
        ASSERT_NEAR(found.v[i], -3.5f, 1e-5f) << i;
        ASSERT_GT(found.confidence[i], 0) << i;
      }
    }
}

TEST_P(AffineInterpolationOn, LinearFlowIsKept) {
  for (const int stride : {2, 4, 5}) {
    const Size size{130, 90};
    AffineCase c = affine_case(size, stride, 1, 7);
    for (std::vector<float>& channel : c.colors)
      for (float& value : channel) value = 99;
    const SeedGrid grid = c.grid();
    const auto flow_u = [](int x, int y) { return 3 + 0.05f * float(x) - 0.02f * float(y); };
    for (int i = 0; i < grid.count(); ++i) {
      const auto at = std::size_t(i);
      c.u[at] = flow_u(grid.x(i % grid.columns), grid.y(i / grid.columns));
      c.v[at] = -2;
    }
    const AffineResult found = interpolated(c);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const auto at = std::size_t(y * size.width + x);
        ASSERT_NEAR(found.u[at], flow_u(x, y), 0.03f) << x << ", " << y;  // the ridge bends it a little
        ASSERT_NEAR(found.v[at], -2, 1e-4f) << x << ", " << y;
        const bool inner = std::min({x, y, size.width - 1 - x, size.height - 1 - y}) >= 3 * stride;
        ASSERT_GT(found.confidence[at], inner ? 0.98f : 0.1f) << x << ", " << y;
      }
  }
}

TEST_P(AffineInterpolationOn, FlowStopsAtAnEdgeOfColor) {
  // Two halves of different colors with different motion. Around the edge there are no matches.
  const Size size{160, 80};
  const int stride = 4, edge = 83;
  AffineCase c = affine_case(size, stride, 1, 9);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      for (int k = 0; k < 3; ++k) c.color(k, x, y) = x < edge ? 40 : 160;
  const SeedGrid grid = c.grid();
  for (int i = 0; i < grid.count(); ++i) {
    const int x = grid.x(i % grid.columns);
    const auto at = std::size_t(i);
    c.valid[at] = x < 60 || x > 90;
    c.u[at] = x < edge ? 10 : -4;
    c.v[at] = 1;
  }
  const AffineResult found = interpolated(c);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      ASSERT_NEAR(found.u[std::size_t(y * size.width + x)], x < edge ? 10 : -4, 0.01f) << x << ", " << y;
}

TEST_P(AffineInterpolationOn, PixelsThatAreNotFiniteTakeTheFlowAround) {
  AffineCase c = affine_case({90, 70}, 4, 1, 11);
  for (std::size_t i = 0; i < c.u.size(); ++i) c.u[i] = 6, c.v[i] = 2;
  for (int y = 20; y < 45; ++y)
    for (int x = 30; x < 60; ++x) c.color((x + y) % 3, x, y) = (x + y) % 5 ? nan : 1e36f;
  const AffineResult found = interpolated(c);
  for (std::size_t i = 0; i < found.u.size(); ++i) {
    ASSERT_NEAR(found.u[i], 6, 1e-4f) << i;
    ASSERT_NEAR(found.v[i], 2, 1e-4f) << i;
  }
}

TEST_P(AffineInterpolationOn, LongWaysAreFollowed) {
  // A maze: walls of another color, with gaps at alternate ends. The only match is in a corner. Distances
  // must equal those of the Bellman-Ford algorithm.
  const int stride = 2;
  const Size size{sanitized ? 60 : 300, sanitized ? 60 : 200};
  AffineCase c = affine_case(size, stride, 0, 13);
  const SeedGrid grid = c.grid();
  const auto is_wall = [&](int column, int row) {
    return row % 4 == 3 && (row / 4 % 2 ? column > 0 : column < grid.columns - 1);
  };
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      for (int k = 0; k < 3; ++k) c.color(k, x, y) = is_wall(grid.column_near(x), grid.row_near(y)) ? 255 : 0;
  c.valid[0] = 1;
  const AffineResult found = interpolated(c);
  const std::uint64_t far = std::uint64_t(1) << 40;
  std::vector<std::uint64_t> distance(found.nearest.size(), far);
  distance[0] = 0;
  const auto wall = [&](int i) { return is_wall(i % grid.columns, i / grid.columns); };
  for (bool changed = true; changed;) {
    changed = false;
    for (int i = 0; i < grid.count(); ++i)
      for (const int other :
           {i % grid.columns > 0 ? i - 1 : i, i % grid.columns < grid.columns - 1 ? i + 1 : i,
            i >= grid.columns ? i - grid.columns : i,
            i + grid.columns < grid.count() ? i + grid.columns : i}) {
        const std::uint64_t by_way =
            distance[std::size_t(other)] + (wall(i) != wall(other) ? 60 + 4 * 765 : 60);
        if (by_way >= distance[std::size_t(i)]) continue;
        distance[std::size_t(i)] = by_way;
        changed = true;
      }
  }
  for (std::size_t i = 0; i < distance.size(); ++i) {
    ASSERT_EQ(found.nearest[i] >> nearest_bits, distance[i]) << i;
    ASSERT_EQ(seed_of(found.nearest[i]), 0) << i;
  }
}

TEST_P(AffineInterpolationOn, EqualWaysLeadToTheFirstMatch) {
  AffineCase c = affine_case({200, 120}, 4, 0, 15);
  for (std::vector<float>& channel : c.colors)
    for (float& value : channel) value = 50;
  const SeedGrid grid = c.grid();
  const int first = 4 * grid.columns + 10, second = 4 * grid.columns + 30, third = 24 * grid.columns + 10;
  for (const int seed : {first, second, third}) c.valid[std::size_t(seed)] = 1;
  const AffineResult found = interpolated(c);
  for (int i = 0; i < grid.count(); ++i) {
    int best = -1, least = 1 << 20;
    for (const int seed : {first, second, third}) {
      const int steps =
          std::abs(i % grid.columns - seed % grid.columns) + std::abs(i / grid.columns - seed / grid.columns);
      if (steps < least) least = steps, best = seed;
    }
    ASSERT_EQ(seed_of(found.nearest[std::size_t(i)]), best) << i;
  }
}

TEST_P(AffineInterpolationOn, VeryWide) {
  const Size size{sanitized ? 2000 : 16384, 24};
  AffineCase c = affine_case(size, 4, 0.02, 17);
  expect_same_result(interpolate_on(reference_target(), c, 1), interpolated(c));
  for (std::size_t i = 0; i < c.valid.size(); ++i) c.valid[i] = i == 0;
  c.u[0] = 8;
  const AffineResult found = interpolated(c);
  for (const float u : found.u) ASSERT_NEAR(u, 8, 1e-5f);
}

INSTANTIATE_TEST_SUITE_P(Targets, AffineInterpolationOn, every_target(), target_name);

}  // namespace
}  // namespace parafield
