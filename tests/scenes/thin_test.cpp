// SPDX-License-Identifier: MIT
// Scenes of thin objects before a background: their width, motion and occlusion.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "same.hpp"
#include "scenes/truth.hpp"

namespace parafield {
namespace {

TEST(Pole, IsThinAndHidesTheBackground) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Scene scene = render_scene("pole", {.frames = 3, .seed = seed});
    const FlowField& flow = scene.flow[1];
    for (int y = 0; y < 480; ++y) {
      int width = 0;
      for (int x = 0; x < 640; ++x) {
        if (flow.u(x, y) == flow.u(0, 0)) continue;
        ++width;
        EXPECT_LT(flow.u(x, y) * flow.u(0, 0), 0) << "it moves the other way";
      }
      EXPECT_GE(width, 10);
      EXPECT_LE(width, 11);
    }
    const Residual difference = residual(scene, 1);
    EXPECT_GT(difference.hidden_pixels, 480 * 2);
    EXPECT_GT(difference.hidden, 10 * difference.warped);
  }
}

class Bar : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Scenes, Bar, testing::Values("bar", "camouflage"),
                         [](const auto& info) { return info.param; });

TEST_P(Bar, IsFourPixelsWideAndMovesTwelve) {
  std::set<std::pair<float, float>> backgrounds, bars;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const Scene scene = render_scene(GetParam(), {.size = {320, 240}, .frames = 3, .seed = seed});
    for (const FlowField& flow : scene.flow) {
      const float u = flow.u(0, 0), v = flow.v(0, 0);
      EXPECT_EQ(std::abs(u) + std::abs(v), 2) << "along one axis";
      backgrounds.emplace(u, v);
      for (int y = 0; y < 240; ++y) {
        int width = 0;
        for (int x = 0; x < 320; ++x) {
          if (flow.u(x, y) == u && flow.v(x, y) == v) continue;
          ++width;
          EXPECT_EQ(std::abs(flow.u(x, y)), 12);
          EXPECT_EQ(flow.v(x, y), 0);
          bars.emplace(flow.u(x, y), 0.f);
        }
        EXPECT_EQ(width, 4);
      }
    }
  }
  EXPECT_EQ(backgrounds.size(), 4u);
  EXPECT_EQ(bars.size(), 2u);
}

TEST_P(Bar, MovesByWholePixelsThatCanBeComparedExactly) {
  for (const bool color : {false, true}) {
    const Scene scene = render_scene(GetParam(), {.size = {320, 240}, .frames = 3, .color = color});
    for (std::size_t i = 0; i < 2; ++i) {
      const Residual difference = residual(scene, i);
      EXPECT_EQ(difference.warped, 0);
      EXPECT_GT(difference.hidden, 5);
      EXPECT_GT(difference.hidden_pixels, 240 * 3);
    }
  }
}

TEST(Bar, TheSameSeedGivesBothBarsTheSameMotion) {
  const SceneOptions options{.size = {320, 240}, .seed = 3};
  const Scene bar = render_scene("bar", options), camouflage = render_scene("camouflage", options);
  expect_same_motion(bar.flow[0], camouflage.flow[0]);
}

/// Difference between the mean color of the bar and the mean of as many background pixels on both sides, two
/// pixels away. Gray values do not count: 4 px of a random texture are darker or brighter than their
/// neighbors.
double hue_contrast(const std::string& name, std::uint64_t seed) {
  const Scene scene = render_scene(name, {.size = {320, 240}, .seed = seed, .color = true});
  std::array<double, 3> sum{};
  for (int y = 0; y < 240; ++y) {
    int left = 0;
    while (std::abs(scene.flow[0].u(left, y)) < 12) ++left;
    for (int c = 0; c < 3; ++c)
      for (int x = left; x < left + 4; ++x) {
        const auto value = [&](int column) { return row(scene.frames[0], y)[3 * column + c]; };
        sum[c] += value(x) - (value(x - 6) + value(x + 6)) / 2.0;
      }
  }
  const double gray = (sum[0] + sum[1] + sum[2]) / 3;
  return std::hypot(sum[0] - gray, sum[1] - gray, sum[2] - gray) / (240 * 4);
}

TEST(Bar, HasItsOwnColorOrTheBackgrounds) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    EXPECT_GT(hue_contrast("bar", seed), 35) << "seed " << seed;
    EXPECT_LT(hue_contrast("camouflage", seed), 5) << "seed " << seed;
  }
}

TEST(Poles, AreExplainedByTheTruthUpToTheirEdges) {
  const Scene scene = render_scene("poles", {.frames = 3, .seed = 5, .fine = false, .color = true});
  const FlowField &flow = scene.flow[0], &next = scene.flow[1];
  double sum = 0;
  int pixels = 0, unlike = 0;
  for (int y = 0; y < 480; ++y)
    for (int x = 0; x < 640; ++x) {
      if (scene.occluded[0](x, y)) continue;
      const float u = flow.u(x, y), v = flow.v(x, y);
      // Linear interpolation reads the four pixels around the match: all should show the same layer.
      const int left = int(x + u), right = std::min(left + 1, 639), above = int(y + v),
                below = std::min(above + 1, 479);
      bool alike = true;
      for (const int j : {above, below})
        for (const int k : {left, right}) alike &= next.u(k, j) == u && next.v(k, j) == v;
      if (!alike) continue;
      const double off = difference(scene.frames[0], x, y, scene.frames[1], x + double(u), y + double(v));
      sum += off;
      unlike += off > 4;
      ++pixels;
    }
  EXPECT_GT(pixels, 640 * 480 * 7 / 10);
  EXPECT_LT(sum / pixels, 0.8);
  EXPECT_LT(unlike, 0.002 * pixels) << "edges between a pole and its load";
}

TEST(Poles, AreThinAndManyAndFewMoveAlike) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    const Scene scene = render_scene("poles", {.seed = seed});
    const FlowField& flow = scene.flow[0];
    // Pixels of each flow, and their runs in the top row, which only poles cross.
    std::map<std::pair<float, float>, int> seen;
    for (int y = 0; y < 480; ++y)
      for (int x = 0; x < 640; ++x) ++seen[{flow.u(x, y), flow.v(x, y)}];
    EXPECT_GE(seen.size(), 18u);
    EXPECT_LE(seen.size(), 25u);
    float left = INFINITY, right = -INFINITY, up = INFINITY, down = -INFINITY;
    for (const auto& [of, pixels] : seen) {
      left = std::min(left, of.first);
      right = std::max(right, of.first);
      up = std::min(up, of.second);
      down = std::max(down, of.second);
    }
    EXPECT_GT((right - left) * (down - up), 100) << "labels of whole pixels between them";
    EXPECT_GT(left * right, 0) << "all to one side";
    int poles = 0, width = 0;
    for (int x = 0; x < 640; ++x) {
      if (flow.u(x, 0) == flow.u(x > 0 ? x - 1 : 639, 0)) {
        ++width;
        continue;
      }
      if (x > 0 && std::abs(flow.u(x - 1, 0)) >= 20) {
        ++poles;
        EXPECT_LE(width, 6);
      }
      width = 1;
    }
    EXPECT_GE(poles, 6) << "a pole may hide another";
    EXPECT_LE(poles, 12);
    EXPECT_GT(residual(scene, 0).hidden_pixels, 5000);
  }
}

}  // namespace
}  // namespace parafield
