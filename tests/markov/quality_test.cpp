// SPDX-License-Identifier: MIT
// Energies and scores on real data, compared with the figures of a prototype with the same models.
#include <gtest/gtest.h>

#include <cstdio>
#include <iomanip>
#include <sstream>

#include "oracle/steps.hpp"
#include "parafield/parafield.hpp"
#include "support.hpp"

namespace parafield {
namespace {

/// Energy of Grauer-Gray for Tsukuba (section 4): linear smoothness truncated at 1.7.
StereoEnergy grauer_gray() {
  return {.disparities = 15,
          .cost = {.weight = 0.07f, .truncation = 15, .aggregation = 1, .presmooth = 1},
          .smoothness = {.beta = 1, .smoothness_truncation = 1.7f, .neighbors = 4}};
}

/// Luma rounded to whole numbers, as the prototype read it.
FrameBuffer rounded(const Frame& frame) {
  const oracle::Grid image = oracle::luma(frame);
  FrameBuffer result(frame.size(), PixelFormat::gray_u8);
  for (int y = 0; y < frame.height; ++y)
    for (int x = 0; x < frame.width; ++x)
      static_cast<std::uint8_t*>(result.row(y))[x] = std::uint8_t(image(x, y) + 0.5);
  return result;
}

TEST(Quality, EnergiesOfTsukuba) {
  PARAFIELD_DATA_OR_SKIP(left_file, "middlebury-stereo/tsukuba/left.png");
  PARAFIELD_DATA_OR_SKIP(right_file, "middlebury-stereo/tsukuba/right.png");
  const FrameBuffer left = read_frame(left_file), right = read_frame(right_file);
  const FrameBuffer whole_left = rounded(left), whole_right = rounded(right);
  const auto expect_energy = [&](const char* name, const StereoMethod& method, double expected) {
    const auto energy = [&](const Frame& a, const Frame& b) {
      StereoEstimator estimator(method, a.size(),
                                {.device = Device::best(), .energies = EnergyReport::result});
      estimator(a, b);
      return estimator.energies().at(0);
    };
    const double unrounded = energy(left, right), found = energy(whole_left, whole_right);
    std::printf("%s: %.0f, prototype %.0f (luma not rounded: %.0f)\n", name, found, expected, unrounded);
    EXPECT_NEAR(found, expected, 0.01 * expected) << name;
    EXPECT_NEAR(unrounded, expected, 0.02 * expected) << name;
  };
  const StereoEnergy energy = grauer_gray();
  expect_energy("winner-takes-all", WinnerTakesAll<StereoEnergy>{energy}, 195909);
  expect_energy("icm all at once", Icm<StereoEnergy>{energy, 10, SiteOrder::all_at_once}, 96773);
  expect_energy("icm colored", Icm<StereoEnergy>{energy, 30, SiteOrder::colored}, 57861);
  expect_energy("annealing", Annealing<StereoEnergy>{energy, 500, 1, 0.05f}, 17785);
}

class Highway : public testing::Test {
 protected:
  /// F1 score of a stream's masks, against the labels of the newer frames, without the first three.
  static double f1(const DetectionMethod& method) {
    std::optional<MotionDetector> detector;
    MaskScores scores;
    for (int i = 861; i <= 900; ++i) {
      std::ostringstream number;
      number << std::setw(6) << std::setfill('0') << i << ".png";
      const FrameBuffer frame = read_frame(*test::find_data("cdnet/highway_a/gray/in" + number.str()));
      if (!detector) detector.emplace(method, frame.size());
      const MotionMask* mask = detector->push(frame);
      if (!mask || i < 864) continue;
      scores +=
          evaluate(*mask, read_frame(*test::find_data("cdnet/highway_a/groundtruth/gt" + number.str())));
    }
    return scores.f1;
  }
  void SetUp() override {
    if (!test::find_data("cdnet/highway_a/groundtruth/gt000900.png"))
      GTEST_SKIP() << "skipped without cdnet/highway_a in the data folder; PARAFIELD_DATA names that folder";
  }
};

TEST_F(Highway, WinnerTakesAll) {
  // Without smoothness it is a threshold on the difference: y^2 > (y - m)^2, so y > m / 2.
  const double winner = f1(WinnerTakesAll<ChangeEnergy>{{.mean = 22, .sigma = 15, .temporal = 0}});
  std::printf("threshold: %.4f\n", winner);
  EXPECT_GE(winner, 0.67);
  EXPECT_LE(winner, 0.69);
}

TEST_F(Highway, IteratedConditionalModes) {
  const ChangeEnergy energy{.mean = 12.2f, .sigma = 15, .beta = 1, .temporal = 1};
  const double icm = f1(Icm<ChangeEnergy>{energy, 10});
  const double colored = f1(Icm<ChangeEnergy>{energy, 10, SiteOrder::colored});
  const double alone =
      f1(Icm<ChangeEnergy>{{.mean = 12, .sigma = 15, .beta = 1, .temporal = 0}, 10, SiteOrder::colored});
  const double longer =
      f1(Icm<ChangeEnergy>{{.mean = 14, .sigma = 15, .beta = 1, .temporal = 1}, 50, SiteOrder::colored});
  std::printf("icm: %.4f, colored %.4f, without the last mask %.4f, 50 sweeps and mean 14 %.4f\n", icm,
              colored, alone, longer);
  EXPECT_GE(icm, 0.86);
  EXPECT_NEAR(colored, 0.883, 0.003);
  EXPECT_NEAR(alone, 0.834, 0.003);
  EXPECT_NEAR(longer, 0.912, 0.003);
}

TEST_F(Highway, Annealing) {
  const double annealing =
      f1(Annealing<ChangeEnergy>{{.mean = 12, .sigma = 22, .beta = 1, .temporal = 0}, 60, 6, 0.2f});
  std::printf("annealing: %.4f\n", annealing);
  EXPECT_GE(annealing, 0.88);
}

TEST_F(Highway, TheDefaultIsBetterThanThePapersAndAccurateThanTheDefault) {
  const auto expect = [](auto method, double least, double best) {
    const double paper = f1(preset<decltype(method)>("paper")), usual = f1(method),
                 accurate = f1(preset<decltype(method)>("accurate"));
    std::printf("%s: paper %.4f, default %.4f, accurate %.4f\n", std::string(method.name).c_str(), paper,
                usual, accurate);
    EXPECT_GT(usual, paper + 0.01);
    EXPECT_GE(usual, least);
    EXPECT_GT(accurate, usual);
    EXPECT_GE(accurate, best);
  };
  expect(Icm<ChangeEnergy>{}, 0.88, 0.89);
  expect(Annealing<ChangeEnergy>{}, 0.90, 0.90);
  expect(WinnerTakesAll<ChangeEnergy>{}, 0.61, 0.67);
}

}  // namespace
}  // namespace parafield
