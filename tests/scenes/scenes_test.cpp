#include "parafield/scenes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

namespace parafield {
namespace {

const std::uint8_t* row(const FrameBuffer& frame, int y) {
  return static_cast<const std::uint8_t*>(frame.row(y));
}

/// FNV-1a over all the pixels, rows without their padding; floats as a little-endian machine stores them.
struct Checksum {
  std::uint64_t value = 0xcbf29ce484222325u;

  void add(const void* data, std::size_t bytes) {
    const auto* byte = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i) value = (value ^ byte[i]) * 0x100000001b3u;
  }
};

std::uint64_t checksum(const Scene& scene) {
  Checksum sum;
  for (const FrameBuffer& frame : scene.frames)
    for (int y = 0; y < frame.size().height; ++y) sum.add(row(frame, y), std::size_t(frame.size().width));
  for (const FlowField& flow : scene.flow)
    for (const Image<float>* plane : {&flow.u, &flow.v})
      for (int y = 0; y < flow.size().height; ++y)
        sum.add(plane->view().row(y), std::size_t(flow.size().width) * sizeof(float));
  for (const auto& occluded : scene.occluded)
    for (int y = 0; y < occluded.size().height; ++y)
      sum.add(occluded.view().row(y), std::size_t(occluded.size().width));
  for (const auto& depth : scene.depth)
    for (int y = 0; y < depth.size().height; ++y)
      sum.add(depth.view().row(y), std::size_t(depth.size().width) * sizeof(float));
  return sum.value;
}

double bilinear(const FrameBuffer& frame, double x, double y) {
  const Size size = frame.size();
  const int x0 = std::clamp(int(std::floor(x)), 0, size.width - 1), x1 = std::min(x0 + 1, size.width - 1);
  const int y0 = std::clamp(int(std::floor(y)), 0, size.height - 1), y1 = std::min(y0 + 1, size.height - 1);
  const double a = x - x0, b = y - y0;
  return (1 - b) * ((1 - a) * row(frame, y0)[x0] + a * row(frame, y0)[x1]) +
         b * ((1 - a) * row(frame, y1)[x0] + a * row(frame, y1)[x1]);
}

/// Mean differences between frame i and frame i + 1.
struct Residual {
  double warped = 0, still = 0;  ///< with and without the true flow, where nothing is occluded
  double hidden = 0;             ///< with the true flow, where the match is hidden inside the image
  int pixels = 0, hidden_pixels = 0;
};

Residual residual(const Scene& scene, std::size_t i) {
  Residual sum;
  const FlowField& flow = scene.flow[i];
  const Size size = flow.size();
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const double match_x = x + double(flow.u(x, y)), match_y = y + double(flow.v(x, y));
      const int gray = row(scene.frames[i], y)[x];
      const bool inside =
          match_x >= 0 && match_y >= 0 && match_x <= size.width - 1 && match_y <= size.height - 1;
      if (!inside) {
        EXPECT_TRUE(scene.occluded[i](x, y)) << x << ", " << y;
      } else if (scene.occluded[i](x, y)) {
        sum.hidden += std::abs(bilinear(scene.frames[i + 1], match_x, match_y) - gray);
        ++sum.hidden_pixels;
      } else {
        sum.warped += std::abs(bilinear(scene.frames[i + 1], match_x, match_y) - gray);
        sum.still += std::abs(row(scene.frames[i + 1], y)[x] - gray);
        ++sum.pixels;
      }
    }
  sum.warped /= std::max(sum.pixels, 1);
  sum.still /= std::max(sum.pixels, 1);
  sum.hidden /= std::max(sum.hidden_pixels, 1);
  return sum;
}

class EveryScene : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Scenes, EveryScene,
                         testing::Values("translation", "rotation", "zoom", "affine", "layers", "pole",
                                         "large", "flythrough"),
                         [](const auto& info) { return info.param; });

TEST(Scenes, AreListed) {
  std::string names;
  for (const SceneInfo& info : scenes()) {
    names += std::string(info.name) + " ";
    EXPECT_FALSE(info.help.empty());
  }
  EXPECT_EQ(names, "translation rotation zoom affine layers pole large flythrough ");
}

TEST_P(EveryScene, HasWhatItPromises) {
  for (const int frames : {1, 2, 4}) {
    const Scene scene = render_scene(GetParam(), {.size = {31, 22}, .frames = frames});
    EXPECT_EQ(scene.frames.size(), std::size_t(frames));
    EXPECT_EQ(scene.flow.size(), std::size_t(frames - 1));
    EXPECT_EQ(scene.occluded.size(), std::size_t(frames - 1));
    EXPECT_EQ(scene.depth.size(), std::size_t(GetParam() == "flythrough" ? frames : 0));
    for (const FrameBuffer& frame : scene.frames) {
      EXPECT_EQ(frame.size(), (Size{31, 22}));
      EXPECT_EQ(frame.format(), PixelFormat::gray_u8);
    }
    for (const FlowField& flow : scene.flow)
      for (int y = 0; y < 22; ++y)
        EXPECT_EQ(std::count(flow.valid.view().row(y), flow.valid.view().row(y) + 31, 1), 31);
  }
}

