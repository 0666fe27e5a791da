// SPDX-License-Identifier: MIT
// Guarantees of stereo, whatever its method.
#include <algorithm>
#include <cmath>

#include "noise.hpp"
#include "on.hpp"
#include "tasks/on_device.hpp"
#include "textures.hpp"

namespace parafield {
namespace {

class StereoOn : public OnDevice {};

/// The left and the right image of a texture at one disparity.
struct Shifted {
  Image<float> left, right;

  Shifted(Size size, double disparity) : left(size), right(size) {
    const Texture texture(5);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        left(x, y) = float(texture(x, y));
        right(x, y) = float(texture(x + disparity, y));  // right(x - d) = left(x)
      }
  }
};

/// A wall at disparity 2, and before it a board of `width` px at disparity 9.
struct Board {
  static constexpr int wall = 2, board = 9, begin = 60, end = 100;
  Size size{160, 60};
  Image<float> left{size}, right{size};

  Board() {
    const Texture far(6), near(7);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        left(x, y) = float(on_board(x) ? near(x, y) : far(x, y));
        right(x, y) = float(on_board(x + board) ? near(x + board, y) : far(x + wall, y));
      }
  }
  static bool on_board(int x) { return x >= begin && x < end; }
  /// Seen in the left image only: hidden by the board, left of it, in the right one.
  static bool occluded(int x) { return !on_board(x) && on_board(x - wall + board); }
  static int truth(int x) { return on_board(x) ? board : wall; }
};

/// A good method for textures without noise.
Icm<StereoEnergy> plain(int disparities, int window = 7) {
  return {{.disparities = disparities, .cost = {.aggregation = window}, .smoothness = {.beta = 1}}, 5};
}

TEST_P(StereoOn, RefusesWhatDoesNotFit) {
  const auto message = [&](const StereoMethod& method, Size size, StereoOptions options = {}) {
    return message_of([&] { StereoEstimator(method, size, on(device(), options)); });
  };
  using W = WinnerTakesAll<StereoEnergy>;
  const auto checked = [](const DisparityChecks& checks) { return W{{.disparities = 4, .checks = checks}}; };
  EXPECT_EQ(message(W{{.disparities = 64}}, {63, 40}),
            "disparities from 0 to 63 do not fit into images 63 px wide: they lie between -62 and 62");
  EXPECT_EQ(message(W{{.disparities = 64}}, {64, 40}), "no error");
  EXPECT_EQ(message(W{{.disparities = 3, .min_disparity = -20}}, {20, 40}),
            "disparities from -20 to -18 do not fit into images 20 px wide: they lie between -19 and 19");
  EXPECT_EQ(message(W{{.disparities = 3, .min_disparity = -19}}, {20, 40}), "no error");
  EXPECT_EQ(message(W{{.disparities = -1}}, {20, 40}),
            "winner-takes-all: disparities cannot be -1; allowed: 0 to 4096");
  EXPECT_EQ(message(W{{.disparities = 0}}, {20, 40}), "no error");
  EXPECT_NE(
      message(W{{.disparities = 4, .cost = {.aggregation = 4}}}, {20, 40}).find("aggregation cannot be 4"),
      std::string::npos);
  EXPECT_NE(message(W{{.disparities = 4, .smoothness = {.neighbors = 5}}}, {20, 40}).find("allowed: 4, 8"),
            std::string::npos);
  EXPECT_NE(message(W{{.disparities = 4, .cost = {.weight = -1}}}, {20, 40}), "no error");
  EXPECT_NE(message(W{{.disparities = 4, .cost = {.truncation = NAN}}}, {20, 40}), "no error");
  EXPECT_NE(message(Annealing<StereoEnergy>{{.disparities = 4}, 5, 0}, {20, 40}).find("t_max cannot be 0"),
            std::string::npos);
  EXPECT_NE(message(Icm<StereoEnergy>{{.disparities = 4}, -1}, {20, 40}).find("sweeps cannot be -1"),
            std::string::npos);
  EXPECT_EQ(message(checked({.lr_check = -1}), {20, 40}),
            "winner-takes-all: lr_check cannot be -1; allowed: 0 to 1e+06");
  EXPECT_NE(message(checked({.speckle = -1}), {20, 40}).find("speckle cannot be -1"), std::string::npos);
  EXPECT_NE(message(checked({.final_median = 4}), {20, 40}).find("final_median cannot be 4"),
            std::string::npos);
  EXPECT_NE(message(W{{.disparities = 4}}, {0, 4}), "no error");
}

