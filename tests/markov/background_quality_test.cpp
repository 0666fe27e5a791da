// SPDX-License-Identifier: MIT
// Scores of a learned background, on rendered scenes and on CDnet.
#include <gtest/gtest.h>

#include <cstdio>
#include <iomanip>
#include <optional>
#include <sstream>

#include "parafield/parafield.hpp"
#include "support.hpp"

namespace parafield {
namespace {

/// F1 of a detector's masks over the frames of a rendered scene from `first` on.
double f1(const DetectionMethod& method, const Scene& scene, int first) {
  std::optional<MotionDetector> detector;
  MaskScores scores;
  for (std::size_t i = 0; i < scene.frames.size(); ++i) {
    if (!detector) detector.emplace(method, scene.frames[0].size());
    const MotionMask* mask = detector->push(scene.frames[i]);
    if (int(i) < first) continue;
    FrameBuffer labels(mask->size(), PixelFormat::gray_u8);
    for (int y = 0; y < labels.size().height; ++y)
      for (int x = 0; x < labels.size().width; ++x)
        static_cast<std::uint8_t*>(labels.row(y))[x] = scene.moving[i - 1](x, y) ? 255 : 0;
    scores += evaluate(*mask, labels);
  }
  return scores.f1;
}

/// Least F1 under conditions. Parked cars leave marks for some frames, the border of a lamp's light hides
/// objects, and thermal images have little contrast.
double least_f1(Conditions conditions) {
  switch (conditions) {
    case Conditions::leaving:
      return 0.86;
    case Conditions::lamp:
      return 0.8;
    case Conditions::thermal:
      return 0.49;
    default:
      return 0.93;
  }
}

TEST(BackgroundQuality, HoldsUnderAllConditions) {
  for (const std::string_view name : names_of(Conditions{})) {
    const Conditions conditions = conditions_named(name);
    const auto scene = [&](Size size) {
      return render_scene(
          "square",
          {.size = size, .frames = 300, .color = conditions > Conditions::noisy, .conditions = conditions});
    };
    const double icm = f1(Icm<BackgroundEnergy>{}, scene({240, 180}), 30);
    std::printf("%s: icm %.4f", std::string(name).c_str(), icm);
    EXPECT_GE(icm, least_f1(conditions)) << name;
    // Annealing takes longer and learns the same background: it takes small frames, and the two worst conditions.
    if (conditions == Conditions::swaying || conditions == Conditions::noisy) {
      const double annealing = f1(Annealing<BackgroundEnergy>{}, scene({160, 120}), 30);
      std::printf(", annealing %.4f", annealing);
      EXPECT_GE(annealing, 0.93) << name;
    }
    std::printf("\n");
  }
}

TEST(BackgroundQuality, Highway) {
  if (!test::find_data("cdnet/highway/groundtruth/gt000800.png"))
    GTEST_SKIP() << "skipped without cdnet/highway in the data folder; PARAFIELD_DATA names that folder";
  MotionDetector icm(Icm<BackgroundEnergy>{}, {320, 240}),
      annealing(Annealing<BackgroundEnergy>{}, {320, 240});
  MaskScores scores, annealed;
  for (int i = 470; i <= 800; ++i) {
    std::ostringstream number;
    number << std::setw(6) << std::setfill('0') << i;
    const FrameBuffer frame =
        read_frame(*test::find_data("cdnet/highway/input_jpg/in" + number.str() + ".jpg"));
    const MotionMask *mask = icm.push(frame), *other = annealing.push(frame);
    if (i <= 700) continue;
    const FrameBuffer labels =
        read_frame(*test::find_data("cdnet/highway/groundtruth/gt" + number.str() + ".png"));
    scores += evaluate(*mask, labels);
    annealed += evaluate(*other, labels);
  }
  std::printf("icm %.4f, annealing %.4f\n", scores.f1, annealed.f1);
  EXPECT_GE(scores.f1, 0.95);
  EXPECT_GE(annealed.f1, 0.95);
}

}  // namespace
}  // namespace parafield
