// SPDX-License-Identifier: MIT
// The variational refinement of every flow method: in calls and streams, with the options of flow, and its
// effect on errors.
#include <atomic>
#include <chrono>
#include <limits>
#include <thread>

#include "moving.hpp"
#include "random_method.hpp"
#include "targets.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

class RefinementOfFlow : public OnDevice {
 protected:
  FlowField solve(const std::vector<Frame>& frames, const FlowMethod& method,
                  FlowOptions options = {}) const {
    options.device = device();
    return estimate_flow(frames, method, options);
  }
};

/// The parameters of a method's refinement.
template <class Method>
VariationalRefinement& refinement_in(Method& method) {
  if constexpr (requires { method.energy; })
    return method.energy.refinement;
  else
    return method.refinement;
}
template <class Method>
Method refined_by(Method method, const VariationalRefinement& refinement) {
  refinement_in(method) = refinement;
  return method;
}

/// Methods of 2 to 7 frames.
std::vector<FlowMethod> methods_to_refine(const VariationalRefinement& refinement) {
  std::vector<FlowMethod> methods;
  for_each_method<FlowMethod>(
      [&](const auto& method) { methods.push_back(refined_by(restrained(method), refinement)); });
  for (const int frames : {3, 5}) methods.push_back(refined_by(AdaptiveRidge{.frames = frames}, refinement));
  return methods;
}
std::string name_of_flow(const FlowMethod& method) {
  return std::visit([](const auto& m) { return described(m); }, method);
}

double mean_change(const FlowField& a, const FlowField& b) {
  double sum = 0;
  for (int y = 0; y < a.size().height; ++y)
    for (int x = 0; x < a.size().width; ++x) sum += std::hypot(a.u(x, y) - b.u(x, y), a.v(x, y) - b.v(x, y));
  return sum / (double(a.size().width) * a.size().height);
}

const VariationalRefinement of_luma{.refine = 2},
    of_color{.refine = 3, .refine_data = RefineData::color, .refine_back = true};

TEST_P(RefinementOfFlow, WithoutWarpsTheOtherParametersChangeNothing) {
  const auto images = moving({41, 33}, 7, 0.6f, -0.4f, 3);
  const std::vector<Frame> all = as_frames(images);
  const std::vector<FlowMethod> plain = methods_to_refine({.refine = 0}),
                                others = methods_to_refine({.refine = 0,
                                                            .refine_sweeps = 3,
                                                            .refine_data = RefineData::color,
                                                            .refine_back = true,
                                                            .refine_median = 1,
                                                            .refine_smoothness = 99});
  for (std::size_t i = 0; i < plain.size(); ++i) {
    SCOPED_TRACE(name_of_flow(plain[i]));
    const std::vector<Frame> frames(all.begin(), all.begin() + frames_of(plain[i]));
    expect_same(solve(frames, plain[i]), solve(frames, others[i]));
  }
}

/// The refinement changes the flow, but neither its validity nor its confidence.
TEST_P(RefinementOfFlow, KeepsValidityAndConfidence) {
  const auto images = moving({41, 33}, 7, 0.6f, -0.4f, 3);
  const std::vector<Frame> all = as_frames(images);
  const std::vector<FlowMethod> plain = methods_to_refine({.refine = 0});
  for (const VariationalRefinement& refinement : {of_luma, of_color}) {
    const std::vector<FlowMethod> refined = methods_to_refine(refinement);
    for (std::size_t i = 0; i < plain.size(); ++i) {
      SCOPED_TRACE(name_of_flow(refined[i]));
      const std::vector<Frame> frames(all.begin(), all.begin() + frames_of(plain[i]));
      const FlowField before = solve(frames, plain[i]), after = solve(frames, refined[i]);
      EXPECT_GT(mean_change(before, after), 0);
      for (int y = 0; y < 33; ++y)
        for (int x = 0; x < 41; ++x) {
          ASSERT_EQ(before.valid(x, y), after.valid(x, y)) << x << ", " << y;
          ASSERT_EQ(before.confidence(x, y), after.confidence(x, y)) << x << ", " << y;
        }
    }
  }
}

TEST_P(RefinementOfFlow, PlanesThatAreNotAskedForChangeNothing) {
  const auto images = frames_of_motion({50, 40}, 2, 0.6f, -0.4f, 5, 3);
  const std::vector<Frame> frames = as_frames(images);
  for (const VariationalRefinement& refinement : {of_luma, of_color})
    for (const FlowMethod& method : methods_to_refine(refinement)) {
      if (frames_of(method) != 2) continue;
      SCOPED_TRACE(name_of_flow(method));
      const FlowField all = solve(frames, method),
                      none = solve(frames, method, {.valid = false, .confidence = false});
      EXPECT_EQ(mean_change(all, none), 0);
    }
}

