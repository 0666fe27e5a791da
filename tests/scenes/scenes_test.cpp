// SPDX-License-Identifier: MIT
#include "parafield/scenes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "same.hpp"
#include "scenes/truth.hpp"

namespace parafield {
namespace {

class EveryScene : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Scenes, EveryScene,
                         testing::Values("translation", "rotation", "zoom", "affine", "layers", "pole",
                                         "large", "bar", "camouflage", "poles", "balloons", "facade", "slats",
                                         "runner", "flythrough", "stereo"),
                         [](const auto& info) { return info.param; });

TEST(Scenes, AreListed) {
  std::string names;
  for (const SceneInfo& info : scenes()) {
    names += std::string(info.name) + " ";
    EXPECT_FALSE(info.help.empty());
  }
  EXPECT_EQ(
      names,
      "translation rotation zoom affine layers pole large bar camouflage poles balloons facade slats runner "
      "flythrough stereo ball sheet clouds square ");
}

TEST_P(EveryScene, HasAllFramesAndTheirTruth) {
  for (const int frames : {1, 2, 4}) {
    const Scene scene = render_scene(GetParam(), {.size = {31, 22}, .frames = frames});
    EXPECT_EQ(scene.frames.size(), std::size_t(frames));
    EXPECT_EQ(scene.flow.size(), std::size_t(frames - 1));
    EXPECT_EQ(scene.occluded.size(), std::size_t(frames - 1));
    const bool stereo = GetParam() == "stereo";
    EXPECT_EQ(scene.depth.size(), std::size_t(stereo || GetParam() == "flythrough" ? frames : 0));
    EXPECT_EQ(scene.disparity.size(), std::size_t(stereo ? frames / 2 : 0));
    EXPECT_EQ(scene.moving.size(), std::size_t(GetParam() == "balloons" ? frames - 1 : 0));
    for (const FrameBuffer& frame : scene.frames) {
      EXPECT_EQ(frame.size(), (Size{31, 22}));
      EXPECT_EQ(frame.format(), PixelFormat::gray_u8);
    }
    for (const FlowField& flow : scene.flow)
      for (int y = 0; y < 22; ++y)
        EXPECT_EQ(std::count(flow.valid.view().row(y), flow.valid.view().row(y) + 31, 1), 31);
  }
}

TEST_P(EveryScene, DependsOnlyOnItsOptions) {
  const SceneOptions options{.size = {64, 48}, .frames = 3};
  SceneOptions other_seed = options, smooth = options;
  other_seed.seed = 2;
  smooth.fine = false;
  const std::uint64_t sum = checksum(render_scene(GetParam(), options));
  EXPECT_EQ(sum, checksum(render_scene(GetParam(), options)));
  EXPECT_NE(sum, checksum(render_scene(GetParam(), other_seed)));
  EXPECT_NE(sum, checksum(render_scene(GetParam(), smooth)));
}

TEST_P(EveryScene, HasTheSameBytesOnEveryMachine) {
  const std::map<std::string, std::uint64_t> expected{{"translation", 0x1a87cbd8f5608099},
                                                      {"rotation", 0x5ce62315d42d37a},
                                                      {"zoom", 0x4121e8ce10d2e757},
                                                      {"affine", 0x58c97eac7f898c4c},
                                                      {"layers", 0xdbac4700b7215eca},
                                                      {"pole", 0xf072983168d0d4b1},
                                                      {"large", 0x949477abbdceee34},
                                                      {"bar", 0x63a2a2eb38d37c4f},
                                                      {"camouflage", 0x96b4f7a6cf9df95f},
                                                      {"poles", 0x2a2cbfc4d8cc202a},
                                                      {"balloons", 0xf13a9dfc0e28a0e6},
                                                      {"facade", 0x1a76499702c29ea7},
                                                      {"slats", 0xd3147f736fe5024c},
                                                      {"runner", 0x57485ee452f8f827},
                                                      {"flythrough", 0x2ca51fff4ab5e28a},
                                                      {"stereo", 0x844640fbbcb8fb93}};
  const Scene scene = render_scene(GetParam(), {.size = {160, 120}, .frames = 3, .seed = 7});
  EXPECT_EQ(checksum(scene), expected.at(GetParam())) << std::hex << "0x" << checksum(scene);
}

TEST_P(EveryScene, TruthWarpsTheNextFrameOntoThisOne) {
  // Factors for the edges, at the largest size and below. Terrain takes long to render: it is smaller.
  struct Edges {
    double large = 1, small = 1;
  };
  static const std::map<std::string, Edges> many{
      {"pole", {1, 1.25}}, {"bar", {1, 1.25}},        {"camouflage", {1, 1.25}},
      {"poles", {1.5, 6}}, {"facade", {2, 3.3}},      {"slats", {4.7, 4.7}},
      {"runner", {1, 3}},  {"flythrough", {1, 1.25}}, {"stereo", {1, 1.25}}};
  const Edges edges = many.contains(GetParam()) ? many.at(GetParam()) : Edges{};
  const bool terrain = GetParam() == "flythrough" || GetParam() == "stereo";
  const Size largest = terrain ? Size{320, 240} : Size{640, 480};
  for (const Size size : {largest, Size{200, 301}, Size{96, 64}})
    for (const bool fine : {true, false})
      for (const std::uint64_t seed : {1, 5}) {
        if (seed == 5 && (size == largest || !fine)) continue;
        const Scene scene = render_scene(GetParam(), {.size = size, .frames = 3, .seed = seed, .fine = fine});
        for (std::size_t i = 0; i < scene.flow.size(); ++i) {
          SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << (fine ? " fine" : " smooth")
                                          << " seed " << seed << " frame " << i);
          const Residual difference = residual(scene, i);
          // Linear interpolation flattens the finest texture and mixes the two sides of an edge. With smooth
          // shading the difference is mostly the rounding to u8.
          EXPECT_LT(difference.warped, (fine ? 2.2 : 0.8) * (size == largest ? edges.large : edges.small));
          const bool far = GetParam() == "large" || GetParam() == "poles";
          EXPECT_GT(difference.pixels, size.width * size.height * (far ? 6 : 8) / 10);
          // Distant mountains hardly move.
          if (size == largest) {
            EXPECT_GT(difference.still, (GetParam() == "flythrough" ? 3 : 5) * difference.warped);
          }
        }
      }
}

