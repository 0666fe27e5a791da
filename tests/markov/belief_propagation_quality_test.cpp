// SPDX-License-Identifier: MIT
// Energies and errors of belief propagation on real sequences, on the CPU and on CUDA.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "on.hpp"
#include "parafield/parafield.hpp"
#include "support.hpp"

namespace parafield {
namespace {

/// Stereo pair with its ground truth.
struct StereoScene {
  const char* name;
  int disparities;
  float scale;  // gray levels of the truth's file for a disparity of 1 px

  std::filesystem::path file(const char* file) const {
    return *test::data_folder() / "middlebury-stereo" / name / file;
  }
  FrameBuffer left() const { return read_frame(file("left.png")); }
  FrameBuffer right() const { return read_frame(file("right.png")); }
  DisparityField truth() const { return read_disparity(file("disp_left.png"), scale); }
  /// The pixels seen in both images.
  Image<std::uint8_t> seen() const { return read_mask(file("nonocc_derived.png")); }
  /// Share of the pixels seen in both images with an error above 1 px, %.
  double bad_1(const DisparityField& field) const {
    const Image<std::uint8_t> mask = seen();
    return 100 * evaluate(field, truth(), {.mask = mask}).bad_1;
  }
  /// Root of the mean square error of the same pixels, px. An error above 2 px counts as 2 px.
  double cut_rms(const DisparityField& field) const {
    const DisparityField expected = truth();
    const Image<std::uint8_t> mask = seen();
    double sum = 0;
    int count = 0;
    for (int y = 0; y < field.size().height; ++y)
      for (int x = 0; x < field.size().width; ++x) {
        if (!mask(x, y) || !expected.valid(x, y)) continue;
        const double error = std::min(std::abs(double(field.d(x, y)) - expected.d(x, y)), 2.0);
        sum += error * error;
        ++count;
      }
    return std::sqrt(sum / count);
  }
};
constexpr StereoScene tsukuba{"tsukuba", 16, 16}, venus{"venus", 32, 8}, cones{"cones", 64, 4},
    art{"art", 80, 3}, aloe{"aloe", 80, 3}, midd2{"midd2", 70, 3};

/// Parameters of a preset, with a scene's number of disparities.
BeliefPropagation<StereoEnergy> with(const char* name, const StereoScene& scene) {
  auto method = preset<BeliefPropagation<StereoEnergy>>(name);
  method.energy.disparities = scene.disparities;
  return method;
}

/// Parameters of a public code.
BeliefPropagation<StereoEnergy> stronger(const StereoScene& scene) {
  BeliefPropagation<StereoEnergy> method = with("paper", scene);
  method.energy.cost.weight = 0.1f;
  method.energy.cost.presmooth = 0;
  method.energy.smoothness.smoothness_truncation = float(scene.disparities) / 7.5f;
  return method;
}

class BeliefPropagationQuality : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!test::data_folder()) GTEST_SKIP() << "skipped without the data folder; PARAFIELD_DATA names it";
    device_ = parse_device(GetParam());
    if (device_.kind == Device::Kind::cuda && !why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
  }

  /// Expects at most `most` % of bad pixels, for both precisions.
  void expect_bad_1(const StereoScene& scene, BeliefPropagation<StereoEnergy> method, double most) {
    for (const Precision precision : {Precision::exact, Precision::fast}) {
      method.precision = precision;
      EXPECT_LE(scene.bad_1(solve(scene, method)), most)
          << scene.name << ", " << names_of(precision)[int(precision)];
    }
  }

  DisparityField solve(const StereoScene& scene, const BeliefPropagation<StereoEnergy>& method) {
    return estimate_disparity(scene.left(), scene.right(), method, {.device = device_});
  }

  /// Expects at most `most` % of bad pixels of a preset with whole disparities, and at most `most_refined` %
  /// with refined ones, whose RMS error must be lower by at least the share `gain`.
  void expect_preset(const char* name, const StereoScene& scene, double most, double most_refined,
                     double gain) {
    BeliefPropagation<StereoEnergy> method = with(name, scene);
    const DisparityField refined = solve(scene, method);
    method.energy.sub_pixel = false;
    const DisparityField whole = solve(scene, method);
    const double bad = scene.bad_1(whole), bad_refined = scene.bad_1(refined);
    const double rms = scene.cut_rms(whole), rms_refined = scene.cut_rms(refined);
    std::printf("%s, %s: bad 1.0 %.2f %%, refined %.2f %%; rms %.3f px, refined %.3f px (%+.1f %%)\n", name,
                scene.name, bad, bad_refined, rms, rms_refined, 100 * (rms_refined / rms - 1));
    EXPECT_LE(bad, most) << name << ", " << scene.name;
    EXPECT_LE(bad_refined, most_refined) << name << ", " << scene.name;
    EXPECT_LE(rms_refined, (1 - gain) * rms) << name << ", " << scene.name;
  }

  template <class Estimator>
  double energy(const auto& method, const In<Frame>& a, const In<Frame>& b) {
    Estimator estimator(method, a.size(), {.device = device_, .energies = EnergyReport::result});
    estimator(a, b);
    return estimator.energies().at(0);
  }

