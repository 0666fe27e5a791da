// SPDX-License-Identifier: MIT
#include <set>
#include <string_view>

#include "agreement.hpp"
#include "noise.hpp"
#include "parafield/scenes.hpp"
#include "textures.hpp"

namespace parafield {
namespace {

const std::array sizes{Size{1, 1}, Size{1, 9}, Size{7, 5}, Size{33, 17}, Size{64, 48}, Size{101, 67}};

class LucasKanadeOracle : public testing::TestWithParam<LucasKanade> {};

TEST_P(LucasKanadeOracle, RandomTextures) {
  for (Size size : sizes) {
    SCOPED_TRACE(std::to_string(size.width) + " x " + std::to_string(size.height));
    const Pair pair(size, 17);
    expect_agreement(frame_of(pair.frame0), frame_of(pair.frame1), GetParam());
  }
}

TEST_P(LucasKanadeOracle, RenderedScenes) {
  for (const SceneInfo& info : scenes()) {
    // Objects that are thin for their motion, leave the frame, look alike or have no texture are lost, and
    // iterations multiply differences there. The same holds for much of what two cameras see.
    const std::set<std::string_view> lost = {"bar",   "camouflage", "poles", "balloons",
                                             "slats", "stereo",     "clouds"};
    if (lost.contains(info.name)) continue;
    SCOPED_TRACE(info.name);
    const Scene scene = render_scene(info.name, {.size = {101, 67}});
    expect_agreement(scene.frames[0], scene.frames[1], GetParam());
  }
}

/// The paper's parameters, changed by `set`: its plain least squares, where differences stay small.
template <class Set>
LucasKanade paper_with(Set set) {
  auto method = preset<LucasKanade>("paper");
  set(method);
  return method;
}
#define WITH(...) paper_with([](LucasKanade& m) { __VA_ARGS__; })

const LucasKanade parameters[] = {
    {},
    preset<LucasKanade>("paper"),
    preset<LucasKanade>("accurate"),
    WITH(m.levels = 1),
    WITH(m.levels = 16),
    WITH(m.levels = 1; m.window = 1; m.iterations = 1; m.alpha = 1e-3f),
    WITH(m.levels = 1; m.window = 2; m.iterations = 1; m.alpha = 1e-3f),
    WITH(m.window = 10),
    WITH(m.window = 31),
    WITH(m.iterations = 1),
    WITH(m.iterations = 12),
    WITH(m.alpha = 1e-9f),
    WITH(m.alpha = 1e-2f),
    WITH(m.presmooth = 0.7f),
    WITH(m.presmooth = 0.8f),
    WITH(m.presmooth = 3.1f),
    WITH(m.robust = 0.02f),
    WITH(m.robust = 1),
    WITH(m.median = 3),
    WITH(m.median = 5),
    WITH(m.median = 3; m.median_each = true),
    WITH(m.min_eigenvalue = 0),
    WITH(m.min_eigenvalue = 1e-3f),
    {.levels = 3,
     .window = 6,
     .iterations = 5,
     .alpha = 1e-4f,
     .presmooth = 0.5f,
     .robust = 0.1f,
     .median = 3,
     .min_eigenvalue = 1e-5f},
};
INSTANTIATE_TEST_SUITE_P(Parameters, LucasKanadeOracle, testing::ValuesIn(parameters),
                         [](const auto& info) { return std::to_string(info.index); });

/// Two frames of independent noise: flow goes in all directions, out of the frame, up to the limit. Every
/// iteration multiplies differences here, so only the first is compared closely.
TEST(LucasKanadeOracle, Noise) {
  std::mt19937 random(11);
  for (Size size : sizes) {
    SCOPED_TRACE(std::to_string(size.width) + " x " + std::to_string(size.height));
    Image<float> frame0(size), frame1(size);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        frame0(x, y) = float(random() % 256);
        frame1(x, y) = float(random() % 256);
      }
    for (int window : {1, 2, 3, 8})
      expect_agreement(frame_of(frame0), frame_of(frame1), {.levels = 1, .window = window, .iterations = 1});
    expect_agreement(frame_of(frame0), frame_of(frame1), {.window = 8},
                     {.mean = 1e-4, .percentile99 = 1e-3, .largest = 0.1});
  }
}

TEST(LucasKanadeOracle, RandomParametersAndSizes) {
  std::mt19937 random(3);
  const auto uniform = [&](double low, double high) { return low + (high - low) * random() / 4294967296.0; };
  const auto integer = [&](int low, int high) { return low + int(random() % (high - low + 1)); };
  for (int i = 0; i < 40; ++i) {
    const LucasKanade method{.levels = integer(1, 5),
                             .window = integer(5, 31),
                             .iterations = integer(1, 6),
                             .alpha = float(std::pow(10, uniform(-8, -1))),
                             .presmooth = integer(0, 1) ? float(uniform(0.2, 2)) : 0,
                             .robust = integer(0, 1) ? float(uniform(0.02, 0.5)) : 0,
                             .median = std::array{0, 3, 5}[integer(0, 2)],
                             .median_each = integer(0, 1) == 1,
                             .min_eigenvalue = float(std::pow(10, uniform(-6, -2)))};
    const Size size{integer(1, 90), integer(1, 90)};
    SCOPED_TRACE(std::to_string(size.width) + " x " + std::to_string(size.height) +
                 testing::PrintToString(method));
    const Pair pair(size, 100 + i);
    expect_agreement(frame_of(pair.frame0), frame_of(pair.frame1), method);
  }
}

TEST(LucasKanadeOracle, EveryPixelFormat) {
  using enum PixelFormat;
  for (PixelFormat format :
       {gray_u8, gray_u16, gray_f32, rgb_u8, rgb_u16, rgb_f32, bgr_u8, rgba_u8, bgra_u8}) {
    SCOPED_TRACE(to_string(format));
    const GuardedFrame frame0({41, 29}, format, 5, 0, 24, 255), frame1({41, 29}, format, 5, 1.3f, 8, 255);
    expect_agreement(frame0, frame1, {});
  }
}

TEST(LucasKanadeOracle, StartFlow) {
  for (Size size : sizes)
    for (int levels : {1, 3}) {
      SCOPED_TRACE(std::to_string(size.width) + " x " + std::to_string(size.height));
      const Pair pair(size, 23);
      const LucasKanade method{.levels = levels, .iterations = 2};
      FlowField start(size);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          start.u(x, y) = 1.5f + 0.02f * y;
          start.v(x, y) = -1 + 0.01f * x;
        }
      start.u(0, size.height / 2) = std::numeric_limits<float>::quiet_NaN();  // not finite: starts as 0
      start.v(size.width / 2, 0) = 1e10f;
      FlowEstimator estimator(method, size, {.device = Device::cpu(2), .min_confidence = 0});
      const std::array frames{frame_of(pair.frame0), frame_of(pair.frame1)};
      const FlowField& flow = estimator({.frames = frames, .start = start});
      expect_agreement(flow,
                       oracle::lucas_kanade(oracle::luma(frames[0]), oracle::luma(frames[1]), method,
                                            oracle::Flow{oracle::grid_of(start.u), oracle::grid_of(start.v)}),
                       method);
    }
}

