// SPDX-License-Identifier: MIT
// Estimators of stereo that find the number of disparities in the first pair.
#include <array>
#include <chrono>
#include <thread>

#include "targets.hpp"
#include "tasks/dim_frame.hpp"
#include "tasks/on_device.hpp"
#include "tasks/wall_pair.hpp"

namespace parafield {
namespace {

class FoundOn : public OnDevice {
 protected:
  static int disparities_of(const StereoMethod& method) {
    return std::visit([](const auto& chosen) { return chosen.energy.disparities; }, method);
  }
  /// The bytes of the disparities.
  static std::vector<float> values_of(const DisparityField& field) {
    const DisparityField host = field.to(Memory::host());
    std::vector<float> values;
    for (int y = 0; y < host.size().height; ++y)
      for (int x = 0; x < host.size().width; ++x) values.push_back(host.d(x, y));
    return values;
  }
};

TEST_P(FoundOn, TheFirstPairSaysTheNumber) {
  const Size size{160, 80};
  const WallPair few(size, 3, 9), many(size, 20, 50);
  for_each_method<StereoMethod>([&]<class Method>(const Method& method) {
    StereoEstimator estimator(method, size, {.device = device()});
    EXPECT_EQ(disparities_of(estimator.method()), 0) << Method::name << ": nothing is known yet";
    EXPECT_EQ(estimator.workspace_bytes(), 0u);
    const auto first = values_of(estimator(few.left, few.right));
    const int found = disparities_of(estimator.method());
    EXPECT_EQ(found, examine_pair(few.left, few.right).disparities) << Method::name;
    expect_covers(found, 9, std::string(Method::name));
    EXPECT_GT(estimator.workspace_bytes(), 0u);

    Method given = method;
    given.energy.disparities = found;
    StereoEstimator exact(given, size, {.device = device()});
    EXPECT_EQ(values_of(exact(few.left, few.right)), first) << Method::name;

    values_of(estimator(many.left, many.right));
    EXPECT_EQ(disparities_of(estimator.method()), found) << Method::name << ": later pairs change nothing";
    estimator.reset();
    EXPECT_EQ(disparities_of(estimator.method()), 0) << Method::name << ": forgotten";
    values_of(estimator(many.left, many.right));
    EXPECT_EQ(disparities_of(estimator.method()), examine_pair(many.left, many.right).disparities)
        << Method::name;
  });
}

TEST_P(FoundOn, ABlankPairSaysNothing) {
  const Size size{160, 80};
  const FrameBuffer black(size, PixelFormat::gray_u8);
  const WallPair few(size, 3, 9), many(size, 20, 50);
  EXPECT_TRUE(examine_pair(black, black).blank());
  EXPECT_FALSE(examine_pair(many.left, many.right).blank());
  for (const bool pushes : {false, true}) {
    StereoEstimator estimator({}, size, {.device = device()});
    const auto result = [&](const Frame& left, const Frame& right) {
      return values_of(pushes ? estimator.push(left, right) : estimator(left, right));
    };
    for (int i = 0; i < 2; ++i) result(black, many.right);
    EXPECT_EQ(disparities_of(estimator.method()), examine_pair(black, many.right).disparities);
    EXPECT_EQ(result(many.left, many.right), values_of(estimate_disparity(many.left, many.right)));
    const int found = disparities_of(estimator.method());
    EXPECT_EQ(found, examine_pair(many.left, many.right).disparities);
    result(black, black);
    result(few.left, few.right);
    EXPECT_EQ(disparities_of(estimator.method()), found) << "later pairs change nothing";
  }
}

TEST_P(FoundOn, ACoveredCameraSaysNothing) {
  const Size size{160, 120};
  const Scene scene = render_scene("stereo", {.size = size});
  const FrameBuffer &left = scene.frames[0], &right = scene.frames[1];
  const FrameBuffer black(size, PixelFormat::gray_u8);
  const int expected = examine_pair(left, right).disparities;
  unsigned seed = 0;
  for (const double sigma : {1, 2, 3, 4})
    for (const double base : {2, 6, 10})
      for (const bool pushes : {false, true}) {
        if (sanitized && (sigma > 1 || base > 2)) continue;
        StereoEstimator estimator({}, size, {.device = device()});
        const auto next = [&](const FrameBuffer& one, const FrameBuffer& other) {
          values_of(pushes ? estimator.push(one, other) : estimator(one, other));
        };
        for (int i = 0; i < 2; ++i) {
          ++seed;
          next(dim(black, 1, base, sigma, seed), dim(black, 1, base, sigma, seed + 1000));
        }
        next(left, right);
        EXPECT_EQ(disparities_of(estimator.method()), expected)
            << "noise of " << sigma << " around " << base << ", seeds up to " << seed;
      }
}

TEST_P(FoundOn, ExaminedPairsSayTheLargestNumber) {
  const Size size{160, 80};
  const FrameBuffer black(size, PixelFormat::gray_u8);
  const WallPair few(size, 3, 9), many(size, 20, 50);
  const int small = examine_pair(few.left, few.right).disparities,
            large = examine_pair(many.left, many.right).disparities;
  ASSERT_LT(small, large);
  for_each_method<StereoMethod>([&]<class Method>(const Method& method) {
    StereoEstimator estimator(method, size, {.device = device()});
    const auto examine = [&](const FrameBuffer& left, const FrameBuffer& right) {
      const PairFindings findings = estimator.examine(left, right);
      EXPECT_EQ(findings.disparities, examine_pair(left, right).disparities);
      return disparities_of(estimator.method());
    };
    EXPECT_GE(examine(black, many.right), 1) << "blank pairs count if there are no others";
    EXPECT_EQ(estimator.workspace_bytes(), 0u) << "nothing is solved";
    EXPECT_EQ(examine(few.left, few.right), small);
    EXPECT_EQ(examine(black, many.right), small);
    values_of(estimator.push(few.left, few.right));
    EXPECT_EQ(examine(many.left, many.right), large);
    EXPECT_EQ(examine(few.left, few.right), large);
    Method given = method;
    given.energy.disparities = large;
    StereoEstimator exact(given, size, {.device = device()});
    EXPECT_EQ(exact.examine(few.left, few.right).disparities, small);
    EXPECT_EQ(disparities_of(exact.method()), large) << "a number that is given stays";
    EXPECT_EQ(values_of(estimator.push(few.left, few.right)), values_of(exact.push(few.left, few.right)));
    estimator.reset();
    EXPECT_EQ(disparities_of(estimator.method()), 0);
    EXPECT_EQ(message_of([&] { estimator.examine(few.left, Frame{}); }), "right has no data");
  });
}

TEST_P(FoundOn, ADarkScenePairSaysTheNumber) {
  const Size size{160, 120};
  const Scene scene = render_scene("stereo", {.size = size});
  const WallPair many(size, 20, 50);
  for (const double sigma : {1, 2, 3, 4}) {
    if (sanitized && sigma > 1) continue;
    StereoEstimator estimator({}, size, {.device = device()});
    values_of(estimator(dim(scene.frames[0], 8, 2, sigma, 1), dim(scene.frames[1], 8, 2, sigma, 2)));
    values_of(estimator(many.left, many.right));
    EXPECT_EQ(disparities_of(estimator.method()), examine_pair(scene.frames[0], scene.frames[1]).disparities)
        << "noise of " << sigma;
  }
}

TEST_P(FoundOn, OneShotsFindTheirOwnNumber) {
  const Size size{160, 80};
  const WallPair few(size, 3, 9), many(size, 20, 50);
  WinnerTakesAll<StereoEnergy> given;
  for (const WallPair* pair : {&few, &many, &few}) {
    given.energy.disparities = examine_pair(pair->left, pair->right).disparities;
    EXPECT_EQ(values_of(estimate_disparity(pair->left, pair->right, WinnerTakesAll<StereoEnergy>{},
                                           {.device = device()})),
              values_of(estimate_disparity(pair->left, pair->right, given, {.device = device()})));
  }
}

TEST_P(FoundOn, FramesOnTheDeviceFindTheSame) {
  if (device().kind == Device::Kind::cpu) GTEST_SKIP() << "frames of a GPU";
  const Size size{150, 70};
  const WallPair pair(size, 5, 22, PixelFormat::rgb_u8);
  const FrameBuffer left = pair.left.to(Memory::cuda()), right = pair.right.to(Memory::cuda());
  const PairFindings expected = examine_pair(pair.left, pair.right), found = examine_pair(left, right);
  EXPECT_EQ(found.disparities, expected.disparities);
  EXPECT_EQ(found.matched, expected.matched);
  EXPECT_EQ(found.negative, expected.negative);
  StereoEstimator estimator({}, size, {.device = device()});
  const DisparityField& field = estimator(left, right);
  estimator.synchronize();
  EXPECT_EQ(values_of(field), values_of(estimate_disparity(pair.left, pair.right, {}, {.device = device()})));
  EXPECT_EQ(disparities_of(estimator.method()), expected.disparities);
}

TEST_P(FoundOn, RefusesWhatItCannotUse) {
  const Size size{60, 40};
  const WallPair pair(size, 2, 5), other({61, 40}, 2, 5);
  StereoEstimator estimator({}, size, {.device = device()});
  EXPECT_EQ(message_of([&] { estimator(pair.left, other.right); }), "frame 1 is 61x40, expected 60x40");
  const Frame one[] = {pair.left}, two[] = {pair.left, pair.right};
  EXPECT_EQ(message_of([&] { estimator({one}); }), "the method takes 2 frames, not 1");
  EXPECT_EQ(disparities_of(estimator.method()), 0) << "no pair was examined";
  const DisparityField start(size);
  EXPECT_EQ(message_of([&] {
              estimator({two, start});
            }),
            "the method, with these parameters, has no use for a start");
  EXPECT_EQ(message_of([&] { estimator(pair.left, pair.right); }), "no error") << "usable after errors";
  BeliefPropagation<StereoEnergy> method;
  method.energy.min_disparity = 60;
  StereoEstimator beyond(method, size, {.device = device()});
  EXPECT_NE(message_of([&] { beyond(pair.left, pair.right); }), "no error");
  method.energy.min_disparity = -30;
  StereoEstimator below(method, size, {.device = device()});
  EXPECT_EQ(message_of([&] { below(pair.left, pair.right); }), "no error");
  EXPECT_GE(disparities_of(below.method()) - 30, 6);
}

TEST_P(FoundOn, ReportsEnergiesAndProgress) {
  const Size size{80, 50};
  const WallPair pair(size, 3, 9);
  std::vector<double> shares;
  StereoEstimator estimator(
      {}, size, {.device = device(), .energies = EnergyReport::result, .progress = [&](double share) {
                   shares.push_back(share);
                 }});
  EXPECT_TRUE(estimator.energies().empty());
  estimator(pair.left, pair.right);
  estimator.synchronize();
  EXPECT_EQ(estimator.energies().size(), 1u);
  ASSERT_FALSE(shares.empty());
  EXPECT_EQ(shares.back(), 1);
  EXPECT_TRUE(std::ranges::is_sorted(shares)) << "the search reports nothing of its own";
}

TEST_P(FoundOn, ACancelOfAnotherThreadEndsTheFirstCall) {
  const Size size{100, 60};
  const WallPair pair(size, 3, 9);
  Annealing<StereoEnergy> slow;
  slow.sweeps = 20000;
  StereoEstimator estimator(slow, size, {.device = device()});
  std::jthread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    estimator.cancel();
  });
  const std::string first = message_of([&] {
    estimator(pair.left, pair.right);
    estimator.synchronize();
  });
  EXPECT_TRUE(device().kind == Device::Kind::cuda || first.find("cancel") != std::string::npos)
      << "on CUDA a solve that has begun ends";
  other.join();
  EXPECT_NE(message_of([&] {
              estimator(pair.left, pair.right);
              estimator.synchronize();
            }),
            "no error")
      << "until reset()";

