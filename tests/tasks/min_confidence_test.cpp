// SPDX-License-Identifier: MIT
// min_confidence withholds validity and changes nothing else.
#include <cmath>

#include "parafield/parafield.hpp"
#include "same.hpp"
#include "support.hpp"
#include "targets.hpp"
#include "tasks/own_least.hpp"

namespace parafield {
namespace {

constexpr Size size{sanitized ? 44 : 160, sanitized ? 52 : 120};

template <class Task>
typename Task::Options with_least(float least) {
  typename Task::Options options;
  options.device = Device::cpu();
  options.min_confidence = least;
  return options;
}

/// Checks the planes of two results, of which only `all` has no least confidence.
template <class Result>
void check_withheld(const Result& all, const Result& withheld, float least) {
  int kept = 0;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const bool valid = all.valid(x, y) != 0 && all.confidence(x, y) >= least;
      ASSERT_EQ(withheld.valid(x, y) != 0, valid) << x << " " << y;
      kept += valid;
    }
  EXPECT_GT(kept, 0);
  expect_same(withheld.confidence, all.confidence);
}

template <class Method>
std::vector<Method> methods_to_test() {
  std::vector<Method> all;
  for (const auto& preset : presets(Method{}))
    if (preset.name != "accurate" && (all.empty() || !sanitized)) all.push_back(preset.method);
  return all;
}

TEST(MinConfidence, FlowKeepsItsBits) {
  for_each_method<FlowMethod>([]<class Method>(const Method&) {
    for (Method method : methods_to_test<Method>()) {
      SCOPED_TRACE(method.name);
      if constexpr (requires { method.energy.max_displacement; }) method.energy.max_displacement = 2;
      const auto frames = render_scene("layers", {.size = size, .frames = method.frames}).frames;
      const std::vector<Frame> views(frames.begin(), frames.end());
      const FlowField all = estimate_flow(views, method, with_least<Flow>(0));
      std::vector<float> leasts = {own_least(method)};
      leasts.push_back(all.confidence(40, 50));
      for (const float least : leasts) {
        const FlowField withheld =
            estimate_flow(views, method, with_least<Flow>(least == own_least(method) ? -1 : least));
        check_withheld(all, withheld, least);
        expect_same_motion(withheld, all);
        FlowOptions fills = with_least<Flow>(0);
        fills.fill = true;
        fills.speckle = 20;
        const FlowField filled = estimate_flow(views, method, fills);
        fills.min_confidence = least;
        const FlowField both = estimate_flow(views, method, fills);
        expect_same_motion(both, filled);
        check_withheld(filled, both, least);
      }
    }
  });
}

TEST(MinConfidence, DisparitiesKeepTheirBits) {
  const auto frames = render_scene("stereo", {.size = size}).frames;
  for_each_method<StereoMethod>([&]<class Method>(const Method&) {
    for (Method method : methods_to_test<Method>()) {
      SCOPED_TRACE(method.name);
      method.energy.disparities = 24;
      const DisparityField all = estimate_disparity(frames[0], frames[1], method, with_least<Stereo>(0));
      const DisparityField own = estimate_disparity(frames[0], frames[1], method, with_least<Stereo>(-1));
      check_withheld(all, own, own_least(method));
      expect_same(own.d, all.d);
    }
  });
}

TEST(MinConfidence, IsLimited) {
  const auto frames = render_scene("layers", {.size = size}).frames;
  EXPECT_THROW(estimate_flow(frames[0], frames[1], {}, with_least<Flow>(-2)), Error);
  EXPECT_THROW(estimate_flow(frames[0], frames[1], {}, with_least<Flow>(NAN)), Error);
}

TEST(MinConfidence, ABlackFrameHasNoFlow) {
  const FrameBuffer black(size, PixelFormat::gray_u8);
  const FlowField flow = estimate_flow(black, black, {}, with_least<Flow>(-1));
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) ASSERT_EQ(flow.valid(x, y), 0);
}

}  // namespace
}  // namespace parafield
