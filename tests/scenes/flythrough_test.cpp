// SPDX-License-Identifier: MIT
// Truth of the fly-through against geometry without its terrain: flow and depth of all pixels must fit one
// rigid motion of a level camera.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "parafield/scenes.hpp"

namespace parafield {
namespace {

/// Motion of points relative to the camera: (x, z) -> (c x - s z + x0, s x + c z + z0), down -> down + y0.
struct Motion {
  double c, s, x0, z0, y0;
};
struct Seen {
  double x, down, z;
};

/// The camera that scenes.hpp documents.
struct Lens {
  double focal, center, horizon;
  explicit Lens(Size size)
      : focal(0.8 * std::max(double(size.width), size.height * 4.0 / 3)),
        center((size.width - 1) / 2.0),
        horizon(0.42 * size.height - 0.5) {}
  Seen point(double x, double y, double depth) const {
    return {(x - center) / focal * depth, (y - horizon) / focal * depth, depth};
  }
};

Seen moved(const Motion& m, const Seen& p) {
  return {m.c * p.x - m.s * p.z + m.x0, p.down + m.y0, m.s * p.x + m.c * p.z + m.z0};
}

/// Solves least squares. An equation has five coefficients, of (c, s, x0, z0, y0), and the right side.
struct Equations {
  std::array<std::array<double, 6>, 5> sum{};

  void add(const std::array<double, 6>& equation) {
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < 6; ++j) sum[i][j] += equation[i] * equation[j];
  }
  Motion solve() {
    for (int i = 0; i < 5; ++i) {
      int best = i;
      for (int k = i + 1; k < 5; ++k)
        if (std::abs(sum[k][i]) > std::abs(sum[best][i])) best = k;
      std::swap(sum[i], sum[best]);
      for (int k = 0; k < 5; ++k) {
        if (k == i) continue;
        const double factor = sum[k][i] / sum[i][i];
        for (int j = i; j < 6; ++j) sum[k][j] -= factor * sum[i][j];
      }
    }
    return {sum[0][5] / sum[0][0], sum[1][5] / sum[1][1], sum[2][5] / sum[2][2], sum[3][5] / sum[3][3],
            sum[4][5] / sum[4][4]};
  }
};

Motion fit(const Scene& scene, std::size_t i) {
  const Size size = scene.frames[i].size();
  const Lens lens(size);
  Equations equations;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const double depth = scene.depth[i](x, y);
      if (std::isinf(depth)) continue;
      const Seen p = lens.point(x, y, depth);
      const Seen to = lens.point(x + double(scene.flow[i].u(x, y)), y + double(scene.flow[i].v(x, y)), 1);
      // to.x z' = x' and to.down z' = down'. Near and far points have the same weight.
      const double w = 1 / depth;
      equations.add({w * (to.x * p.z - p.x), w * (to.x * p.x + p.z), -w, w * to.x, 0, 0});
      equations.add({w * to.down * p.z, w * to.down * p.x, 0, w * to.down, -w, w * p.down});
    }
  return equations.solve();
}

class Flythrough : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, Flythrough, testing::Values(1, 2, 3, 11));

TEST_P(Flythrough, IsTheMotionOfOneCamera) {
  for (const Size size : {Size{320, 240}, Size{150, 211}}) {
    const Scene scene = render_scene("flythrough", {.size = size, .frames = 3, .seed = GetParam()});
    const Lens lens(size);
    for (std::size_t i = 0; i < 2; ++i) {
      const Motion motion = fit(scene, i);
      EXPECT_NEAR(motion.c * motion.c + motion.s * motion.s, 1, 1e-6);
      EXPECT_LT(motion.z0, -0.015) << "the camera flies ahead";
      double furthest = 0;
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          if (std::isinf(scene.depth[i](x, y))) continue;
          const Seen to = moved(motion, lens.point(x, y, scene.depth[i](x, y)));
          const double u = lens.center + lens.focal * to.x / to.z - x,
                       v = lens.horizon + lens.focal * to.down / to.z - y;
          furthest = std::max(
              furthest, std::hypot(u - double(scene.flow[i].u(x, y)), v - double(scene.flow[i].v(x, y))));
        }
      EXPECT_LT(furthest, 1e-4) << "px";
    }
  }
}

TEST_P(Flythrough, DepthExplainsOcclusion) {
  const Scene scene = render_scene("flythrough", {.size = {320, 240}, .seed = GetParam()});
  const Lens lens({320, 240});
  const Motion motion = fit(scene, 0);
  int sky = 0, hidden = 0, behind = 0, seen = 0, agrees = 0;
  for (int y = 0; y < 240; ++y)
    for (int x = 0; x < 320; ++x) {
      const double depth = scene.depth[0](x, y);
      sky += std::isinf(depth);
      const double to_x = x + double(scene.flow[0].u(x, y)), to_y = y + double(scene.flow[0].v(x, y));
      if (to_x < 0 || to_y < 0 || to_x > 319 || to_y > 239) {
        EXPECT_TRUE(scene.occluded[0](x, y));
        continue;
      }
      // Depths of the pixels of the next frame around the match.
      double nearest = INFINITY, farthest = 0;
      for (const int j : {int(to_y), std::min(int(to_y) + 1, 239)})
        for (const int k : {int(to_x), std::min(int(to_x) + 1, 319)}) {
          nearest = std::min(nearest, double(scene.depth[1](k, j)));
          farthest = std::max(farthest, double(scene.depth[1](k, j)));
        }
      const double expected = std::isinf(depth) ? depth : moved(motion, lens.point(x, y, depth)).z;
      if (scene.occluded[0](x, y)) {
        ++hidden;
        behind += nearest < expected;
      } else {
        ++seen;
        agrees += expected >= 0.97 * nearest && expected <= 1.03 * farthest;
      }
    }
  EXPECT_GT(sky, 320 * 240 / 8);
  EXPECT_LT(sky, 320 * 240 / 2);
  EXPECT_GT(hidden, 30);
  EXPECT_EQ(behind, hidden) << "a hidden point is behind a nearer one";
  EXPECT_GT(agrees, 0.998 * seen) << "a visible point has its depth";
}

TEST(FlythroughScene, FliesWithoutEnd) {
  const Scene scene = render_scene("flythrough", {.size = {20, 15}, .frames = 200});
  for (const Image<float>& depth : scene.depth) {
    EXPECT_TRUE(std::isinf(depth(10, 0)));
    EXPECT_GT(depth(10, 14), 0.5) << "above the ground";
    EXPECT_LT(depth(10, 14), 5);
  }
}

}  // namespace
}  // namespace parafield