  StereoEstimator before({}, size, {.device = device()});
  before.cancel();
  EXPECT_NE(message_of([&] { before(pair.left, pair.right); }), "no error")
      << "cancelled before the first call";
  before.reset();
  EXPECT_EQ(message_of([&] { before(pair.left, pair.right); }), "no error");
}

TEST_P(FoundOn, ManyThreadsFindTheSame) {
  const Size size{120, 70};
  const WallPair few(size, 3, 9), many(size, 15, 40);
  const auto result = [&](const WallPair& pair) {
    StereoEstimator estimator({}, size, {.device = device()});
    return values_of(estimator(pair.left, pair.right));
  };
  const auto of_few = result(few), of_many = result(many);
  std::vector<std::jthread> threads;
  std::array<bool, 4> same{};
  for (std::size_t i = 0; i < same.size(); ++i)
    threads.emplace_back([&, i] {
      same[i] = true;
      for (int k = 0; k < 3; ++k) same[i] &= result(i % 2 ? few : many) == (i % 2 ? of_few : of_many);
    });
  threads.clear();
  EXPECT_TRUE(std::ranges::all_of(same, [](bool each) { return each; }));
}

TEST_P(FoundOn, TinyImages) {
  for (const Size size : {Size{1, 1}, Size{8, 6}, Size{3, 40}, Size{2, 2}}) {
    const WallPair pair(size, 0, 0);
    for_each_method<StereoMethod>([&](const auto& method) {
      const DisparityField field = estimate_disparity(pair.left, pair.right, method, {.device = device()});
      for (const float d : values_of(field)) EXPECT_TRUE(d >= 0 && d <= float(size.width)) << d;
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, FoundOn, every_device(), device_name);

}  // namespace
}  // namespace parafield
