// SPDX-License-Identifier: MIT
// The scene for motion detection against a background: its conditions, and its masks.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "scenes/truth.hpp"

namespace parafield {
namespace {

constexpr Conditions all_conditions[] = {Conditions::steady,  Conditions::swaying,  Conditions::drifting,
                                         Conditions::jumping, Conditions::stopping, Conditions::noisy,
                                         Conditions::waving,  Conditions::shadowed, Conditions::leaving,
                                         Conditions::shaking, Conditions::lamp,     Conditions::thermal};
constexpr Size size{160, 120};

Scene square(Conditions conditions, int frames, std::uint64_t seed = 1) {
  return render_scene("square", {.size = size, .frames = frames, .seed = seed, .conditions = conditions});
}

bool moves(const Scene& scene, std::size_t frame, int x, int y) { return scene.moving[frame - 1](x, y) != 0; }

/// Mean and standard deviation of a pixel's gray values while it does not move.
struct Gray {
  double mean = 0, deviation = 0;
  int count = 0;
};
Gray gray_of(const Scene& scene, int x, int y, std::size_t first, std::size_t last) {
  Gray gray;
  double squares = 0;
  for (std::size_t i = std::max<std::size_t>(first, 1); i < last; ++i) {
    if (moves(scene, i, x, y)) continue;
    const double value = row(scene.frames[i], y)[x];
    gray.mean += value;
    squares += value * value;
    ++gray.count;
  }
  gray.mean /= std::max(gray.count, 1);
  gray.deviation = std::sqrt(std::max(squares / std::max(gray.count, 1) - gray.mean * gray.mean, 0.0));
  return gray;
}

/// Pixels that are static often enough, sorted by how much they change.
std::vector<double> deviations(const Scene& scene) {
  std::vector<double> list;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const Gray gray = gray_of(scene, x, y, 0, scene.frames.size());
      if (gray.count > 20) list.push_back(gray.deviation);
    }
  std::ranges::sort(list);
  return list;
}

/// Median of the ratio of static pixels' gray values, of two spans of frames.
double light_ratio(const Scene& scene, std::size_t a, std::size_t b, std::size_t length) {
  std::vector<double> list;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const Gray before = gray_of(scene, x, y, a, a + length), after = gray_of(scene, x, y, b, b + length);
      if (before.count > 0 && after.count > 0 && before.mean > 60 && after.mean < 200)
        list.push_back(after.mean / before.mean);
    }
  std::ranges::sort(list);
  return list[list.size() / 2];
}

TEST(Square, HasMasksAndNoFlow) {
  for (const bool color : {false, true})
    for (const Conditions conditions : all_conditions) {
      const SceneOptions options{.size = {31, 22}, .frames = 4, .color = color, .conditions = conditions};
      const Scene scene = render_scene("square", options);
      EXPECT_EQ(scene.frames.size(), 4u);
      EXPECT_EQ(scene.moving.size(), 3u);
      EXPECT_TRUE(scene.flow.empty() && scene.occluded.empty() && scene.depth.empty());
      EXPECT_EQ(scene.frames[3].format(), color ? PixelFormat::rgb_u8 : PixelFormat::gray_u8);
      EXPECT_EQ(checksum(scene), checksum(render_scene("square", options)));
      SceneOptions other_seed = options, smooth = options;
      other_seed.seed = 2;
      smooth.fine = false;
      EXPECT_NE(checksum(scene), checksum(render_scene("square", other_seed)));
      EXPECT_NE(checksum(scene), checksum(render_scene("square", smooth)));
    }
  for (const Size tiny : {Size{1, 1}, Size{1, 50}, Size{50, 1}})
    EXPECT_EQ(render_scene("square", {.size = tiny, .frames = 3}).moving[1].size(), tiny);
}

