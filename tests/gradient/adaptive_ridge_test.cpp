// SPDX-License-Identifier: MIT
// Adaptive ridge: on known motion, with pixels that are not finite, in streams, and its errors.
#include <cmath>
#include <limits>

#include "moving.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

using AdaptiveRidgeTest = OnDevice;

/// Mean error in px, further than `border` px from the border.
template <class Truth>
double mean_error(const FlowField& flow, int border, Truth truth) {
  double sum = 0;
  int count = 0;
  for (int y = border; y < flow.size().height - border; ++y)
    for (int x = border; x < flow.size().width - border; ++x, ++count) {
      const auto [u, v] = truth(x, y);
      sum += std::hypot(flow.u(x, y) - u, flow.v(x, y) - v);
    }
  return sum / count;
}
auto constant(double u, double v) {
  return [=](int, int) { return std::pair{u, v}; };
}

/// Interpolating this fine texture biases flow by 0.045 px on average. The refinement follows details more
/// closely, and its errors vary more.
double most_error(int refine) { return refine > 0 ? 0.0625 : 0.0525; }

TEST_P(AdaptiveRidgeTest, FindsAMotion) {
  for (const int refine : {0, 2})
    for (const int count : {2, 3, 5}) {
      const auto images = frames_of_motion({90, 70}, count, 0.7f, -0.3f, 3);
      const FlowField flow =
          estimate_flow(as_frames(images), AdaptiveRidge{.frames = count, .refinement = {.refine = refine}},
                        {.device = device()});
      EXPECT_LT(mean_error(flow, 8, constant(0.7, -0.3)), 0.045);
      for (int y = 8; y < 62; ++y)
        for (int x = 8; x < 82; ++x) {
          EXPECT_NEAR(flow.u(x, y), 0.7, most_error(refine));
          EXPECT_NEAR(flow.v(x, y), -0.3, most_error(refine));
          EXPECT_EQ(flow.valid(x, y), 1);
        }
    }
}

/// `count` frames of a coarse texture that moves by (u, v) a frame, many px.
std::vector<Image<float>> coarse_texture(Size size, int count, double u, double v) {
  const Texture texture(7);
  std::vector<Image<float>> images;
  for (int i = 0; i < count; ++i) {
    Image<float>& image = images.emplace_back(size);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) image(x, y) = float(texture((x - u * i) / 3, (y - v * i) / 3));
  }
  return images;
}

TEST_P(AdaptiveRidgeTest, FindsAMotionWithASpacing) {
  const auto images = frames_of_motion({90, 71}, 2, 0.7f, -0.3f, 3);
  for (const UseOfMatches matches : {UseOfMatches::never, UseOfMatches::automatic, UseOfMatches::always})
    for (const Sharpen sharpen : {Sharpen::none, Sharpen::two_way}) {
      const FlowField flow = estimate_flow(
          as_frames(images), AdaptiveRidge{.spacing = 2, .sharpen = sharpen, .matches = matches},
          {.device = device()});
      EXPECT_LT(mean_error(flow, 8, constant(0.7, -0.3)), 0.045);
      for (int y = 8; y < 62; ++y)
        for (int x = 8; x < 82; ++x) {
          EXPECT_NEAR(flow.u(x, y), 0.7, most_error(2));
          EXPECT_NEAR(flow.v(x, y), -0.3, most_error(2));
          EXPECT_EQ(flow.valid(x, y), 1);
        }
    }
}

TEST_P(AdaptiveRidgeTest, FindsALargeMotion) {
  const auto images = coarse_texture({200, 160}, 2, 14, -6);
  const auto frames = as_frames(images);
  const double error =
      mean_error(estimate_flow(frames, AdaptiveRidge{}, {.device = device()}), 20, constant(14, -6));
  EXPECT_LT(error, 0.05);
  EXPECT_GT(mean_error(estimate_flow(frames, AdaptiveRidge{.levels = 1, .matches = UseOfMatches::never},
                                     {.device = device()}),
                       20, constant(14, -6)),
            5)
      << "one level is not enough";
}