TEST_P(RefinementOfFlow, PushedFramesGiveTheFlowOfCalls) {
  const auto images = moving({61, 40}, 9, 0.5f, 0.2f, 5);
  for (const VariationalRefinement& refinement : {of_luma, of_color})
    for (const FlowMethod& method : methods_to_refine(refinement)) {
      // Lucas-Kanade and labels start from the last pair's flow.
      if (std::holds_alternative<AdaptiveRidge>(method) || frames_of(method) > 2) {
        SCOPED_TRACE(name_of_flow(method));
        expect_calls_flow_of_pushes(method, as_frames(images), device());
      }
    }
}

TEST_P(RefinementOfFlow, PipelinedPushesGiveTheSameFlow) {
  const auto images = moving({61, 40}, 9, 0.5f, 0.2f, 5);
  for (const FlowMethod& method : methods_to_refine(of_luma)) {
    SCOPED_TRACE(name_of_flow(method));
    FlowEstimator plain(method, {61, 40}, {.device = device()}),
        ahead(method, {61, 40}, {.device = device(), .pipelined = true});
    std::vector<FlowField> expected, found;
    for (const Frame& frame : as_frames(images)) {
      if (const FlowField* flow = plain.push(frame)) expected.push_back(flow->to(Memory::host()));
      if (const FlowField* flow = ahead.push(frame)) found.push_back(flow->to(Memory::host()));
    }
    if (const FlowField* flow = ahead.finish()) found.push_back(flow->to(Memory::host()));
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) expect_same(found[i], expected[i]);
  }
}

TEST_P(RefinementOfFlow, ForwardBackwardCheckChangesOnlyValidity) {
  const auto images = frames_of_motion({60, 44}, 2, 2.6f, 0, 9);
  const std::vector<Frame> frames = as_frames(images);
  for (const VariationalRefinement& refinement : {of_luma, of_color})
    for (const FlowMethod& method : methods_to_refine(refinement)) {
      if (frames_of(method) != 2) continue;
      SCOPED_TRACE(name_of_flow(method));
      const FlowField plain = solve(frames, method), checked = solve(frames, method, {.fb_check = 0.5f});
      EXPECT_EQ(mean_change(plain, checked), 0);
      for (int y = 0; y < 44; ++y)
        for (int x = 0; x < 60; ++x) ASSERT_LE(checked.valid(x, y), plain.valid(x, y)) << x << ", " << y;
    }
}

/// Filters come after the refinement.
TEST_P(RefinementOfFlow, ThenPixelsAreFilledAndFiltered) {
  const auto images = frames_of_motion({60, 44}, 2, 2.6f, 1, 9, 6);
  const std::vector<Frame> frames = as_frames(images);
  for (const VariationalRefinement& refinement : {of_luma, of_color}) {
    const AdaptiveRidge method{.max_residual = 0.01f, .refinement = refinement};
    const FlowField plain = solve(frames, method), filled = solve(frames, method, {.fill = true}),
                    filtered = solve(frames, method, {.final_median = 3});
    int count = 0;
    for (int y = 0; y < 44; ++y)
      for (int x = 0; x < 60; ++x) {
        if (plain.valid(x, y)) {
          ASSERT_EQ(filled.u(x, y), plain.u(x, y)) << x << ", " << y;
          ASSERT_EQ(filled.v(x, y), plain.v(x, y)) << x << ", " << y;
        } else {
          ++count;
        }
        if (x == 0 || y == 0 || x == 59 || y == 43) continue;
        std::vector<float> around;
        for (int j = -1; j <= 1; ++j)
          for (int i = -1; i <= 1; ++i) around.push_back(plain.u(x + i, y + j));
        std::nth_element(around.begin(), around.begin() + 4, around.end());
        ASSERT_EQ(filtered.u(x, y), around[4]) << x << ", " << y;
      }
    EXPECT_GT(count, 20);
    EXPECT_GT(mean_change(plain, filled), 0);
  }
}

TEST_P(RefinementOfFlow, FramesWithHolesHaveFiniteFlow) {
  for (const float hole : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()})
    for (const VariationalRefinement& refinement : {of_luma, of_color})
      for (const FlowMethod& method : methods_to_refine(refinement)) {
        SCOPED_TRACE(name_of_flow(method));
        auto images = moving({61, 40}, 7, 0.5f, 0.2f, 5);
        for (auto& image : images)
          for (int y = 10; y < 22; ++y)
            for (int x = 30; x < 45; ++x) image(x, y) = hole;
        std::vector<Frame> frames = as_frames(images);
        frames.resize(std::size_t(frames_of(method)));
        const FlowField flow = solve(frames, method);
        for (int y = 0; y < 40; ++y)
          for (int x = 0; x < 61; ++x)
            ASSERT_TRUE(std::isfinite(flow.u(x, y)) && std::isfinite(flow.v(x, y))) << x << ", " << y;
      }
}