TEST(Square, HasTheSameBytesOnEveryMachine) {
  const std::map<Conditions, std::uint64_t> expected{
      {Conditions::steady, 0xca1bc8903d69e614},   {Conditions::swaying, 0x8bd92052b29eeed1},
      {Conditions::drifting, 0x2d8f91a243299012}, {Conditions::jumping, 0x7c1f4bf976a5fe7c},
      {Conditions::stopping, 0xdf6f709326a663cb}, {Conditions::noisy, 0x6286d78df07d43a0},
      {Conditions::waving, 0x6f17ed289338d9e1},   {Conditions::shadowed, 0xe88df0afe8ab5412},
      {Conditions::leaving, 0x1505fec0f434739a},  {Conditions::shaking, 0xbbac057a1c2702f2},
      {Conditions::lamp, 0x94f5e2f0a10dbf4f},     {Conditions::thermal, 0xb80ec29b9637fc47}};
  for (const auto& [conditions, sum] : expected) {
    const Scene scene = render_scene("square", {.size = size,
                                                .frames = 6,
                                                .seed = 7,
                                                .color = conditions == Conditions::swaying,
                                                .conditions = conditions});
    EXPECT_EQ(checksum(scene), sum) << std::hex << "0x" << checksum(scene);
  }
}

TEST(Square, ThingsOfDifferentLightEnterCrossAndLeave) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Scene scene = square(Conditions::steady, 200, seed);
    double moving = 0, brighter = 0, darker = 0;
    int ever = 0, always = 0, at_border = 0;
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const Gray ground = gray_of(scene, x, y, 0, 200);
        int count = 0;
        for (std::size_t i = 1; i < 200; ++i)
          if (moves(scene, i, x, y)) {
            ++count;
            const double off = row(scene.frames[i], y)[x] - ground.mean;
            brighter += off > 20;
            darker += off < -20;
          }
        moving += count;
        ever += count > 0;
        always += count > 100;
        at_border += (x == 0 || x + 1 == size.width) && count > 0;
      }
    const int pixels = size.width * size.height;
    EXPECT_GT(moving, 0.02 * 199 * pixels);
    EXPECT_LT(moving, 0.12 * 199 * pixels);
    EXPECT_GT(brighter, 0.15 * moving);
    EXPECT_GT(darker, 0.15 * moving);
    EXPECT_GT(brighter + darker, 0.8 * moving) << "few pixels are like the ground behind them";
    EXPECT_GT(ever, pixels / 4);
    EXPECT_EQ(always, 0);
    EXPECT_GT(at_border, size.height / 2);
  }
}

TEST(Square, StaticPixelsHaveNoiseAndWeakShadowsOnly) {
  const std::vector<double> steady = deviations(square(Conditions::steady, 120)),
                            noisy = deviations(square(Conditions::noisy, 120));
  EXPECT_NEAR(steady[steady.size() / 2], 2, 0.15);
  EXPECT_NEAR(noisy[noisy.size() / 2], 6, 0.3);
  EXPECT_LT(steady[steady.size() * 99 / 100], 5) << "shadows";
  EXPECT_GT(steady[steady.size() * 99 / 100], 2.5) << "shadows";
}

TEST(Square, LeavesSwayAndCountAsStatic) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const std::vector<double> swaying = deviations(square(Conditions::swaying, 120, seed)),
                              steady = deviations(square(Conditions::steady, 120, seed));
    const auto restless = [](const std::vector<double>& list) {
      return double(std::ranges::count_if(list, [](double d) { return d > 8; })) / double(list.size());
    };
    EXPECT_GT(restless(swaying), 0.08);
    EXPECT_LT(restless(swaying), 0.3);
    EXPECT_LT(restless(steady), 0.005);
    EXPECT_NEAR(swaying[swaying.size() / 2], 2, 0.2) << "the rest stands still";
  }
}

TEST(Square, LightDriftsOrJumps) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    const double drift = light_ratio(square(Conditions::drifting, 100, seed), 1, 90, 10),
                 brighter = 1.3 / 0.7, near_it = 0.15;
    EXPECT_TRUE(std::abs(drift - brighter) < near_it || std::abs(1 / drift - brighter) < near_it) << drift;
    const Scene scene = square(Conditions::jumping, 100, seed);
    const double jump = light_ratio(scene, 40, 50, 10);
    EXPECT_NEAR(std::abs(jump - 1), 0.2, 0.01);
    EXPECT_NEAR(light_ratio(scene, 1, 40, 10), 1, 0.01);
    EXPECT_NEAR(light_ratio(scene, 50, 90, 10), 1, 0.01);
  }
}

