// SPDX-License-Identifier: MIT
// Which frames of a sequence the refinement compares.
#include "parity.hpp"
#include "planes_on.hpp"
#include "steps/variational/refiner.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

struct PlainFlow {
  std::vector<float> u, v;
};

/// Flow refined by hand, on the CPU.
PlainFlow refined_by_hand(const FlowField& flow, const Frame* frames,
                          const VariationalRefinement& parameters) {
  const Size size = flow.size();
  return with_backend(Device::cpu(1), [&]<class Backend>() {
    Backend backend(Device::cpu(1), {});
    Workspace workspace(backend.memory());
    SharedWorkspace shared(workspace);
    FlowRefiner<Backend> refiner(backend, shared, size, parameters, 2, nullptr);
    const FlowPlanes planes = workspace.flow(size);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) planes.u(x, y) = flow.u(x, y), planes.v(x, y) = flow.v(x, y);
    backend.replay({}, [&] {
      refiner.prepare(frames, 0, 2);
      refiner.refine(0, 1, planes, {});
    });
    return PlainFlow{values_of(backend, planes.u), values_of(backend, planes.v)};
  });
}

class RefinementOfFrames : public OnDevice {
 protected:
  /// Pushes frames to the method with and without refinement.
  template <class Method>
  void expect_middle_pair(Method method, const VariationalRefinement& refinement) const {
    const int count = method.frames;
    SCOPED_TRACE(testing::Message() << Method::name << " with " << count << " frames");
    const Size size{90, 61};
    const Scene scene = render_scene("layers", {.size = size, .frames = count + 3, .color = true});
    method.refinement = {.refine = 0};
    FlowEstimator plain(method, size, {.device = device()});
    method.refinement = refinement;
    FlowEstimator refined(method, size, {.device = device()});
    for (int i = 0; i < count + 3; ++i) {  // the frames lie in a ring
      const FlowField* const from = plain.push(scene.frames[std::size_t(i)]);
      const FlowField* const found = refined.push(scene.frames[std::size_t(i)]);
      ASSERT_EQ(from != nullptr, i + 1 >= count);
      if (!from) continue;
      const std::size_t middle = std::size_t(i + 1 - count + (count - 1) / 2);
      const Frame frames[] = {scene.frames[middle], scene.frames[middle + 1]};
      const PlainFlow expected = refined_by_hand(*from, frames, refinement);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          const std::size_t at = std::size_t(y) * std::size_t(size.width) + std::size_t(x);
          ASSERT_EQ(found->u(x, y), expected.u[at]) << i << ": " << x << ", " << y;
          ASSERT_EQ(found->v(x, y), expected.v[at]) << i << ": " << x << ", " << y;
        }
    }
  }
};

TEST_P(RefinementOfFrames, AreTheMiddlePair) {
  for (const RefineData data : {RefineData::luma, RefineData::color}) {
    const VariationalRefinement refinement{.refine = 3, .refine_data = data};
    for (const int count : {2, 3, 5})
      expect_middle_pair(AdaptiveRidge{.frames = count, .matches = UseOfMatches::never}, refinement);
    expect_middle_pair(GradientTensor{}, refinement);
    expect_middle_pair(RidgeRegression{}, refinement);
  }
}

/// The solver and the refinement share copies of the frames if both need them.
TEST_P(RefinementOfFrames, AreSharedWithSharpening) {
  for (const int count : {2, 3, 5})
    for (const Sharpen sharpen : {Sharpen::one_way, Sharpen::two_way})
      expect_middle_pair(AdaptiveRidge{.frames = count, .sharpen = sharpen, .matches = UseOfMatches::never},
                         {.refine = 2});
}

/// More frames than two have no flow back.
TEST_P(RefinementOfFrames, TakeNoFlowBackOfMoreThanTwo) {
  const VariationalRefinement refinement{.refine = 2, .refine_back = true};
  for (const int count : {3, 5})
    expect_middle_pair(AdaptiveRidge{.frames = count, .matches = UseOfMatches::never}, refinement);
  expect_middle_pair(RidgeRegression{}, refinement);
}

/// The refinement overwrites memory that the solver does not need between its solves.
TEST_P(RefinementOfFrames, TakeLittleMoreMemory) {
  const Size size{640, 480};
  const auto bytes = [&](AdaptiveRidge method) {
    return double(FlowEstimator(method, size, {.device = device()}).workspace_bytes());
  };
  AdaptiveRidge plain;
  plain.refinement.refine = 0;
  EXPECT_LE(bytes({}), 1.3 * bytes(plain));
}

/// Pairs of different scenes in turns: what a pair leaves in shared memory does not reach the next one.
TEST_P(RefinementOfFrames, DoNotDependOnEarlierPairs) {
  const Size size{90, 61};
  const Scene scenes[] = {render_scene("layers", {.size = size, .color = true}),
                          render_scene("affine", {.size = size, .color = true})};
  for (const char* preset : {"default", "precise", "accurate", "large-motion", "clouds"}) {
    SCOPED_TRACE(preset);
    const AdaptiveRidge method = parafield::preset<AdaptiveRidge>(preset);
    FlowEstimator kept(method, size, {.device = device()});
    for (int i = 0; i < 4; ++i) {
      const Scene& scene = scenes[i % 2];
      FlowEstimator fresh(method, size, {.device = device()});
      const FlowField& expected = fresh(scene.frames[0], scene.frames[1]);
      const FlowField& found = kept(scene.frames[0], scene.frames[1]);
      expect_same(View<const float>(found.u), View<const float>(expected.u), "u", preset);
      expect_same(View<const float>(found.v), View<const float>(expected.v), "v", preset);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, RefinementOfFrames, every_device(), device_name);

}  // namespace
}  // namespace parafield
