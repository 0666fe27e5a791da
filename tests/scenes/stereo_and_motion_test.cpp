// SPDX-License-Identifier: MIT
// The scenes for stereo and for motion detection: a rectified pair with its disparities, and a still camera
// with its masks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "scenes/truth.hpp"

namespace parafield {
namespace {

TEST(StereoScene, IsARectifiedPair) {
  for (const Size size : {Size{320, 240}, Size{151, 210}}) {
    const Scene scene = render_scene("stereo", {.size = size, .frames = 4, .seed = 3});
    const double focal = 0.8 * std::max(double(size.width), size.height * 4.0 / 3);
    int sky = 0;
    for (const std::size_t pair : {0, 1}) {
      const FlowField& flow = scene.flow[2 * pair];
      const DisparityField& disparity = scene.disparity[pair];
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          const float d = disparity.d(x, y);
          sky += d == 0;
          ASSERT_NEAR(flow.v(x, y), 0, 1e-5);
          ASSERT_NEAR(flow.u(x, y), -d, 1e-4);
          ASSERT_FLOAT_EQ(d, float(focal * 0.17 / double(scene.depth[2 * pair](x, y))));
          ASSERT_EQ(disparity.valid(x, y), 1);
        }
    }
    EXPECT_GT(sky, size.width * size.height / 8);
    EXPECT_LT(sky, size.width * size.height);
  }
}

TEST(CurvedScenes, AreRectifiedPairs) {
  for (const char* name : {"ball", "sheet"})
    for (const Size size : {Size{320, 240}, Size{151, 210}}) {
      const Scene scene = render_scene(name, {.size = size, .frames = 4, .seed = 3});
      ASSERT_EQ(scene.disparity.size(), 2u);
      for (const std::size_t pair : {0, 1}) {
        const FlowField& flow = scene.flow[2 * pair];
        int hidden = 0;
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x) {
            const float d = scene.disparity[pair].d(x, y);
            ASSERT_GT(d, 0);
            ASSERT_NEAR(flow.v(x, y), 0, 1e-5);
            ASSERT_NEAR(flow.u(x, y), -d, 1e-4);
            hidden += x >= d && scene.occluded[2 * pair](x, y);
          }
        EXPECT_GT(hidden, size.height) << "the wall beside the shape";
        const Residual difference = residual(scene, 2 * pair);
        EXPECT_LT(difference.warped, 2);
        EXPECT_GT(difference.still, 5 * difference.warped);
      }
    }
}

TEST(StereoScene, FliesOnFromPairToPair) {
  const Scene scene = render_scene("stereo", {.size = {160, 120}, .frames = 4}),
              flight = render_scene("flythrough", {.size = {160, 120}, .frames = 2});
  for (const std::size_t i : {0, 1})
    for (int y = 0; y < 120; ++y)
      ASSERT_EQ(std::memcmp(row(scene.frames[2 * i], y), row(flight.frames[i], y), 160), 0)
          << "the left images";
}

TEST(Balloons, MoveBeforeAStillCamera) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Scene scene =
        render_scene("balloons", {.size = {320, 240}, .frames = 3, .seed = seed, .color = true});
    const auto moves = [&](std::size_t frame, int x, int y) {
      return scene.flow[frame].u(x, y) != 0 || scene.flow[frame].v(x, y) != 0;
    };
    int moving = 0;
    for (int y = 0; y < 240; ++y)
      for (int x = 0; x < 320; ++x) {
        ASSERT_EQ(scene.moving[0](x, y), moves(1, x, y)) << "the mask is that of the second frame";
        moving += scene.moving[0](x, y);
        if (moves(0, x, y) || moves(1, x, y)) continue;
        ASSERT_EQ(std::memcmp(row(scene.frames[0], y) + 3 * x, row(scene.frames[1], y) + 3 * x, 3), 0);
      }
    EXPECT_GT(moving, 320 * 240 / 20);
    EXPECT_LT(moving, 320 * 240 / 4);
  }
}

}  // namespace
}  // namespace parafield