TEST_P(AdaptiveRidgeTest, FindsAnAffineField) {
  const Pair pair({120, 90}, 8);
  const FlowField flow =
      estimate_flow(frame_of(pair.frame0), frame_of(pair.frame1), AdaptiveRidge{}, {.device = device()});
  const double error = mean_error(flow, 8, [](double x, double y) {
    // frame1 of Pair at (x + u, y + v) equals frame0 at (x, y):
    //   u - 0.02 v = 1.7 + 0.02 y,  0.015 u + 0.99 v = -0.8 - 0.015 x + 0.01 y
    const double r = 1.7 + 0.02 * y, s = -0.8 - 0.015 * x + 0.01 * y, determinant = 0.99 + 0.02 * 0.015;
    return std::pair{(0.99 * r + 0.02 * s) / determinant, (s - 0.015 * r) / determinant};
  });
  EXPECT_LT(error, 0.05);
}

/// Before the refinement, which compares two frames.
TEST_P(AdaptiveRidgeTest, MoreFramesAreBetterOnNoisySteadyMotion) {
  const auto error = [&](int count) {
    double sum = 0;
    for (unsigned seed = 12; seed < 16; ++seed) {
      const auto images = frames_of_motion({120, 90}, count, 0.7f, -0.3f, seed, 15);
      sum += mean_error(
          estimate_flow(as_frames(images), AdaptiveRidge{.frames = count, .refinement = {.refine = 0}},
                        {.device = device()}),
          8, constant(0.7, -0.3));
    }
    return sum / 4;
  };
  const double of_two = error(2), of_three = error(3), of_five = error(5);
  EXPECT_LT(of_three, of_two);
  EXPECT_LT(of_five, 0.7 * of_two);
}

TEST_P(AdaptiveRidgeTest, AStartHelpsWithASpacing) {
  const Size size{120, 90};
  const auto images = coarse_texture(size, 2, 9, 4);
  const auto frames = as_frames(images);
  FlowField start(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) start.u(x, y) = 8.5, start.v(x, y) = 4.5;
  AdaptiveRidge method = preset<AdaptiveRidge>("fastest");
  method.levels = 1, method.finest_iterations = 3;
  FlowEstimator estimator(method, size, {.device = device()});
  const double without = mean_error(estimator(frames[0], frames[1]), 16, constant(9, 4));
  const double with = mean_error(estimator({.frames = frames, .start = start}), 16, constant(9, 4));
  EXPECT_GT(without, 0.3);
  EXPECT_LT(with, 0.1);
}

TEST_P(AdaptiveRidgeTest, AStartHelps) {
  const Size size{120, 90};
  const auto images = coarse_texture(size, 2, 9, 4);
  const auto frames = as_frames(images);
  FlowField start(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) start.u(x, y) = 8, start.v(x, y) = 5;
  FlowEstimator estimator(AdaptiveRidge{.levels = 1, .matches = UseOfMatches::never}, size,
                          {.device = device()});
  const double without = mean_error(estimator(frames[0], frames[1]), 16, constant(9, 4));
  const double with = mean_error(estimator({.frames = frames, .start = start}), 16, constant(9, 4));
  EXPECT_GT(without, 1);
  EXPECT_LT(with, 0.05);
}

TEST_P(AdaptiveRidgeTest, FlatFramesHaveNoFlow) {
  for (const Size size : {Size{20, 12}, Size{90, 70}})
    for (const auto& [count, spacing] : {std::pair{2, 1}, {2, 2}, {3, 1}, {5, 1}})
      for (const float brightness : {0.0f, 255.0f}) {
        std::vector<Image<float>> images;
        for (int i = 0; i < count; ++i) {
          Image<float>& image = images.emplace_back(size);
          for (int y = 0; y < size.height; ++y)
            for (int x = 0; x < size.width; ++x) image(x, y) = brightness;
        }
        const FlowField flow = estimate_flow(
            as_frames(images), AdaptiveRidge{.frames = count, .spacing = spacing}, {.device = device()});
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x) {
            ASSERT_EQ(flow.u(x, y), 0) << x << ' ' << y;
            ASSERT_EQ(flow.v(x, y), 0) << x << ' ' << y;
            ASSERT_EQ(flow.confidence(x, y), 0);
          }
      }
}