constexpr Pace unsteady_paces[] = {Pace::accelerating, Pace::shaking, Pace::stop_and_go};

TEST_P(EveryScene, HasTheTruthOfEveryPace) {
  for (const Pace pace : unsteady_paces) {
    const SceneOptions options{.size = {200, 150}, .frames = 4, .seed = 3, .pace = pace};
    EXPECT_EQ(pace_named(names_of(Pace{})[std::size_t(pace)]), pace);
    const bool has_depth = GetParam() == "flythrough" || GetParam() == "stereo";
    if (has_depth || (GetParam() == "balloons" && pace == Pace::shaking)) {
      EXPECT_THROW(render_scene(GetParam(), options), Error);
      continue;
    }
    const Scene scene = render_scene(GetParam(), options);
    EXPECT_EQ(checksum(scene), checksum(render_scene(GetParam(), options)));
    for (std::size_t i = 0; i < scene.flow.size(); ++i) {
      const bool thin = GetParam() == "poles" || GetParam() == "facade" || GetParam() == "slats";
      EXPECT_LT(residual(scene, i).warped, thin ? 13 : 3.2)
          << GetParam() << " " << int(pace) << " frame " << i;
    }
  }
}

/// In the middle of the image, which one layer covers.
TEST(Scenes, ChangeTheirPace) {
  const auto motion = [](Pace pace) {
    const Scene scene =
        render_scene("translation", {.size = {640, 480}, .frames = 6, .seed = 3, .pace = pace});
    std::vector<double> u;
    for (const FlowField& flow : scene.flow) u.push_back(flow.u(320, 240));
    return u;
  };
  const std::vector<double> steady = motion(Pace::steady), faster = motion(Pace::accelerating),
                            shaking = motion(Pace::shaking), stops = motion(Pace::stop_and_go);
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_NEAR(steady[i], steady[0], 1e-5);
    EXPECT_NEAR(faster[i], (0.4 + 0.3 * double(i)) * steady[0], 1e-5);
    EXPECT_NEAR(stops[i], i == 2 || i == 3 ? steady[0] : 0, 1e-5);
    EXPECT_LE(std::abs(shaking[i] - steady[0]), 2.001);
    if (i > 0) {
      EXPECT_GT(std::abs(shaking[i] - shaking[i - 1]), 1e-3);
    }
  }
}

