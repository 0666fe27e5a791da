// SPDX-License-Identifier: MIT
// Scenes in color: their luma is the gray scene, the truth explains each channel, and every surface has a
// hue.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "scenes/truth.hpp"

namespace parafield {
namespace {

class EverySceneInColor : public testing::TestWithParam<std::string_view> {};
INSTANTIATE_TEST_SUITE_P(Scenes, EverySceneInColor, testing::ValuesIn([] {
                           std::vector<std::string_view> names;
                           for (const SceneInfo& scene : scenes()) names.push_back(scene.name);
                           return names;
                         }()),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(EverySceneInColor, HasTheGraySceneAsLumaAndItsTruth) {
  SceneOptions options{.size = {160, 120}, .frames = 3, .seed = 7};
  Scene gray = render_scene(GetParam(), options);
  options.color = true;
  Scene color = render_scene(GetParam(), options);
  double saturation = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    ASSERT_EQ(color.frames[i].format(), PixelFormat::rgb_u8);
    for (int y = 0; y < 120; ++y)
      for (int x = 0; x < 160; ++x) {
        const std::uint8_t* rgb = row(color.frames[i], y) + 3 * x;
        // The channels and the gray value are rounded.
        ASSERT_NEAR(0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2], row(gray.frames[i], y)[x], 1.001);
        saturation += std::max({rgb[0], rgb[1], rgb[2]}) - std::min({rgb[0], rgb[1], rgb[2]});
      }
  }
  EXPECT_GT(saturation / (3 * 160 * 120), 15);
  gray.frames.clear();
  color.frames.clear();
  EXPECT_EQ(checksum(gray), checksum(color)) << "the truth";
}

TEST_P(EverySceneInColor, HasTheSameBytesOnEveryMachine) {
  const std::map<std::string_view, std::uint64_t> expected{{"translation", 0x8b53fe6283a7c2b3},
                                                           {"rotation", 0x5cf62a163ee6ba56},
                                                           {"zoom", 0x8525e4c69dd6f5c6},
                                                           {"affine", 0xe0e3e86c3ae0251b},
                                                           {"layers", 0xfd6e0e732f8ed873},
                                                           {"pole", 0x9ab215c04e9d0fac},
                                                           {"large", 0xaf3d5c3fc29b27bc},
                                                           {"bar", 0x5ea2b2045c77622b},
                                                           {"camouflage", 0x6b0a1aa1fcd6d0bf},
                                                           {"poles", 0xecaef16534e14e51},
                                                           {"balloons", 0x58b80e5d36d0ad05},
                                                           {"facade", 0x9417f8b788732855},
                                                           {"slats", 0x45994d8fe2cb8d61},
                                                           {"runner", 0xd0345086bf445501},
                                                           {"flythrough", 0x38436987e35da342},
                                                           {"stereo", 0x4347276c1f5c36b4},
                                                           {"ball", 0xa6b35a21fa08fb17},
                                                           {"sheet", 0xcc3efff639188deb},
                                                           {"clouds", 0x43d54da33e3f0b3d},
                                                           {"square", 0xe62852258e38e769}};
  const Scene scene = render_scene(GetParam(), {.size = {160, 120}, .frames = 3, .seed = 7, .color = true});
  EXPECT_EQ(checksum(scene), expected.at(GetParam())) << std::hex << "0x" << checksum(scene);
}

TEST_P(EverySceneInColor, TruthWarpsEachChannelOfTheNextFrame) {
  if (GetParam() == "clouds") GTEST_SKIP() << "its flow skips a frame: clouds_test.cpp";
  if (GetParam() == "square") GTEST_SKIP() << "it has no flow: square_test.cpp";
  // Poles are too thin for less.
  const Size size = GetParam() == "poles" ? Size{640, 480} : Size{320, 240};
  for (const bool fine : {true, false}) {
    const Scene scene =
        render_scene(GetParam(), {.size = size, .frames = 3, .seed = 5, .fine = fine, .color = true});
    for (std::size_t i = 0; i < 2; ++i) {
      const Residual difference = residual(scene, i);
      const double edges = GetParam() == "poles"    ? 1.5
                           : GetParam() == "facade" ? 2
                           : GetParam() == "slats"  ? 4.5
                                                    : 1;
      EXPECT_LT(difference.warped, (fine ? 2.2 : 0.8) * edges);
      EXPECT_GT(difference.still, (GetParam() == "flythrough" ? 3 : 5) * difference.warped);
    }
  }
}

TEST(ColorScenes, ChangeTheirHueSlowly) {
  // Neighbors differ mostly in light, in all three channels.
  const Scene scene = render_scene("translation", {.frames = 1, .color = true});
  double light = 0, hue = 0;
  for (int y = 0; y < 480; ++y)
    for (int x = 1; x < 640; ++x) {
      const std::uint8_t* rgb = row(scene.frames[0], y) + 3 * x;
      std::array<int, 3> step;
      for (int c = 0; c < 3; ++c) step[c] = rgb[c] - rgb[c - 3];
      light += std::abs(step[0] + step[1] + step[2]) / 3.0;
      hue += (std::abs(step[0] - step[1]) + std::abs(step[2] - step[1])) / 2.0;
    }
  EXPECT_LT(hue, 0.35 * light);
}

}  // namespace
}  // namespace parafield