TEST_P(EveryScene, DependsOnItsOptionsOnly) {
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
  const std::map<std::string, std::uint64_t> expected{
      {"translation", 0x1a87cbd8f5608099}, {"rotation", 0x5ce62315d42d37a},   {"zoom", 0x4121e8ce10d2e757},
      {"affine", 0x58c97eac7f898c4c},      {"layers", 0xdbac4700b7215eca},    {"pole", 0xf072983168d0d4b1},
      {"large", 0x949477abbdceee34},       {"flythrough", 0x2ca51fff4ab5e28a}};
  const Scene scene = render_scene(GetParam(), {.size = {160, 120}, .frames = 3, .seed = 7});
  EXPECT_EQ(checksum(scene), expected.at(GetParam())) << std::hex << "0x" << checksum(scene);
}

TEST_P(EveryScene, TruthWarpsTheNextFrameOntoThisOne) {
  for (const Size size : {Size{640, 480}, Size{200, 301}, Size{96, 64}})
    for (const bool fine : {true, false})
      for (const std::uint64_t seed : {1, 5}) {
        const Scene scene = render_scene(GetParam(), {.size = size, .frames = 3, .seed = seed, .fine = fine});
        for (std::size_t i = 0; i < scene.flow.size(); ++i) {
          SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << (fine ? " fine" : " smooth")
                                          << " seed " << seed << " frame " << i);
          const Residual difference = residual(scene, i);
          // Linear interpolation flattens the finest texture, and mixes the two sides of an edge; smooth
          // shading leaves little but the rounding to u8.
          const bool many_edges = size.width < 640 && (GetParam() == "pole" || GetParam() == "flythrough");
          EXPECT_LT(difference.warped, (fine ? 2.2 : 0.8) * (many_edges ? 1.25 : 1));
          EXPECT_GT(difference.pixels, size.width * size.height * (GetParam() == "large" ? 6 : 8) / 10);
          // Far mountains hardly move.
          if (size.width == 640) {
            EXPECT_GT(difference.still, (GetParam() == "flythrough" ? 3 : 5) * difference.warped);
          }
        }
      }
}

TEST_P(EveryScene, MovesAsFarAsItSays) {
  const bool large = GetParam() == "large";
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Scene scene = render_scene(GetParam(), {.seed = seed, .fine = false});
    double longest = 0;
    for (int y = 0; y < 480; ++y)
      for (int x = 0; x < 640; ++x)
        longest = std::max(longest, std::hypot(double(scene.flow[0].u(x, y)), double(scene.flow[0].v(x, y))));
    EXPECT_GT(longest, large ? 55 : 1.5) << "seed " << seed;
    EXPECT_LT(longest, large ? 80 : 10) << "seed " << seed;
    if (large) {
      EXPECT_GT(std::hypot(scene.flow[0].u(639, 0), scene.flow[0].v(639, 0)), 40) << "seed " << seed;
    }
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

TEST(Scenes, TruthIsTheMotionOfTheName) {
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
      // A turn keeps the distance from the centre, and moves by the chord of its angle.
      EXPECT_NEAR(std::hypot(from_x + turn.u(x, y), from_y + turn.v(x, y)), radius, 1e-6);
      EXPECT_NEAR(std::hypot(turn.u(x, y), turn.v(x, y)), 2 * radius * std::sin(angle / 2), 1e-4);
      EXPECT_NEAR(growth.u(x, y), factor * from_x, 1e-6);
      EXPECT_NEAR(growth.v(x, y), factor * from_y, 1e-6);
    }
}

TEST(Layers, HideWhatTheForegroundCovers) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const Scene scene = render_scene("layers", {.frames = 3, .seed = seed});
    const FlowField& flow = scene.flow[1];
    const Residual difference = residual(scene, 1);
    EXPECT_GT(difference.hidden_pixels, 300);
    EXPECT_GT(difference.hidden, 10 * difference.warped);
    // The corner is background, which moves by one shift; what is hidden is background.
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

TEST(Pole, IsThinAndHidesWhatItPasses) {
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

TEST(Scenes, RefuseWhatCannotBeRendered) {
  try {
    render_scene("waterfall");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::invalid_argument);
    EXPECT_STREQ(error.what(),
                 "there is no scene 'waterfall'; the scenes are translation, rotation, zoom, affine, layers, "
                 "pole, large, flythrough");
  }
  EXPECT_THROW(render_scene("zoom", {.size = {0, 4}}), Error);
  EXPECT_THROW(render_scene("zoom", {.size = {4, -1}}), Error);
  EXPECT_THROW(render_scene("zoom", {.frames = 0}), Error);
}

}  // namespace
}  // namespace parafield