TEST_P(StereoOn, RefusesInputThatDoesNotFit) {
  const auto left = noise({30, 20}, 0), right = noise({30, 20}, 1);
  StereoEstimator icm(plain(8), {30, 20}, {.device = device()});
  EXPECT_EQ(message_of([&] { icm(left, noise({30, 21}, 0)); }), "frame 1 is 30x21, expected 30x20");
  const Frame pair[] = {left, right}, one[] = {left};
  EXPECT_EQ(message_of([&] { icm({one}); }), "the method takes 2 frames, not 1");
  const DisparityField wide({31, 20}), fits({30, 20});
  EXPECT_EQ(message_of([&] { icm({pair, wide}); }), "the start is 31x20, the frames are 30x20");
  EXPECT_EQ(message_of([&] { icm({pair, fits}); }), "no error");
  StereoEstimator winner(WinnerTakesAll<StereoEnergy>{{.disparities = 8}}, {30, 20}, {.device = device()});
  EXPECT_EQ(message_of([&] {
              winner({pair, fits});
            }),
            "the method, with these parameters, has no use for a start");
  EXPECT_EQ(message_of([&] { winner(left, right); }), "no error") << "usable after errors";
  EXPECT_NE(message_of([&] {
              estimate_disparity(left, noise({29, 20}, 0), plain(8), {.device = device()});
            }),
            "no error");
}

TEST_P(StereoOn, FindsAWholeDisparity) {
  const Shifted pair({90, 50}, 6);
  for_each_method<StereoMethod>([&]<class Method>(Method method) {
    method.energy.disparities = 12;
    method.energy.sub_pixel = false;
    if constexpr (requires { method.sweeps; }) method.sweeps = 20;
    if constexpr (requires { method.t_min; }) method.t_max = 1, method.t_min = 0.1f;
    const DisparityField field =
        estimate_disparity(frame_of(pair.left), frame_of(pair.right), method, {.device = device()});
    for (int y = 0; y < 50; ++y)
      for (int x = 15; x < 90; ++x) {
        ASSERT_EQ(field.d(x, y), 6) << Method::name << " at " << x << ", " << y;
        ASSERT_EQ(field.valid(x, y), 1) << Method::name;
        ASSERT_GT(field.confidence(x, y), 0) << Method::name;
      }
  });
}

TEST_P(StereoOn, NegativeDisparitiesLieToTheRight) {
  const Shifted pair({90, 50}, -4);
  Icm<StereoEnergy> method = plain(10);
  method.energy.min_disparity = -8;
  const DisparityField field =
      estimate_disparity(frame_of(pair.left), frame_of(pair.right), method, {.device = device()});
  for (int y = 0; y < 50; ++y)
    for (int x = 0; x < 75; ++x) ASSERT_EQ(field.d(x, y), -4) << x << ", " << y;
}

TEST_P(StereoOn, AMatchOutsideTheImageIsNotValid) {
  const Shifted pair({60, 20}, 5);
  const DisparityField field = estimate_disparity(
      frame_of(pair.left), frame_of(pair.right),
      WinnerTakesAll<StereoEnergy>{{.disparities = 3, .min_disparity = 5, .cost = {.aggregation = 3}}},
      {.device = device(), .min_confidence = 0});
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 60; ++x) {
      ASSERT_EQ(field.valid(x, y), x - field.d(x, y) >= 0) << x << ", " << y;
      if (x < 5) {
        ASSERT_EQ(field.valid(x, y), 0);
      }
    }
}

TEST_P(StereoOn, SubPixelFindsTwoAndAHalf) {
  const Shifted pair({120, 60}, 2.5);
  for_each_method<StereoMethod>([&]<class Method>(Method method) {
    method.energy.disparities = 8;
    method.energy.cost = {.data = DataTerm::squared, .aggregation = 7};
    method.energy.smoothness.beta = 0.1f;
    method.energy.sub_pixel = true;
    if constexpr (requires { method.sweeps; }) method.sweeps = 5;
    if constexpr (requires { method.t_min; }) method.t_max = method.t_min = 1e-3f;
    // Squares are far above the smoothness: 16 bits do not hold them.
    if constexpr (requires { method.precision; }) method.precision = Precision::exact;
    const DisparityField field =
        estimate_disparity(frame_of(pair.left), frame_of(pair.right), method, {.device = device()});
    double sum = 0, largest = 0;
    for (int y = 8; y < 52; ++y)
      for (int x = 12; x < 110; ++x) {
        sum += field.d(x, y);
        largest = std::max(largest, std::abs(field.d(x, y) - 2.5));
      }
    EXPECT_NEAR(sum / (44 * 98), 2.5, 0.03) << Method::name;
    EXPECT_LE(largest, 0.5) << Method::name;
  });
}

