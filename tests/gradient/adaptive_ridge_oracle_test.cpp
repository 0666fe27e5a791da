// SPDX-License-Identifier: MIT
// Adaptive ridge against its oracle.
#include <cmath>
#include <limits>
#include <random>

#include "moving.hpp"
#include "oracle/adaptive_ridge.hpp"
#include "random_method.hpp"
#include "tasks/on_device.hpp"
#include "tolerance.hpp"

namespace parafield {
namespace {

using AdaptiveRidgeOracleTest = OnDevice;

/// Float and float64 differ by about 1e-7 px where the window determines the flow. At a few pixels they
/// differ by more, and each iteration passes the difference on: without noise, the residual that sets the
/// shrinkage consists of rounding errors, and a match at the frame's border may lie inside for one and
/// outside for the other.
constexpr Tolerance after_one_iteration{5e-6, 5e-5, 3e-4}, after_all{2e-4, 1e-3, 2e-3};

void expect_ridge_agreement(const FlowField& flow, const oracle::AdaptiveRidgeResult& expected,
                            const AdaptiveRidge& method, Tolerance tolerance) {
  const Size size = expected.flow.u.size;
  ASSERT_EQ(flow.size(), size);
  std::vector<double> differences;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const double u = expected.flow.u(x, y), v = expected.flow.v(x, y);
      ASSERT_TRUE(std::isfinite(flow.u(x, y)) && std::isfinite(flow.v(x, y))) << "at " << x << ", " << y;
      differences.push_back(std::hypot(flow.u(x, y) - u, flow.v(x, y) - v));
      EXPECT_NEAR(flow.confidence(x, y), expected.confidence(x, y), 1e-2) << "at " << x << ", " << y;
      const auto near_border = [&](double position, int side) {
        return std::min(std::abs(position), std::abs(position - (side - 1))) < 1e-3;
      };
      const bool undecided = near_border(x + u, size.width) || near_border(y + v, size.height) ||
                             std::abs(expected.residual(x, y) - 255 * double(method.max_residual)) < 0.1;
      if (differences.back() < 1e-3 && !undecided) {
        EXPECT_EQ(flow.valid(x, y), expected.valid(x, y)) << "at " << x << ", " << y;
      }
    }
  expect_within(differences, tolerance);
}

void expect_ridge_agreement(const std::vector<Image<float>>& images, AdaptiveRidge method,
                            const Device& device, Tolerance tolerance) {
  method.matches = UseOfMatches::never;  // these have tests of their own
  method.sharpen = Sharpen::none;        // so has this: it rounds
  method.refinement.refine = 0;          // and this
  const Size size = images[0].size();
  SCOPED_TRACE(std::to_string(size.width) + "x" + std::to_string(size.height) + described(method));
  expect_ridge_agreement(estimate_flow(as_frames(images), method, {.device = device, .min_confidence = 0}),
                         oracle::adaptive_ridge(grids_of(images), method), method, tolerance);
}

const Size ridge_sizes[] = {{1, 1}, {1, 9}, {9, 1}, {2, 3}, {7, 5}, {33, 17}, {70, 40}};

TEST_P(AdaptiveRidgeOracleTest, AgreesInOneIteration) {
  unsigned seed = 1;
  for (const Size size : ridge_sizes)
    for (const int frames : {2, 3, 5})
      for (const int rounds : {1, 2})
        for (const float noise : {0.0f, 4.0f})
          expect_ridge_agreement(
              frames_of_motion(size, frames, 0.6f, -0.4f, seed++, noise),
              {.frames = frames, .levels = 1, .iterations = 1, .rounds = rounds, .median = 0}, device(),
              frames == 2 ? after_one_iteration : after_all);
}

TEST_P(AdaptiveRidgeOracleTest, AgreesWithASpacing) {
  unsigned seed = 1;
  for (const Size size : ridge_sizes)
    for (const float window : {1.0f, 1.6f})
      for (const float noise : {1.0f, 4.0f}) {
        AdaptiveRidge method{.levels = 1, .spacing = 2, .iterations = 1, .rounds = 1, .window = window};
        method.median = 0;
        // A window of one or two pixels hardly determines the flow.
        expect_ridge_agreement(frames_of_motion(size, 2, 0.6f, -0.4f, seed++, noise), method, device(),
                               size.width < 9 ? after_all : after_one_iteration);
        method = {.spacing = 2, .iterations = 2, .finest_iterations = 2, .rounds = 2, .window = window};
        expect_ridge_agreement(frames_of_motion(size, 2, 0.6f, -0.4f, seed++, noise), method, device(),
                               after_all);
      }
}

TEST_P(AdaptiveRidgeOracleTest, Agrees) {
  // A wide window and little shrinkage: otherwise a level of a few pixels without noise hardly determines the
  // flow.
  const AdaptiveRidge wide{.rounds = 2, .window = 1.2f, .robust = 1, .shrinkage = 0.5f, .likeness = 7};
  unsigned seed = 1;
  for (const Size size : ridge_sizes)
    for (const int frames : {2, 3, 5})
      for (const int median : {0, 3, 5})
        for (const float noise : {0.0f, 4.0f}) {
          AdaptiveRidge method = wide;
          method.frames = frames;
          method.median = median;
          expect_ridge_agreement(frames_of_motion(size, frames, 0.6f, -0.4f, seed++, noise), method, device(),
                                 after_all);
        }
}

TEST_P(AdaptiveRidgeOracleTest, AgreesWithPresets) {
  unsigned seed = 1;
  for (const Size size : {Size{33, 17}, Size{70, 40}})
    for (const auto& [name, method, help] : presets(AdaptiveRidge{}))
      for (const float noise : {1.0f, 4.0f})
        expect_ridge_agreement(frames_of_motion(size, method.frames, 0.6f, -0.4f, seed++, noise), method,
                               device(), after_all);
}

/// Motion that stops, starts, or changes its speed: some pixels take the flow of two frames.
TEST_P(AdaptiveRidgeOracleTest, AgreesOnUnsteadyMotion) {
  const std::vector<std::vector<std::size_t>> orders = {{4, 4, 5},       {2, 4, 5},       {4, 4, 4, 5, 5},
                                                        {0, 2, 4, 5, 6}, {2, 3, 4, 5, 7}, {6, 5, 4, 5, 4}};
  unsigned seed = 1;
  for (const Size size : {Size{33, 17}, Size{70, 40}, Size{121, 75}})
    for (const auto& order : orders)
      for (const float speed : {0.05f, 0.3f, 1.0f}) {
        std::vector<Image<float>> images;
        ++seed;
        for (const std::size_t i : order)
          images.push_back(std::move(moving(size, 9, speed, -0.5f * speed, seed)[i]));
        add_noise(images, 4, seed);
        expect_ridge_agreement(images, {.frames = int(order.size())}, device(), after_all);
      }
}

TEST_P(AdaptiveRidgeOracleTest, AgreesWithOtherParameters) {
  std::mt19937 random(3);
  const auto uniform = [&](double low, double high) {
    return float(low + (high - low) * random() / 4294967296.0);
  };
  const auto integer = [&](int low, int high) { return low + int(random() % unsigned(high - low + 1)); };
  for (unsigned i = 0; i < 30; ++i) {
    const int frames = std::array{2, 3, 5}[random() % 3];
    const AdaptiveRidge method{.frames = frames,
                               .levels = integer(0, 3),
                               .spacing = frames == 2 ? integer(1, 2) : 1,
                               .iterations = integer(1, 4),
                               .finest_iterations = integer(0, 4),
                               .rounds = integer(1, 4),
                               .window = uniform(0.5, 2),
                               .prefilter = uniform(0, 0.25),
                               .contrast = uniform(5, 100),
                               .robust = uniform(0.2, 5),
                               .shrinkage = uniform(0, 3),
                               .likeness = uniform(2, 50),
                               .median = std::array{0, 3, 5}[random() % 3],
                               .max_residual = uniform(0.01, 0.2)};
    const Size size{integer(10, 80), integer(10, 80)};
    expect_ridge_agreement(frames_of_motion(size, method.frames, uniform(-1, 1), uniform(-1, 1), 100 + i, 3),
                           method, device(), after_all);
  }
}

TEST_P(AdaptiveRidgeOracleTest, AgreesOnAnAffineField) {
  Pair pair({70, 50}, 5);
  std::vector<Image<float>> images;
  images.push_back(std::move(pair.frame0));
  images.push_back(std::move(pair.frame1));
  expect_ridge_agreement(images, {}, device(), after_all);
}

TEST_P(AdaptiveRidgeOracleTest, AgreesWithNaNPixels) {
  for (const auto& [count, spacing] : {std::pair{2, 1}, {2, 2}, {3, 1}, {5, 1}})
    for (int bad = 0; bad < count; ++bad)
      for (const int levels : {1, 2}) {
        auto images = frames_of_motion({70, 40}, count, 0.6f, -0.4f, 31, 4);
        images[std::size_t(bad)](33, 17) = std::numeric_limits<float>::quiet_NaN();
        expect_ridge_agreement(images, {.frames = count, .levels = levels, .spacing = spacing}, device(),
                               after_all);
      }
}

TEST_P(AdaptiveRidgeOracleTest, AgreesFromAStart) {
  for (const Size size : {Size{7, 5}, Size{33, 17}, Size{70, 40}})
    for (const auto& [levels, spacing] : {std::pair{1, 1}, {3, 1}, {1, 2}, {3, 2}}) {
      const AdaptiveRidge method{.levels = levels,
                                 .spacing = spacing,
                                 .iterations = 2,
                                 .finest_iterations = 2,
                                 .matches = UseOfMatches::never,
                                 .refinement = {.refine = 0}};
      const auto images = frames_of_motion(size, 2, 2.4f, -1.3f, 23, 3);
      FlowField start(size);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          start.u(x, y) = 1.5f + 0.02f * float(y);
          start.v(x, y) = -1 + 0.01f * float(x);
        }
      start.u(0, size.height / 2) = std::numeric_limits<float>::quiet_NaN();  // not finite: starts as 0
      start.v(size.width / 2, 0) = 1e10f;
      FlowEstimator estimator(method, size, {.device = device(), .min_confidence = 0});
      const auto frames = as_frames(images);
      const FlowField& flow = estimator({.frames = frames, .start = start});
      const oracle::Flow same_start{oracle::grid_of(start.u), oracle::grid_of(start.v)};
      expect_ridge_agreement(flow, oracle::adaptive_ridge(grids_of(images), method, same_start), method,
                             after_all);
    }
}

INSTANTIATE_TEST_SUITE_P(Devices, AdaptiveRidgeOracleTest, every_device(), device_name);

}  // namespace
}  // namespace parafield
