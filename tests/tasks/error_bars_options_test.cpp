// SPDX-License-Identifier: MIT
// Error bars of estimators: on request only, for the methods that have them, in calls and streams.
#include <algorithm>
#include <cmath>

#include "parafield/parafield.hpp"
#include "targets.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

constexpr Size bars_size{160, 120};

template <class T>
bool same_plane(const Image<T>& a, const Image<T>& b) {
  if (bool(a) != bool(b) || a.size() != b.size()) return false;
  for (int y = 0; a && y < a.size().height; ++y)
    if (!std::equal(a.view().row(y), a.view().row(y) + a.size().width, b.view().row(y))) return false;
  return true;
}
bool same_bars(const FlowField& a, const FlowField& b) {
  return same_plane(a.covariance.xx, b.covariance.xx) && same_plane(a.covariance.xy, b.covariance.xy) &&
         same_plane(a.covariance.yy, b.covariance.yy) && same_plane(a.outlier, b.outlier) &&
         same_plane(a.outlier3, b.outlier3) && same_plane(a.cause, b.cause);
}

class ErrorBars : public OnDevice {
 protected:
  FlowOptions flow_bars() const {
    FlowOptions options;
    options.device = device();
    options.covariance = options.outlier = options.cause = true;
    return options;
  }
  StereoOptions stereo_bars() const {
    StereoOptions options;
    options.device = device();
    options.sigma = options.outlier = options.cause = true;
    return options;
  }
};

TEST_P(ErrorBars, OfFlowAreThereOnRequestAndChangeNothingElse) {
  const Scene scene = render_scene("layers", {.size = bars_size, .frames = 3});
  for (const auto& preset : presets(AdaptiveRidge{})) {
    SCOPED_TRACE(preset.name);
    if (preset.method.frames > 3) continue;
    FlowOptions without;
    without.device = device();
    const FlowField plain = estimate_flow(scene.frames[0], scene.frames[1], preset.method, without),
                    bars = estimate_flow(scene.frames[0], scene.frames[1], preset.method, flow_bars());
    EXPECT_FALSE(plain.covariance || plain.outlier || plain.outlier3 || plain.cause);
    EXPECT_TRUE(same_plane(plain.u, bars.u) && same_plane(plain.v, bars.v));
    EXPECT_TRUE(same_plane(plain.valid, bars.valid) && same_plane(plain.confidence, bars.confidence));
    ASSERT_TRUE(bars.covariance.xx && bars.covariance.xy && bars.covariance.yy && bars.outlier &&
                bars.outlier3 && bars.cause);
    for (int y = 0; y < bars_size.height; ++y)
      for (int x = 0; x < bars_size.width; ++x) {
        ASSERT_GT(bars.covariance.xx(x, y), 0);
        ASSERT_TRUE(bars.outlier(x, y) >= bars.outlier3(x, y) && bars.outlier(x, y) <= 1);
        ASSERT_LE(bars.cause(x, y), std::uint8_t(ErrorCause::left_frame));
      }
  }
}

/// Each combination of planes has the bits of all of them.
TEST_P(ErrorBars, OfFlowCanBeAskedForOneByOne) {
  const Scene scene = render_scene("layers", {.size = bars_size});
  const FlowField all = estimate_flow(scene.frames[0], scene.frames[1], AdaptiveRidge{}, flow_bars());
  for (int asked = 1; asked < 8; ++asked) {
    FlowOptions options = flow_bars();
    options.covariance = asked & 1, options.outlier = asked & 2, options.cause = asked & 4;
    options.valid = asked != 3, options.confidence = asked != 5;
    const FlowField some = estimate_flow(scene.frames[0], scene.frames[1], AdaptiveRidge{}, options);
    EXPECT_EQ(bool(some.covariance), options.covariance);
    EXPECT_EQ(bool(some.outlier3), options.outlier);
    EXPECT_EQ(bool(some.cause), options.cause);
    EXPECT_TRUE(!some.covariance || same_plane(some.covariance.xy, all.covariance.xy));
    EXPECT_TRUE(!some.outlier || same_plane(some.outlier, all.outlier));
    EXPECT_TRUE(!some.cause || same_plane(some.cause, all.cause));
  }
}