TEST(Scenes, RefuseAPace) {
  const auto message = [](auto&& call) -> std::string {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_EQ(message([] {
              render_scene("clouds", {.size = {40, 30}, .pace = Pace::shaking});
            }),
            "pace cannot be shaking in the scene clouds; allowed: steady");
  EXPECT_EQ(message([] {
              render_scene("balloons", {.size = {40, 30}, .pace = Pace::shaking});
            }),
            "pace cannot be shaking in the scene balloons, whose camera stands still; allowed: steady, "
            "accelerating, "
            "stop-and-go");
  EXPECT_EQ(message([] { (void)pace_named("slow"); }),
            "there is no pace 'slow'; the paces are steady, accelerating, shaking, stop-and-go");
}

TEST_P(EveryScene, MovesAsFarAsDocumented) {
  struct Range {
    double low = 1.5, high = 10, background = 0;
  };
  static const std::map<std::string, Range> ranges{{"large", {55, 80, 40}},
                                                   {"bar", {24, 24, 4}},
                                                   {"camouflage", {24, 24, 4}},
                                                   {"poles", {44, 52, 8}},
                                                   {"runner", {20, 50}},
                                                   {"slats", {2, 18}},
                                                   {"stereo", {40, 63}}};
  const Range range = ranges.contains(GetParam()) ? ranges.at(GetParam()) : Range{};
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    // Motion grows with the size, and smaller scenes take less time.
    const int part = seed == 1 ? 1 : 4;
    const Size size{640 / part, 480 / part};
    const Scene scene = render_scene(GetParam(), {.size = size, .seed = seed, .fine = false});
    double longest = 0, shortest = INFINITY;
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const double length = part * std::hypot(double(scene.flow[0].u(x, y)), double(scene.flow[0].v(x, y)));
        longest = std::max(longest, length);
        shortest = std::min(shortest, length);
      }
    EXPECT_GE(longest, range.low) << "seed " << seed;
    EXPECT_LE(longest, range.high) << "seed " << seed;
    EXPECT_GE(shortest, range.background) << "seed " << seed;
  }
}

TEST_P(EveryScene, TinySizesWork) {
  for (const Size size : {Size{1, 1}, Size{7, 5}, Size{1, 60}, Size{60, 1}, Size{2, 2}}) {
    const Scene scene = render_scene(GetParam(), {.size = size, .frames = 3});
    EXPECT_EQ(scene.frames[2].size(), size);
    EXPECT_TRUE(std::isfinite(scene.flow[1].u(size.width - 1, size.height - 1)));
  }
}

TEST(Scenes, FineTextureIsEverywhere) {
  const Scene scene = render_scene("translation", {.frames = 1});
  double total = 0, flattest = 1e9;
  const int side = 5;
  for (int y = 0; y + side <= 480; ++y)
    for (int x = 0; x + side <= 640; ++x) {
      double sum = 0, squares = 0;
      for (int j = 0; j < side; ++j)
        for (int i = 0; i < side; ++i) {
          const double gray = row(scene.frames[0], y + j)[x + i];
          sum += gray;
          squares += gray * gray;
        }
      const double deviation = std::sqrt(squares / 25 - sum * sum / 625);
      total += deviation;
      flattest = std::min(flattest, deviation);
    }
  EXPECT_GT(flattest, 2);
  EXPECT_GT(total / (476 * 636), 10);
}

