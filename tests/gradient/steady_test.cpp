// SPDX-License-Identifier: MIT
// Adaptive ridge with more than two frames, before the refinement, which compares two frames. It is better
// where motion is steady, and never much worse than two frames.
#include <map>
#include <random>
#include <string>

#include "moving.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

using SteadyTest = OnDevice;

/// Five gray frames of a scene and the flow of the middle pair, with normal noise of `sigma`.
struct Rendered {
  std::vector<Image<float>> frames;
  FlowField truth;

  Rendered(std::string_view scene, Pace pace, std::uint64_t seed, double sigma) {
    Scene rendered = render_scene(scene, {.size = {320, 240}, .frames = 5, .seed = seed, .pace = pace});
    std::mt19937 random{unsigned(seed)};
    std::normal_distribution<double> noise(0, sigma);
    for (const FrameBuffer& frame : rendered.frames) {
      Image<float>& image = frames.emplace_back(frame.size());
      for (int y = 0; y < 240; ++y)
        for (int x = 0; x < 320; ++x)
          image(x, y) = float(static_cast<const std::uint8_t*>(frame.row(y))[x]) +
                        (sigma > 0 ? float(noise(random)) : 0.0f);
    }
    truth = std::move(rendered.flow[2]);
  }

  FlowField flow(int count, const Device& device) const {
    const std::vector<Frame> all = as_frames(frames);
    const std::size_t first = count == 5 ? 0 : count == 3 ? 1 : 2;
    return estimate_flow(std::vector<Frame>(all.begin() + first, all.begin() + first + count),
                         AdaptiveRidge{.frames = count,
                                       .iterations = 3,
                                       .finest_iterations = 3,
                                       .rounds = 3,
                                       .matches = UseOfMatches::never,
                                       .refinement = {.refine = 0}},
                         {.device = device});
  }
  /// Endpoint error divided by the error with two frames.
  double relative_error(int count, const Device& device) const {
    return evaluate(flow(count, device), truth).epe / evaluate(flow(2, device), truth).epe;
  }
};

const char* const flat_scenes[] = {"translation", "rotation", "zoom", "affine", "layers", "pole", "facade"};

/// Means over the scenes of the error relative to two frames. No scene may be worse than two frames by more
/// than 3 % with five frames, 5 % with three.
std::map<int, double> mean_errors(Pace pace, double noise, const Device& device) {
  std::map<int, double> sums;
  for (const char* const scene : flat_scenes) {
    const Rendered rendered(scene, pace, 2, noise);
    for (const int count : {3, 5}) {
      const double error = rendered.relative_error(count, device);
      EXPECT_LE(error, count == 5 ? 1.03 : 1.05) << count << " frames of " << scene << ", noise " << noise;
      sums[count] += error / std::size(flat_scenes);
    }
  }
  return sums;
}

TEST_P(SteadyTest, MoreFramesAreBetterOnSteadyMotion) {
  auto clean = mean_errors(Pace::steady, 0, device()), noisy = mean_errors(Pace::steady, 4, device()),
       noisier = mean_errors(Pace::steady, 12, device());
  EXPECT_LT(clean[5], 1);
  EXPECT_LT(noisy[3], 0.89);
  EXPECT_LT(noisy[5], 0.79);
  EXPECT_LT(noisier[3], 0.80);
  EXPECT_LT(noisier[5], 0.71);
}

/// Constant acceleration cancels out of five frames.
TEST_P(SteadyTest, FiveFramesAreBetterOnAcceleratingMotion) {
  mean_errors(Pace::accelerating, 0, device());
  EXPECT_LT(mean_errors(Pace::accelerating, 4, device())[5], 0.92);
  EXPECT_LT(mean_errors(Pace::accelerating, 12, device())[5], 0.79);
}

TEST_P(SteadyTest, MoreFramesAreNotWorseOnUnsteadyMotion) {
  for (const Pace pace : {Pace::shaking, Pace::stop_and_go})
    for (const double noise : {0.0, 4.0, 12.0}) mean_errors(pace, noise, device());
}

/// An object that starts to move loses the gain of more frames only in its own area; the background keeps it.
TEST_P(SteadyTest, AThingThatStartsTakesOnlyItsOwnGain) {
  const Rendered rendered("layers", Pace::stop_and_go, 1, 12);
  EXPECT_LT(rendered.relative_error(5, device()), 0.85);
}

TEST(Steady, TheBitsDependOnNoThreads) {
  const Rendered rendered("layers", Pace::stop_and_go, 3, 4);
  for (const int count : {3, 5}) {
    const FlowField one = rendered.flow(count, Device::cpu(1)), two = rendered.flow(count, Device::cpu(2));
    expect_same(one, two);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, SteadyTest, every_device(), device_name);

}  // namespace
}  // namespace parafield
