// SPDX-License-Identifier: MIT
// Energies and errors of belief propagation on real sequences, on the CPU and on CUDA.
#include <algorithm>

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
  /// Share of the pixels seen in both images with an error above 1 px, %.
  double bad_1(const DisparityField& field) const {
    const Image<std::uint8_t> mask = read_mask(file("nonocc_derived.png"));
    return 100 * evaluate(field, read_disparity(file("disp_left.png"), scale), {.mask = mask}).bad_1;
  }
};
constexpr StereoScene tsukuba{"tsukuba", 16, 16}, venus{"venus", 32, 8}, cones{"cones", 64, 4},
    art{"art", 80, 3}, aloe{"aloe", 80, 3};

/// Default parameters, with a scene's number of disparities.
BeliefPropagation<StereoEnergy> defaults(const StereoScene& scene) {
  BeliefPropagation<StereoEnergy> method;
  method.energy.disparities = scene.disparities;
  return method;
}

/// Parameters of a public code.
BeliefPropagation<StereoEnergy> stronger(const StereoScene& scene) {
  BeliefPropagation<StereoEnergy> method = defaults(scene);
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
  void expect_bad_1(const StereoScene& scene, BeliefPropagation<StereoEnergy> method, double most,
                    const StereoOptions& options = {}) {
    for (const Precision precision : {Precision::exact, Precision::fast}) {
      method.precision = precision;
      EXPECT_LE(scene.bad_1(estimate_disparity(scene.left(), scene.right(), method, on(device_, options))),
                most)
          << scene.name << ", " << names_of(precision)[int(precision)];
    }
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
    const double icm = energy<Estimator>(Icm<Energy>{method.energy}, a, b);
    const double colored = energy<Estimator>(Icm<Energy>{method.energy, 30, SiteOrder::colored}, a, b);
    for (const Precision precision : {Precision::exact, Precision::fast}) {
      method.precision = precision;
      EXPECT_LT(energy<Estimator>(method, a, b), std::min(icm, colored))
          << name << ", " << names_of(precision)[int(precision)];
    }
  }

  Device device_;
};

TEST_P(BeliefPropagationQuality, DefaultParameters) { expect_bad_1(tsukuba, defaults(tsukuba), 3.1); }

TEST_P(BeliefPropagationQuality, StrongerSmoothness) {
  expect_bad_1(tsukuba, stronger(tsukuba), 2.4);
  expect_bad_1(venus, stronger(venus), 1.3);
  expect_bad_1(cones, stronger(cones), 7.8);
}

TEST_P(BeliefPropagationQuality, AccurateDisparities) {
  const auto expect = [&](const StereoScene& scene, double most) {
    auto method = preset<BeliefPropagation<StereoEnergy>>("accurate");
    method.energy.disparities = scene.disparities;
    expect_bad_1(scene, method, most, {.lr_check = 1, .fill = true, .final_median = 3});
  };
  expect(tsukuba, 1.75);
  expect(venus, 0.65);
  expect(cones, 2.35);
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
  expect("RubberWhale", 0.206);
  expect("Grove2", 0.307);
}

TEST_P(BeliefPropagationQuality, EnergyOfDisparitiesIsBelowIcm) {
  for (const StereoScene& scene : {tsukuba, venus, cones, art, aloe})
    expect_below_icm<StereoEstimator>(scene.name, defaults(scene), scene.left(), scene.right());
}

TEST_P(BeliefPropagationQuality, EnergyOfDisplacementsIsBelowIcm) {
  for (const char* name : {"RubberWhale", "Grove2"}) {
    const std::filesystem::path folder = *test::data_folder() / "middlebury-flow" / name;
    BeliefPropagation<DisplacementEnergy> method;
    method.energy.max_displacement = 5;
    expect_below_icm<FlowEstimator>(name, method, read_frame(folder / "frame10.png"),
                                    read_frame(folder / "frame11.png"));
  }
}

TEST_P(BeliefPropagationQuality, EnergyOfTsukubaIsNearAnnealing) {
  BeliefPropagation<StereoEnergy> method = defaults(tsukuba);
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