TEST(Scenes, TruthFitsTheName) {
  const SceneOptions options{.size = {101, 81}};
  const Scene translation = render_scene("translation", options),
              rotation = render_scene("rotation", options), zoom = render_scene("zoom", options);
  const FlowField &shift = translation.flow[0], &turn = rotation.flow[0], &growth = zoom.flow[0];
  const double angle = 2 * std::asin(std::abs(turn.v(100, 40)) / 50 / 2);
  const double factor = growth.u(100, 40) / 50;
  EXPECT_GT(angle * 180 / 3.14159265, 0.49);
  EXPECT_LT(angle * 180 / 3.14159265, 0.91);
  EXPECT_GT(factor, 0.008);
  for (int y = 0; y < 81; ++y)
    for (int x = 0; x < 101; ++x) {
      EXPECT_EQ(shift.u(x, y), shift.u(0, 0));
      EXPECT_EQ(shift.v(x, y), shift.v(0, 0));
      const double from_x = x - 50, from_y = y - 40, radius = std::hypot(from_x, from_y);
      // A turn keeps the distance from the center and moves by the chord of its angle.
      EXPECT_NEAR(std::hypot(from_x + turn.u(x, y), from_y + turn.v(x, y)), radius, 1e-6);
      EXPECT_NEAR(std::hypot(turn.u(x, y), turn.v(x, y)), 2 * radius * std::sin(angle / 2), 1e-4);
      EXPECT_NEAR(growth.u(x, y), factor * from_x, 1e-6);
      EXPECT_NEAR(growth.v(x, y), factor * from_y, 1e-6);
    }
}

TEST(Layers, HideTheBackgroundBehindTheForeground) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Scene scene = render_scene("layers", {.frames = 3, .seed = seed});
    const FlowField& flow = scene.flow[1];
    const Residual difference = residual(scene, 1);
    EXPECT_GT(difference.hidden_pixels, 300);
    EXPECT_GT(difference.hidden, 10 * difference.warped);
    // The corner is background, which moves by one shift. Only background is hidden.
    int foreground = 0;
    for (int y = 0; y < 480; ++y)
      for (int x = 0; x < 640; ++x) {
        if (flow.u(x, y) == flow.u(0, 0) && flow.v(x, y) == flow.v(0, 0)) continue;
        ++foreground;
        EXPECT_FALSE(scene.occluded[1](x, y)) << x << ", " << y;
      }
    EXPECT_GT(foreground, 640 * 480 / 10);
    EXPECT_LT(foreground, 640 * 480 / 3);
  }
}

TEST(Scenes, ReportTheirProgress) {
  const auto expect = [](const char* name, Size size, std::size_t reports) {
    std::vector<double> shares;
    const auto progress = [&](double share) { shares.push_back(share); };
    const Scene scene = render_scene(name, {.size = size, .progress = progress}),
                same = render_scene(name, {.size = size});
    EXPECT_EQ(shares.size(), reports);
    EXPECT_TRUE(std::ranges::is_sorted(shares));
    EXPECT_GT(shares.front(), 0);
    EXPECT_EQ(shares.back(), 1);
    expect_same(scene.flow[0], same.flow[0]);
  };
  expect("translation", {1100, 1000}, 2 * 3);  // three passes, each over more than a million pixels
  expect("flythrough", {64, 48}, 5);
}

TEST(Scenes, BadOptionsAreErrors) {
  try {
    render_scene("waterfall");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_STREQ(error.what(),
                 "there is no scene 'waterfall'; the scenes are translation, rotation, zoom, affine, layers, "
                 "pole, large, bar, camouflage, poles, balloons, facade, slats, runner, flythrough, stereo, "
                 "ball, sheet, clouds, square");
  }
  EXPECT_THROW(render_scene("zoom", {.size = {0, 4}}), Error);
  EXPECT_THROW(render_scene("zoom", {.size = {4, -1}}), Error);
  EXPECT_THROW(render_scene("zoom", {.frames = 0}), Error);
}

}  // namespace
}  // namespace parafield