/// Temporal refinement (section 2.3): each pair starts from the flow of the last pair.
TEST(LucasKanadeOracle, PushedFrames) {
  const Size size{64, 48};
  const Pair one(size, 41), two(size, 43);
  const Frame frames[] = {frame_of(one.frame0), frame_of(one.frame1), frame_of(two.frame0),
                          frame_of(two.frame1)};
  for (bool temporal : {false, true}) {
    const LucasKanade method{.levels = 2, .window = 13, .iterations = 1, .temporal = temporal};
    FlowEstimator estimator(method, size, {.device = Device::cpu(2), .min_confidence = 0});
    EXPECT_EQ(estimator.push(frames[0]), nullptr);
    std::optional<oracle::Flow> last;
    for (int i = 1; i < 4; ++i) {
      const FlowField* flow = estimator.push(frames[i]);
      ASSERT_NE(flow, nullptr);
      const auto expected =
          oracle::lucas_kanade(oracle::luma(frames[i - 1]), oracle::luma(frames[i]), method, last);
      expect_agreement(*flow, expected, method);
      if (temporal) last = expected.flow;
    }
  }
}

TEST(LucasKanadeOracle, PixelsThatAreNotFinite) {
  Pair pair({64, 48}, 29);
  pair.frame0(20, 30) = std::numeric_limits<float>::quiet_NaN();
  pair.frame1(50, 11) = std::numeric_limits<float>::infinity();
  for (const int levels : {1, 2})
    for (const float presmooth : {0.0f, 0.5f})
      expect_agreement(frame_of(pair.frame0), frame_of(pair.frame1),
                       {.levels = levels, .presmooth = presmooth});
}

}  // namespace
}  // namespace parafield