/// In one iteration a NaN pixel reaches 4 px by derivatives and window, the rest of that cell, two cells by
/// the mean, one by the interpolation and 2 px by the median. Beyond that no bit changes.
TEST_P(AdaptiveRidgeTest, ANaNPixelHasALimitedReachInOneIteration) {
  const Size size{140, 40};
  const AdaptiveRidge method{
      .levels = 1, .iterations = 1, .rounds = 1, .matches = UseOfMatches::never, .refinement = {.refine = 0}};
  auto images = frames_of_motion(size, 2, 0.4f, 0.1f, 4, 4);
  const FlowField clean = estimate_flow(as_frames(images), method, {.device = device()});
  images[0](20, 15) = std::numeric_limits<float>::quiet_NaN();
  const FlowField flow = estimate_flow(as_frames(images), method, {.device = device()});
  // Pixels 16 to 24 lie in cells 2 and 3, whose means reach cell 5; pixels up to the center of cell 6 read
  // cell 5.
  const int beyond = 6 * 8 + 4 + 2;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      ASSERT_TRUE(std::isfinite(flow.u(x, y)) && std::isfinite(flow.v(x, y)));
      if (x < beyond) continue;
      ASSERT_EQ(flow.u(x, y), clean.u(x, y)) << x << ' ' << y;
      ASSERT_EQ(flow.v(x, y), clean.v(x, y)) << x << ' ' << y;
      ASSERT_EQ(flow.valid(x, y), clean.valid(x, y)) << x << ' ' << y;
    }
  EXPECT_EQ(flow.valid(20, 15), 0);
}

/// With all iterations and levels it reaches every pixel, but far away it changes little.
TEST_P(AdaptiveRidgeTest, APixelThatIsNotFiniteChangesLittleFarAway) {
  const Size size{130, 100};
  for (const int count : {2, 3, 5}) {
    const AdaptiveRidge method{.frames = count};
    const FlowField clean =
        estimate_flow(as_frames(frames_of_motion(size, count, 0.7f, -0.3f, 6)), method, {.device = device()});
    for (const float value : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::max()})
      for (int bad = 0; bad < count; ++bad) {
        auto images = frames_of_motion(size, count, 0.7f, -0.3f, 6);
        images[std::size_t(bad)](60, 50) = value;
        const FlowField flow = estimate_flow(as_frames(images), method, {.device = device()});
        double near = 0, far = 0;
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x) {
            ASSERT_TRUE(std::isfinite(flow.u(x, y)) && std::isfinite(flow.v(x, y)));
            ASSERT_TRUE(std::isfinite(flow.confidence(x, y)));
            double& most = std::max(std::abs(x - 60), std::abs(y - 50)) > 16 ? far : near;
            most = std::max<double>(most,
                                    std::hypot(flow.u(x, y) - clean.u(x, y), flow.v(x, y) - clean.v(x, y)));
          }
        EXPECT_LT(near, 0.2) << count << " frames, " << value << " in frame " << bad;
        EXPECT_LT(far, 0.01) << count << " frames, " << value << " in frame " << bad;
      }
  }
}

TEST_P(AdaptiveRidgeTest, PushedFramesGiveTheFlowOfCalls) {
  const auto images = moving({61, 40}, 5, 0.5f, 0.2f, 5);
  for (const int count : {2, 3, 5})
    expect_calls_flow_of_pushes(AdaptiveRidge{.frames = count}, as_frames(images), device());
  expect_calls_flow_of_pushes(preset<AdaptiveRidge>("fastest"), as_frames(images), device());
}

TEST_P(AdaptiveRidgeTest, HugePixelsAddNoMotion) {
  const Size size{96, 64};
  Image<float> frame(size);
  const Texture texture(7);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) frame(x, y) = float(texture(x, y));
  for (const float huge : {1e7f, 1e15f, 1e30f}) {
    for (int y = 20; y < 26; ++y)
      for (int x = 40; x < 46; ++x) frame(x, y) = huge;
    const FlowField flow =
        estimate_flow(frame_of(frame), frame_of(frame), AdaptiveRidge{.median = 0}, {.device = device()});
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        ASSERT_NEAR(flow.u(x, y), 0, 0.5) << huge << " at " << x << ' ' << y;
        ASSERT_NEAR(flow.v(x, y), 0, 0.5) << huge << " at " << x << ' ' << y;
      }
  }
}