TEST_P(RefinementOfFlow, IsCancelled) {
  if (device().kind == Device::Kind::cuda) GTEST_SKIP() << "on CUDA a solve that has begun ends";
  const Size size{sanitized ? 160 : 320, sanitized ? 90 : 240};
  const Scene scene = render_scene("layers", {.size = size});
  FlowEstimator estimator(AdaptiveRidge{.refinement = {.refine = 30, .refine_sweeps = 100}}, size,
                          {.device = device()});
  std::atomic<bool> ends = false;
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(60));
    estimator.cancel();
    ends = true;
  });
  bool cancelled = false;
  while (!cancelled) {
    try {
      estimator(scene.frames[0], scene.frames[1]);
      if (ends) break;
    } catch (const Error& error) {
      cancelled = error.code() == ErrorCode::cancelled;
      if (!cancelled) throw;
    }
  }
  other.join();
  EXPECT_EQ(message_of([&] { estimator(scene.frames[0], scene.frames[1]); }) == "no error", false);
  estimator.reset();
  const FlowField again = estimator(scene.frames[0], scene.frames[1]).to(Memory::host());
  FlowEstimator fresh(estimator.method(), size, {.device = device()});
  expect_same(again, fresh(scene.frames[0], scene.frames[1]));
}

TEST_P(RefinementOfFlow, RefusesParametersOutOfRange) {
  const auto refusal = [&](const VariationalRefinement& refinement) {
    return message_of([&] {
      FlowEstimator(AdaptiveRidge{.refinement = refinement}, {20, 12}, {.device = device()});
    });
  };
  EXPECT_EQ(refusal({.refine = 31}), "adaptive-ridge: refine cannot be 31; allowed: 0 to 30");
  EXPECT_EQ(refusal({.refine = -1}), "adaptive-ridge: refine cannot be -1; allowed: 0 to 30");
  EXPECT_EQ(refusal({.refine_sweeps = 0}), "adaptive-ridge: refine_sweeps cannot be 0; allowed: 1 to 100");
  EXPECT_EQ(refusal({.refine_sweeps = 101}),
            "adaptive-ridge: refine_sweeps cannot be 101; allowed: 1 to 100");
  EXPECT_EQ(refusal({.refine_median = 31}), "adaptive-ridge: refine_median cannot be 31; allowed: 0 to 30");
  EXPECT_EQ(refusal({.refine_smoothness = 0}),
            "adaptive-ridge: refine_smoothness cannot be 0; allowed: 0.01 to 1000");
  EXPECT_EQ(refusal({.refine_smoothness = std::numeric_limits<float>::quiet_NaN()}),
            "adaptive-ridge: refine_smoothness cannot be nan; allowed: 0.01 to 1000");
  for_each_method<FlowMethod>([&](const auto& method) {
    EXPECT_NE(message_of([&] {
                FlowEstimator(refined_by(method, {.refine = 99}), {20, 12}, {.device = device()});
              }),
              "no error")
        << method.name;
  });
}

/// Mean error over rendered scenes, relative to the method without refinement.
template <class Method>
double relative_error(const Method& method, const VariationalRefinement& refinement, const Device& device) {
  double refined = 0, plain = 0;
  for (const char* name : {"layers", "rotation", "zoom", "affine", "pole"}) {
    const Scene scene = render_scene(name, {.size = {200, 150}, .seed = 2, .color = true});
    const auto error = [&](const Method& m) {
      return evaluate(estimate_flow(scene.frames[0], scene.frames[1], m, {.device = device}), scene.flow[0])
          .epe;
    };
    refined += error(refined_by(method, refinement));
    plain += error(refined_by(method, {.refine = 0}));
  }
  return refined / plain;
}

TEST_P(RefinementOfFlow, LowersTheErrorOfRenderedScenes) {
  if (sanitized) GTEST_SKIP() << "takes long with sanitizers";
  for (const RefineData data : {RefineData::luma, RefineData::color}) {
    const VariationalRefinement refinement{.refine = 4, .refine_sweeps = 12, .refine_data = data};
    EXPECT_LT(relative_error(AdaptiveRidge{}, refinement, device()), 0.76);
    EXPECT_LT(relative_error(LucasKanade{}, refinement, device()), 0.85);
    EXPECT_LT(relative_error(DirectInterpolation{}, refinement, device()), 0.89);
    EXPECT_LT(relative_error(MultiHypothesis{}, refinement, device()), 0.70);
    EXPECT_LT(relative_error(BeliefPropagation<DisplacementEnergy>{}, refinement, device()), 0.24);
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, RefinementOfFlow, every_device(), device_name);

}  // namespace
}  // namespace parafield