TEST_P(ErrorBars, OfPushedFramesAreThoseOfCalls) {
  const Scene scene = render_scene("rotation", {.size = bars_size, .frames = 4});
  for (const bool pipelined : {false, true})
    for (const float fb_check : {0.0f, 2.0f}) {
      FlowOptions options = flow_bars();
      options.fb_check = fb_check;
      FlowEstimator calls(AdaptiveRidge{}, bars_size, options);
      options.pipelined = pipelined;
      FlowEstimator pushes(AdaptiveRidge{}, bars_size, options);
      int number = 0;
      const auto expect_next = [&](const FlowField* pushed) {
        if (!pushed) return;
        const FlowField& called =
            calls(scene.frames[std::size_t(number)], scene.frames[std::size_t(number) + 1]);
        EXPECT_TRUE(same_bars(*pushed, called)) << number;
        ++number;
      };
      for (const FrameBuffer& frame : scene.frames) expect_next(pushes.push(frame));
      if (pipelined) expect_next(pushes.finish());
      EXPECT_EQ(number, 3);
    }
}

TEST_P(ErrorBars, GoIntoTheOutputsPlanes) {
  const Scene scene = render_scene("layers", {.size = bars_size});
  FlowEstimator estimator(AdaptiveRidge{}, bars_size, flow_bars());
  FlowField whole = estimator.new_result(), only_outlier(bars_size, {}, FieldPlanes{.outlier = true});
  const std::array<Frame, 2> frames{scene.frames[0], scene.frames[1]};
  estimator({frames}, whole);
  estimator({frames}, only_outlier);
  estimator.synchronize();
  EXPECT_TRUE(same_plane(whole.outlier, only_outlier.outlier));
  EXPECT_FALSE(only_outlier.covariance);
  EXPECT_TRUE(same_bars(whole, whole.to(Memory::host())));

  FlowEstimator without(AdaptiveRidge{}, bars_size, {.device = device()});
  EXPECT_EQ(message_of([&] { without({frames}, whole); }),
            "the output has a covariance, but the estimator's options leave it out");
}

/// The flow back finds motion that matches well but is wrong, and what leaves the frame is known as such.
TEST_P(ErrorBars, NameTheirCauses) {
  const Scene scene = render_scene("layers", {.size = {320, 240}, .frames = 2});
  FlowOptions options = flow_bars();
  options.fb_check = 2;
  const FlowField flow = estimate_flow(scene.frames[0], scene.frames[1], AdaptiveRidge{}, options);
  int hidden = 0, found = 0, left = 0, left_found = 0;
  for (int y = 0; y < 240; ++y)
    for (int x = 0; x < 320; ++x) {
      const FlowField& truth = scene.flow[0];
      const float to_x = float(x) + truth.u(x, y), to_y = float(y) + truth.v(x, y);
      const bool leaves = to_x < -0.3f || to_y < -0.3f || to_x > 319.3f || to_y > 239.3f;
      left += leaves, left_found += leaves && flow.cause(x, y) == std::uint8_t(ErrorCause::left_frame);
      if (!scene.occluded[0](x, y) || leaves) continue;
      ++hidden, found += flow.cause(x, y) >= std::uint8_t(ErrorCause::inconsistent);
    }
  EXPECT_GT(left_found, left / 2) << left;
  EXPECT_GT(found, hidden / 2) << hidden;
}

TEST_P(ErrorBars, HoldTheErrorsOfRenderedScenes) {
  if (sanitized) GTEST_SKIP() << "compares values, and runs nothing that other tests do not";
  double inside68 = 0, inside95 = 0;
  int count = 0;
  for (const char* name : {"rotation", "affine", "layers", "flythrough"})
    for (const bool back : {false, true}) {
      const Scene scene = render_scene(name, {.size = {320, 240}, .seed = 7});
      FlowOptions options = flow_bars();
      options.fb_check = back ? 2 : 0;
      const ErrorBarScores scores = evaluate_error_bars(
          estimate_flow(scene.frames[0], scene.frames[1], AdaptiveRidge{}, options), scene.flow[0]);
      EXPECT_GT(scores.inside68, 0.5) << name;
      EXPECT_LT(scores.ece1, 0.06) << name;
      inside68 += scores.inside68, inside95 += scores.inside95, ++count;
    }
  EXPECT_GT(inside68 / count, 0.68);
  EXPECT_GT(inside95 / count, 0.9);
}