  /// Expects a lower energy than ICM's in both site orders, for both precisions. All solve the same energy.
  template <class Estimator, class Energy>
  void expect_below_icm(const char* name, BeliefPropagation<Energy> method, const In<Frame>& a,
                        const In<Frame>& b) {
    const double icm = energy<Estimator>(Icm<Energy>{method.energy, 10, SiteOrder::all_at_once}, a, b);
    const double colored = energy<Estimator>(Icm<Energy>{method.energy, 30, SiteOrder::colored}, a, b);
    for (const Precision precision : {Precision::exact, Precision::fast}) {
      method.precision = precision;
      EXPECT_LT(energy<Estimator>(method, a, b), std::min(icm, colored))
          << name << ", " << names_of(precision)[int(precision)];
    }
  }

  Device device_;
};

TEST_P(BeliefPropagationQuality, PaperParameters) { expect_bad_1(tsukuba, with("paper", tsukuba), 3.1); }

TEST_P(BeliefPropagationQuality, StrongerSmoothness) {
  expect_bad_1(tsukuba, stronger(tsukuba), 2.4);
  expect_bad_1(venus, stronger(venus), 1.3);
  expect_bad_1(cones, stronger(cones), 7.8);
}

TEST_P(BeliefPropagationQuality, AccurateDisparities) {
  expect_preset("accurate", tsukuba, 1.65, 1.65, 0.12);
  expect_preset("accurate", venus, 0.45, 0.46, 0.35);
  expect_preset("accurate", cones, 1.85, 1.75, 0.19);
}

TEST_P(BeliefPropagationQuality, QualityDisparities) {
  expect_preset("quality", tsukuba, 1.5, 1.6, 0.12);
  expect_preset("quality", venus, 0.45, 0.46, 0.35);
  expect_preset("quality", cones, 1.95, 1.85, 0.19);
  expect_preset("quality", art, 4.4, 4.4, 0.12);
  expect_preset("quality", aloe, 1.7, 1.7, 0.2);
}

TEST_P(BeliefPropagationQuality, FastDisparities) {
  expect_preset("fast", tsukuba, 2.4, 2.2, 0.12);
  expect_preset("fast", venus, 1.1, 1.1, 0.29);
  expect_preset("fast", cones, 2.6, 2.5, 0.15);
  expect_preset("fast", art, 6, 5.8, 0.1);
  expect_preset("fast", aloe, 2.2, 2.1, 0.18);
}

/// Walls without texture.
TEST_P(BeliefPropagationQuality, SurfacesWithoutTexture) {
  expect_preset("quality", midd2, 5.2, 5.0, 0.07);
  expect_preset("fast", midd2, 7.3, 7.1, 0.05);
}

/// The number of disparities found in the images gives nearly the errors of the true number. A thousandth of
/// aloe's pixels lies beyond.
TEST_P(BeliefPropagationQuality, FoundDisparities) {
  for (const StereoScene& scene : {tsukuba, venus, cones, art, aloe}) {
    const double given = scene.bad_1(solve(scene, with("quality", scene)));
    const double found = scene.bad_1(solve(scene, BeliefPropagation<StereoEnergy>{}));
    std::printf("%s: bad 1.0 %.2f %%, with the number found %.2f %%\n", scene.name, given, found);
    EXPECT_LE(found, given + 0.15) << scene.name;
  }
}

TEST_P(BeliefPropagationQuality, AccurateDisplacements) {
  const auto expect = [&](const char* name, double most) {
    const std::filesystem::path folder = *test::data_folder() / "middlebury-flow" / name;
    auto method = preset<BeliefPropagation<DisplacementEnergy>>("accurate");
    method.energy.max_displacement = 5;
    const FlowField flow =
        estimate_flow(read_frame(folder / "frame10.png"), read_frame(folder / "frame11.png"), method,
                      {.device = device_, .final_median = 5});
    EXPECT_LE(evaluate(flow, read_flow(folder / "flow10.flo")).epe, most) << name;
  };
  expect("RubberWhale", 0.0841);
  expect("Grove2", 0.1101);
}

TEST_P(BeliefPropagationQuality, EnergyOfDisparitiesIsBelowIcm) {
  for (const StereoScene& scene : {tsukuba, venus, cones, art, aloe})
    expect_below_icm<StereoEstimator>(scene.name, with("paper", scene), scene.left(), scene.right());
}

TEST_P(BeliefPropagationQuality, EnergyOfDisplacementsIsBelowIcm) {
  for (const char* name : {"RubberWhale", "Grove2"}) {
    const std::filesystem::path folder = *test::data_folder() / "middlebury-flow" / name;
    auto method = preset<BeliefPropagation<DisplacementEnergy>>("paper");
    method.energy.max_displacement = 5;
    expect_below_icm<FlowEstimator>(name, method, read_frame(folder / "frame10.png"),
                                    read_frame(folder / "frame11.png"));
  }
}

TEST_P(BeliefPropagationQuality, EnergyOfTsukubaIsNearAnnealing) {
  BeliefPropagation<StereoEnergy> method = with("paper", tsukuba);
  method.iterations = 20;
  const FrameBuffer left = tsukuba.left(), right = tsukuba.right();
  const double annealing =
      energy<StereoEstimator>(Annealing<StereoEnergy>{method.energy, 500, 1, 0.05f}, left, right);
  for (const Precision precision : {Precision::exact, Precision::fast}) {
    method.precision = precision;
    EXPECT_LE(energy<StereoEstimator>(method, left, right), 1.01 * annealing)
        << names_of(precision)[int(precision)];
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, BeliefPropagationQuality, testing::Values("cpu", "cuda"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace parafield