TEST_P(StereoOn, TheLeftRightCheckClearsWhatIsHidden) {
  const Board scene;
  const Frame left = frame_of(scene.left), right = frame_of(scene.right);
  auto method = plain(14, 3);
  const DisparityField field = estimate_disparity(left, right, method, {.device = device()});
  method.energy.checks.lr_check = 1;
  const DisparityField checked = estimate_disparity(left, right, method, {.device = device()});
  int hidden = 0, kept = 0, elsewhere = 0, kept_elsewhere = 0, wrong = 0;
  for (int y = 0; y < scene.size.height; ++y)
    for (int x = 12; x < scene.size.width; ++x) {
      ASSERT_EQ(field.d(x, y), checked.d(x, y)) << "disparities stay";
      ASSERT_LE(checked.valid(x, y), field.valid(x, y));
      (scene.occluded(x) ? hidden : elsewhere) += 1;
      (scene.occluded(x) ? kept : kept_elsewhere) += checked.valid(x, y);
      if (!scene.occluded(x)) wrong += std::abs(field.d(x, y) - scene.truth(x)) > 0;
    }
  EXPECT_EQ(hidden, 7 * scene.size.height);
  EXPECT_LT(wrong, 0.03 * elsewhere);
  EXPECT_LT(kept, 0.1 * hidden);
  EXPECT_GT(kept_elsewhere, 0.95 * elsewhere);

  // Filled, the strip has the wall's disparity: the smaller one.
  method.energy.checks = {.lr_check = 1, .fill = true, .final_median = 3};
  const DisparityField filled = estimate_disparity(left, right, method, {.device = device()});
  int strip_wrong = 0, strip_wrong_before = 0;
  for (int y = 0; y < scene.size.height; ++y)
    for (int x = 12; x < scene.size.width; ++x)
      if (scene.occluded(x)) {
        strip_wrong_before += std::abs(field.d(x, y) - Board::wall) > 1;
        strip_wrong += std::abs(filled.d(x, y) - Board::wall) > 1;
      }
  EXPECT_LT(strip_wrong, 0.2 * hidden) << strip_wrong_before << " before";
}

TEST_P(StereoOn, ANanPixelIsInvalidAndLeavesNoTrace) {
  for (const bool mix : {false, true}) {
    auto left = noise({60, 50}, 0, PixelFormat::gray_f32), right = noise({60, 50}, -3, PixelFormat::gray_f32);
    left.set_nan(30, 20);
    right.set_nan(12, 40);
    Icm<StereoEnergy> method = plain(8);
    if (mix) method.energy.cost = {.data = DataTerm::mix, .truncation = 3};
    method.energy.sub_pixel = true;
    const DisparityField field = estimate_disparity(left, right, method, {.device = device()});
    EXPECT_EQ(field.valid(30, 20), 0);
    for (int y = 0; y < 50; ++y)
      for (int x = 0; x < 60; ++x)
        ASSERT_TRUE(std::isfinite(field.d(x, y)) && std::isfinite(field.confidence(x, y))) << x << ", " << y;
  }
}

TEST_P(StereoOn, AStartIsWhereTheSweepsBegin) {
  const auto left = noise({40, 30}, 0), right = noise({40, 30}, -3);
  Icm<StereoEnergy> method = plain(8, 1);
  method.sweeps = 0;
  StereoEstimator estimator(method, {40, 30}, {.device = device()});
  DisparityField start({40, 30});
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 40; ++x) start.d(x, y) = 0.3f * float(x) - 2;
  start.d(7, 3) = NAN;
  const Frame pair[] = {left, right};
  const DisparityField& field = estimator({pair, start});
  for (int y = 0; y < 30; ++y)
    for (int x = 0; x < 40; ++x) {
      if (x == 7 && y == 3) continue;
      ASSERT_EQ(field.d(x, y), std::clamp(std::floor(0.3f * float(x) - 2 + 0.5f), 0.0f, 7.0f)) << x;
    }
  EXPECT_EQ(field.d(7, 3), 0) << "NaN is the least label";
}

TEST_P(StereoOn, WorksAtEverySize) {
  for (const Size size : {Size{1, 1}, Size{1, 9}, Size{9, 1}, Size{2, 2}, Size{3, 130}, Size{130, 3}})
    for_each_method<StereoMethod>([&]<class Method>(Method method) {
      method.energy.disparities = std::min(size.width, 5);
      if constexpr (requires { method.sweeps; }) method.sweeps = 3;
      for (const DataTerm data : {DataTerm::absolute, DataTerm::mix}) {
        method.energy.cost.data = data;
        method.energy.checks = {.lr_check = 1, .speckle = 4, .fill = true, .final_median = 5};
        const DisparityField field =
            estimate_disparity(noise(size, 0), noise(size, 1), method, {.device = device()});
        ASSERT_EQ(field.size(), size);
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x)
            ASSERT_TRUE(field.d(x, y) >= 0 && field.d(x, y) < 5) << x << ", " << y;
      }
    });
}

INSTANTIATE_TEST_SUITE_P(Devices, StereoOn, every_device(), device_name);

}  // namespace
}  // namespace parafield