TEST_P(ErrorBars, OfStereo) {
  const Scene scene = render_scene("stereo", {.size = {320, 240}});
  StereoOptions without;
  without.device = device();
  const DisparityField plain = estimate_disparity(scene.frames[0], scene.frames[1], {}, without),
                       bars = estimate_disparity(scene.frames[0], scene.frames[1], {}, stereo_bars());
  EXPECT_FALSE(plain.sigma || plain.outlier || plain.cause);
  EXPECT_TRUE(same_plane(plain.d, bars.d) && same_plane(plain.valid, bars.valid) &&
              same_plane(plain.confidence, bars.confidence));
  const ErrorBarScores scores = evaluate_error_bars(bars, scene.disparity[0]);
  EXPECT_GT(scores.inside68, 0.5);
  EXPECT_GT(scores.inside95, 0.8);
  EXPECT_LT(scores.ece1, 0.06);

  const Image<float> depth = depth_of(bars, 250, 0.2), sigma = depth_sigma_of(bars, 250, 0.2);
  for (int y = 0; y < 240; y += 7)
    for (int x = 0; x < 320; x += 7) {
      const bool is_known = std::isfinite(depth(x, y));
      ASSERT_EQ(std::isfinite(sigma(x, y)), is_known);
      const float expected = is_known ? depth(x, y) * depth(x, y) / 50 * bars.sigma(x, y) : 0;
      EXPECT_NEAR(is_known ? sigma(x, y) : 0, expected, 1e-5 * expected);
    }
  EXPECT_EQ(message_of([&] { depth_sigma_of(plain, 250, 0.2); }),
            "the disparities have no sigma: see StereoOptions");
}

TEST_P(ErrorBars, OfOtherMethodsAreAnError) {
  FlowOptions cause;
  cause.device = device();
  cause.cause = true;
  for_each_method<FlowMethod>([&]<class Method>(const Method& method) {
    EXPECT_EQ(has_error_bars(FlowMethod(method)), (std::is_same_v<Method, AdaptiveRidge>));
    if (has_error_bars(FlowMethod(method))) return;
    EXPECT_EQ(message_of([&] { FlowEstimator(method, bars_size, cause); }),
              "error bars (covariance, outlier, cause) are only for adaptive-ridge; " +
                  std::string(Method::name) + " has none");
  });
  StereoOptions sigma;
  sigma.device = device();
  sigma.sigma = true;
  EXPECT_TRUE(has_error_bars(StereoMethod{}));
  Icm<StereoEnergy> icm;
  icm.energy.disparities = 16;
  EXPECT_NE(message_of([&] {
              StereoEstimator(icm, bars_size, sigma);
            }).find("are only for belief-propagation with the left-right check (lr_check above 0)"),
            std::string::npos);
  BeliefPropagation<StereoEnergy> unchecked;
  unchecked.energy.disparities = 16;
  unchecked.energy.checks.lr_check = 0;
  EXPECT_NE(message_of([&] { StereoEstimator(unchecked, bars_size, sigma); }).find("with lr_check 0"),
            std::string::npos);
}

/// Frames that show different scenes have no flow: their error bars say so.
TEST_P(ErrorBars, AreHugeAtACut) {
  const Scene a = render_scene("rotation", {.size = bars_size, .seed = 3}),
              b = render_scene("layers", {.size = bars_size, .seed = 9});
  FlowOptions options = flow_bars();
  options.examine_frames = true;
  FlowEstimator estimator(AdaptiveRidge{}, bars_size, options);
  const FlowField& flow = estimator(a.frames[0], b.frames[1]);
  ASSERT_EQ(estimator.frames_state(), FramesState::cut);
  EXPECT_EQ(flow.outlier(80, 60), 1);
  EXPECT_EQ(flow.covariance.yy(80, 60), 1e12f);
}

INSTANTIATE_TEST_SUITE_P(Devices, ErrorBars, every_device(), device_name);

}  // namespace
}  // namespace parafield
