// SPDX-License-Identifier: MIT
// The scene of clouds: two pairs of images, whose disparities and motion lead from one to the other.
#include <gtest/gtest.h>

#include <cmath>

#include "scenes/truth.hpp"

namespace parafield {
namespace {

/// Mean difference of the pixels of frame `from` and their matches in frame `to`, where accepts(x, y).
template <class Match, class Accepts>
double mean_difference(const Scene& scene, std::size_t from, std::size_t to, Match match, Accepts accepts) {
  const Size size = scene.frames[from].size();
  double sum = 0;
  int pixels = 0;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const auto [at_x, at_y] = match(x, y);
      if (!accepts(x, y) || at_x < 0 || at_y < 0 || at_x > size.width - 1 || at_y > size.height - 1) continue;
      sum += difference(scene.frames[from], x, y, scene.frames[to], at_x, at_y);
      ++pixels;
    }
  EXPECT_GT(pixels, size.width * size.height / 20);
  return sum / pixels;
}

struct At {
  double x, y;
};

TEST(Clouds, TruthLeadsToTheOtherImages) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    for (const Size size : {Size{640, 480}, Size{200, 301}}) {
      const Scene scene = render_scene("clouds", {.size = size, .frames = 4, .seed = seed});
      ASSERT_EQ(scene.frames.size(), 4u);
      ASSERT_EQ(scene.flow.size(), 2u);
      ASSERT_EQ(scene.disparity.size(), 2u);
      int clouds = 0;
      // Inside of a cloud and of the ground there is one layer; at the edges two are mixed.
      const auto inside = [&](std::size_t pair, bool cloud) {
        return [&scene, size, pair, cloud](int x, int y) {
          constexpr int reach = 12;
          for (int j = -reach; j <= reach; j += 3)
            for (int i = -reach; i <= reach; i += 3) {
              const int at_x = std::clamp(x + i, 0, size.width - 1),
                        at_y = std::clamp(y + j, 0, size.height - 1);
              if ((scene.disparity[pair].d(at_x, at_y) > 0) != cloud) return false;
            }
          return true;
        };
      };
      for (std::size_t pair : {0, 1}) {
        const auto& d = scene.disparity[pair].d;
        const auto across = [&](int x, int y) { return At{double(x) - d(x, y), double(y)}; };
        EXPECT_LT(mean_difference(scene, 2 * pair, 2 * pair + 1, across, inside(pair, true)), 2.5);
        const auto stay = [](int x, int y) { return At{double(x), double(y)}; };
        EXPECT_GT(mean_difference(scene, 2 * pair, 2 * pair + 1, stay, inside(pair, true)), 8);
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x) clouds += d(x, y) > 0;
      }
      EXPECT_GT(clouds, size.width * size.height / 5);
      EXPECT_LT(clouds, 2 * size.width * size.height * 4 / 5);
      for (std::size_t side : {0, 1}) {
        const FlowField& flow = scene.flow[side];
        const auto along = [&](int x, int y) {
          return At{double(x) + flow.u(x, y), double(y) + flow.v(x, y)};
        };
        const auto shown = [&](int x, int y) { return !scene.occluded[side](x, y); };
        EXPECT_LT(mean_difference(scene, side, side + 2, along, shown), 4) << "with edges";
        if (side == 1) continue;
        for (const bool cloud : {true, false})
          EXPECT_LT(mean_difference(scene, 0, 2, along, inside(0, cloud)), 2.5) << cloud;
      }
    }
  }
}

TEST(Clouds, OddNumbersOfFramesAndTinySizesWork) {
  for (const Size size : {Size{1, 1}, Size{7, 5}, Size{1, 60}, Size{60, 1}})
    for (const int frames : {1, 2, 3}) {
      const Scene scene = render_scene("clouds", {.size = size, .frames = frames});
      EXPECT_EQ(scene.frames.size(), std::size_t(frames));
      EXPECT_EQ(scene.flow.size(), std::size_t(std::max(frames - 2, 0)));
      EXPECT_EQ(scene.disparity.size(), std::size_t(frames / 2));
    }
}

TEST(Clouds, HasTheSameBytesOnEveryMachine) {
  const Scene scene = render_scene("clouds", {.size = {160, 120}, .frames = 4, .seed = 7});
  EXPECT_EQ(checksum(scene), 0xbd424f09419edbd2) << std::hex << "0x" << checksum(scene);
}

}  // namespace
}  // namespace parafield