TEST(Square, ACarStopsForHundredFramesAndGoesOn) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Scene scene = square(Conditions::stopping, 300, seed);
    int stopped = 0;
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        int since = 0, longest = 0;
        for (std::size_t i = 1; i < 300; ++i) {
          since = moves(scene, i, x, y) ? since + 1 : 0;
          longest = std::max(longest, since);
        }
        EXPECT_LT(longest, 200) << "it goes on";
        stopped += longest >= 100;
      }
    EXPECT_GT(stopped, size.width * size.height / 50) << seed;
  }
}

/// Share of the pixels whose gray value deviates by more than `least`.
double share_above(Conditions conditions, double least) {
  const std::vector<double> list = deviations(square(conditions, 120));
  return double(std::ranges::count_if(list, [=](double d) { return d > least; })) / double(list.size());
}

TEST(Square, LeavesWaveInMostOfTheImageShadowsAreStrongAndTheCameraShakes) {
  EXPECT_GT(share_above(Conditions::waving, 8), 0.25);
  EXPECT_GT(share_above(Conditions::waving, 8), 2 * share_above(Conditions::swaying, 8));
  EXPECT_GT(share_above(Conditions::shadowed, 8), 0.05);
  EXPECT_LT(share_above(Conditions::steady, 8), 0.005);
  EXPECT_GT(share_above(Conditions::shaking, 8), 0.2);
}

TEST(Square, ParkedCarsLeave) {
  const Scene scene = square(Conditions::leaving, 200);
  int parked = 0, after = 0;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      bool all = true;
      for (std::size_t i = 1; i <= 60; ++i) all = all && moves(scene, i, x, y);
      parked += all;
      after += all && moves(scene, 110, x, y);
    }
  EXPECT_GT(parked, size.width * size.height / 80);
  EXPECT_LT(after, parked / 3);
}

TEST(Square, ALampLightsHalfOfTheScene) {
  const Scene scene = square(Conditions::lamp, 120);
  for (int y = 4; y < size.height; y += 10)
    for (const int x : {10, 150}) {
      const Gray before = gray_of(scene, x, y, 20, 40), lit = gray_of(scene, x, y, 40, 80),
                 after = gray_of(scene, x, y, 80, 120);
      if (before.count < 10 || lit.count < 20 || after.count < 20 || before.mean > 150) continue;
      EXPECT_NEAR(lit.mean / before.mean, x > 80 ? 1.5 : 1, 0.08) << x << ", " << y;
      EXPECT_NEAR(after.mean / before.mean, 1, 0.08) << x << ", " << y;
    }
}

TEST(Square, ThermalImagesHaveLittleContrastAndWarmObjects) {
  const Scene scene = square(Conditions::thermal, 120);
  std::vector<double> means;
  double warmer = 0;
  int moving = 0;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const Gray ground = gray_of(scene, x, y, 0, 120);
      means.push_back(ground.mean);
      if (!moves(scene, 100, x, y)) continue;
      warmer += row(scene.frames[100], y)[x] - ground.mean;
      ++moving;
    }
  std::ranges::sort(means);
  EXPECT_LT(means[means.size() * 95 / 100] - means[means.size() / 20], 30);
  EXPECT_NEAR(warmer / moving, 14, 6);
}

TEST(Square, ConditionsAreChecked) {
  const auto message = [](const auto& call) -> std::string {
    try {
      call();
      return "no error";
    } catch (const Error& error) {
      return error.what();
    }
  };
  for (const Conditions conditions : all_conditions)
    EXPECT_EQ(conditions_named(names_of(Conditions{})[std::size_t(conditions)]), conditions);
  EXPECT_EQ(message([] { (void)conditions_named("rain"); }),
            "there are no conditions 'rain'; allowed: steady, swaying, drifting, jumping, stopping, noisy, "
            "waving, shadowed, leaving, shaking, lamp, thermal");
  EXPECT_EQ(message([] {
              render_scene("zoom", {.size = {40, 30}, .conditions = Conditions::noisy});
            }),
            "conditions cannot be noisy in the scene zoom; allowed: steady (the scene square has others)");
  EXPECT_EQ(message([] {
              render_scene("square", {.size = {40, 30}, .pace = Pace::shaking});
            }),
            "pace cannot be shaking in the scene square; allowed: steady");
}

}  // namespace
}  // namespace parafield