TEST_P(AdaptiveRidgeTest, RefusesOtherNumbersOfFrames) {
  const auto images = moving({20, 12}, 5, 0, 0, 1);
  const auto frames = as_frames(images);
  for (const int count : {2, 3, 5}) {
    FlowEstimator estimator(AdaptiveRidge{.frames = count}, {20, 12}, {.device = device()});
    for (const int given : {1, 2, 3, 4, 5}) {
      if (given == count) continue;
      EXPECT_EQ(message_of([&] { estimator({std::span(frames).first(std::size_t(given))}); }),
                "the method takes " + std::to_string(count) + " frames, not " + std::to_string(given));
    }
  }
}

TEST_P(AdaptiveRidgeTest, RefusesParametersOutOfRange) {
  const auto refusal = [&](const AdaptiveRidge& method) {
    return message_of([&] { FlowEstimator(method, {20, 12}, {.device = device()}); });
  };
  EXPECT_EQ(refusal({.frames = 4}), "adaptive-ridge: frames cannot be 4; allowed: 2, 3, 5");
  EXPECT_EQ(refusal({.levels = 17}), "adaptive-ridge: levels cannot be 17; allowed: 0 to 16");
  EXPECT_EQ(refusal({.spacing = 3}), "adaptive-ridge: spacing cannot be 3; allowed: 1, 2");
  EXPECT_EQ(refusal({.frames = 5, .spacing = 2}),
            "adaptive-ridge: spacing cannot be 2; allowed: 1, as frames is 5");
  EXPECT_EQ(refusal({.window = 2.5f}), "adaptive-ridge: window cannot be 2.5; allowed: 0.3 to 2");
  EXPECT_EQ(refusal({.median = 4}), "adaptive-ridge: median cannot be 4; allowed: 0, 3, 5");
  EXPECT_EQ(refusal({.shrinkage = std::numeric_limits<float>::quiet_NaN()}),
            "adaptive-ridge: shrinkage cannot be nan; allowed: 0 to 100");
}

TEST_P(AdaptiveRidgeTest, ChecksForwardAndBackwardWithTwoFrames) {
  const Size size{60, 44};
  const auto images = frames_of_motion(size, 2, 2.6f, 0, 9);
  const auto frames = as_frames(images);
  const FlowField plain = estimate_flow(frames, AdaptiveRidge{}, {.device = device()});
  const FlowField checked = estimate_flow(frames, AdaptiveRidge{}, {.device = device(), .fb_check = 0.5f});
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      ASSERT_EQ(checked.u(x, y), plain.u(x, y));
      ASSERT_LE(checked.valid(x, y), plain.valid(x, y));
      if (x >= 8 && y >= 8 && x < size.width - 8 && y < size.height - 8) {
        ASSERT_EQ(checked.valid(x, y), 1);
      }
    }
  for (const int count : {3, 5})
    EXPECT_EQ(message_of([&] {
                FlowEstimator(AdaptiveRidge{.frames = count}, size, {.device = device(), .fb_check = 1});
              }),
              "fb_check, the forward-backward check, is for methods of 2 frames; adaptive-ridge takes " +
                  std::to_string(count));
}

TEST(AdaptiveRidge, IsTheDefaultAndHasPresets) {
  EXPECT_TRUE(std::holds_alternative<AdaptiveRidge>(FlowMethod{}));
  std::vector<std::string_view> names;
  for (const auto& preset : presets(AdaptiveRidge{})) names.push_back(preset.name);
  EXPECT_EQ(names, (std::vector<std::string_view>{"default", "fast", "fastest", "precise", "accurate",
                                                  "large-motion", "sequence", "clouds"}));
  EXPECT_EQ(frames_of(FlowMethod{}), 2);
  EXPECT_EQ(preset<AdaptiveRidge>("fast").frames, 2);
  EXPECT_EQ(preset<AdaptiveRidge>("sequence").frames, 5);
}

INSTANTIATE_TEST_SUITE_P(Devices, AdaptiveRidgeTest, every_device(), device_name);

}  // namespace
}  // namespace parafield
