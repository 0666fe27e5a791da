// SPDX-License-Identifier: MIT
// The median weighted by color at boundaries of motion: against float64, on every target, and what it is good
// for.
#include "steps/sharpen/sharpen.hpp"

#include <random>

#include "oracle/sharpen.hpp"
#include "parafield/parafield.hpp"
#include "planes_on.hpp"
#include "targets.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

constexpr Size sharpened_sizes[] = {{1, 1}, {1, 40}, {40, 1}, {2, 3}, {33, 17}, {90, 61}, {600, 5}};

/// Two colors and two motions that meet at about the same line, and noise on all of them.
struct SharpenCase {
  Size size;
  std::vector<float> from[3], to[3], u, v;
  std::vector<float> back_u, back_v;  // of every other case; empty in the others

  SharpenCase(Size s, unsigned seed) : size(s) {
    std::mt19937 random(seed);
    const auto noise = [&](float most) { return most * (float(random() % 2001) / 1000 - 1); };
    const float slope = noise(1), motion = noise(6), contrast = 10 + std::abs(noise(60));
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) {
        const float line = float(x) - float(size.width) / 2 + slope * (float(y) - float(size.height) / 2);
        for (int c = 0; c < 3; ++c) {
          from[c].push_back(100 + (line > 0 ? contrast : 0) + noise(6));
          to[c].push_back(100 + (line > 2 ? contrast : 0) + noise(6));
        }
        u.push_back((line > 3 ? motion : 1) + noise(0.1f));
        v.push_back((line > -3 ? motion : -1) + noise(0.1f));
        if (random() % 500 == 0) u.back() = noise(2000), v.back() = noise(2000);
        if (seed % 2 == 0) continue;
        back_u.push_back((line > 0 ? -motion : -1) + noise(0.1f));
        back_v.push_back((line > 0 ? -motion : 1) + noise(0.1f));
      }
  }
};

struct FlowValues {
  std::vector<float> u, v;
  bool operator==(const FlowValues&) const = default;
};

/// A frame of three channels, 0 to 255, in the backend's memory.
template <class Backend>
Frame frame_in(Backend& backend, Workspace& workspace, Size size, const std::vector<float>* channels) {
  std::vector<float> values;
  for (std::size_t i = 0; i < channels[0].size(); ++i)
    for (int c = 0; c < 3; ++c) values.push_back(channels[c][i]);
  const View<float> plane = stored(backend, workspace, {3 * size.width, size.height}, values);
  return {plane.data, size.width, size.height, plane.pitch, PixelFormat::rgb_f32, backend.memory()};
}

FlowValues sharpened_on(const Target& target, const SharpenCase& c, int threads = 1) {
  const Forced forced(target);
  const Device device = target.device(threads);
  return with_backend(device, [&]<class Backend>() {
    Backend backend(device, {});
    const auto active = backend.activate();
    Workspace workspace(backend.memory());
    const FlowPlanes flow{stored(backend, workspace, c.size, c.u), stored(backend, workspace, c.size, c.v)};
    const Frame frames[] = {frame_in(backend, workspace, c.size, c.from),
                            frame_in(backend, workspace, c.size, c.to)};
    Sharpening sharpening = make_sharpening<Backend>(
        workspace, c.size, KeptFrames::make(workspace, c.size, 2), workspace.flow(c.size));
    sharpening.flow = flow;
    if (!c.back_u.empty())
      sharpening.back = {stored(backend, workspace, c.size, c.back_u),
                         stored(backend, workspace, c.size, c.back_v)};
    for (int i = 0; i < 2; ++i)  // on CUDA recorded, then replayed
      backend.replay({}, [&] {
        keep_frames(backend, frames, 0, 2, sharpening.kept);
        sharpen_flow(backend, sharpening);
      });
    backend.synchronize();
    return FlowValues{values_of(backend, sharpening.sharpened.u), values_of(backend, sharpening.sharpened.v)};
  });
}

oracle::Grid grid_of(Size size, const std::vector<float>& values) {
  oracle::Grid grid(size);
  std::ranges::copy(values, grid.values.begin());
  return grid;
}

class SharpenOnTarget : public OnTarget {};

TEST_P(SharpenOnTarget, AgreesWithItsOracle) {
  int medians = 0, clear = 0, moved = 0;
  for (const Size size : sharpened_sizes)
    for (unsigned seed = 0; seed < 6; ++seed) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << " seed " << seed);
      const SharpenCase c(size, seed);
      const FlowValues found = sharpened_on(GetParam(), c);
      const oracle::ColorGrids from{grid_of(size, c.from[0]), grid_of(size, c.from[1]),
                                    grid_of(size, c.from[2])},
          to{grid_of(size, c.to[0]), grid_of(size, c.to[1]), grid_of(size, c.to[2])};
      const oracle::Flow flow{grid_of(size, c.u), grid_of(size, c.v)};
      const oracle::Flow back =
          c.back_u.empty() ? oracle::Flow{} : oracle::Flow{grid_of(size, c.back_u), grid_of(size, c.back_v)};
      const oracle::SharpenedFlow expected(from, to, flow, c.back_u.empty() ? nullptr : &back);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          const std::size_t i = std::size_t(y) * std::size_t(size.width) + std::size_t(x);
          const bool is_sharpened = expected.is_sharpened(x, y, 0.2);
          if (is_sharpened != expected.is_sharpened(x, y, 0.200001) ||
              is_sharpened != expected.is_sharpened(x, y, 0.199999))
            continue;
          if (!is_sharpened) {
            ASSERT_EQ(found.u[i], c.u[i]) << x << ", " << y;
            ASSERT_EQ(found.v[i], c.v[i]) << x << ", " << y;
            continue;
          }
          for (const auto& [plane, value] :
               {std::pair{&flow.u, found.u[i]}, std::pair{&flow.v, found.v[i]}}) {
            const auto [low, high] = expected.median(*plane, x, y, 0.002);
            ASSERT_GE(value, low - 0.00196) << x << ", " << y;
            ASSERT_LE(value, high + 0.00196) << x << ", " << y;
            ++medians;
            clear += high - low < 0.05;
          }
          moved += std::abs(found.u[i] - c.u[i]) > 0.5f;
        }
    }
  EXPECT_GT(medians, 10000);
  EXPECT_GT(clear, 0.9 * medians) << "are known to a fraction of the noise";
  EXPECT_GT(moved, medians / 100);
}

TEST_P(SharpenOnTarget, GivesTheSameBitsOnEveryTargetAndNumberOfThreads) {
  unsigned seed = 100;
  for (const Size size : sharpened_sizes) {
    SCOPED_TRACE(testing::Message() << size.width << "x" << size.height);
    const SharpenCase c(size, ++seed);
    const FlowValues expected = sharpened_on(reference_target(), c);
    for (const int threads : {1, 2, 3})
      EXPECT_TRUE(sharpened_on(GetParam(), c, threads) == expected) << threads;
  }
}

TEST_P(SharpenOnTarget, ColorsThatAreNotKnownAreNotCompared) {
  SharpenCase c({60, 40}, 7);
  constexpr float nan_value = std::numeric_limits<float>::quiet_NaN(),
                  infinite = std::numeric_limits<float>::infinity();
  for (std::size_t i = 0; i < c.u.size(); i += 7)
    c.from[i % 3][i] = i % 2 ? nan_value : infinite, c.to[i % 3][(i * 5) % c.u.size()] = nan_value;
  const FlowValues found = sharpened_on(GetParam(), c);
  const FlowValues expected = sharpened_on(reference_target(), c);
  for (std::size_t i = 0; i < found.u.size(); ++i) {
    ASSERT_EQ(found.u[i], expected.u[i]) << i % 60 << ", " << i / 60;
    ASSERT_EQ(found.v[i], expected.v[i]) << i % 60 << ", " << i / 60;
  }
  const auto [least, most] = std::ranges::minmax(c.u);
  for (const float u : found.u) ASSERT_TRUE(u >= least - 0.002f && u <= most + 0.002f) << u;
}

INSTANTIATE_TEST_SUITE_P(Targets, SharpenOnTarget, every_target(), target_name);

TEST(Sharpening, RoundsFlowToItsUnits) {
  for (const float flow : {0.0f, 1.0f, -1.0f, 0.00390625f, -120.25f, 5000.5f, 16383.0f, -16383.0f})
    EXPECT_EQ(flow_of(units_of(flow)), flow);
  EXPECT_EQ(units_of(0.0019f), 0);
  EXPECT_EQ(units_of(0.002f), 1);
  EXPECT_EQ(units_of(-0.002f), -1);
  EXPECT_EQ(flow_of(units_of(1e30f)), 16383);
  EXPECT_EQ(flow_of(units_of(-1e30f)), -16383);
}

using SharpenedEstimates = OnDevice;

/// Mean endpoint error on a scene without the refinement, px.
double error_of(const Scene& scene, AdaptiveRidge method, const Device& device) {
  method.refinement.refine = 0;
  return evaluate(estimate_flow(scene.frames[0], scene.frames[1], method, {.device = device}), scene.flow[0])
      .epe;
}

TEST_P(SharpenedEstimates, HaveLessErrorWhereThingsMoveApart) {
  for (const char* name : {"layers", "poles"}) {
    const Scene scene = render_scene(name, {.size = {320, 240}, .color = true});
    const double plain = error_of(scene, {}, device()),
                 sharpened = error_of(scene, {.sharpen = Sharpen::one_way}, device());
    EXPECT_LT(sharpened, 0.97 * plain) << name << ": " << plain;
  }
}

TEST_P(SharpenedEstimates, HaveLessErrorStillWithFlowBack) {
  for (const char* name : {"layers", "pole"}) {
    const Scene scene = render_scene(name, {.size = {320, 240}, .color = true});
    const double once = error_of(scene, {.sharpen = Sharpen::one_way}, device()),
                 twice = error_of(scene, {.sharpen = Sharpen::two_way}, device());
    EXPECT_LT(twice, 0.99 * once) << name << ": " << once;
  }
}

TEST_P(SharpenedEstimates, StayWhereNothingMovesApart) {
  const Scene scene = render_scene("rotation", {.size = {320, 240}});
  const double plain = error_of(scene, {}, device()),
               sharpened = error_of(scene, {.sharpen = Sharpen::one_way}, device());
  EXPECT_LT(sharpened, 1.01 * plain);
}

/// Flow sharpened by hand, by the colors of two frames.
FlowValues sharpened_by_hand(const FlowField& flow, const Frame* frames) {
  const Size size = flow.size();
  return with_backend(Device::cpu(1), [&]<class Backend>() {
    Backend backend(Device::cpu(1), {});
    Workspace workspace(backend.memory());
    const KeptFrames kept = KeptFrames::make(workspace, size, 2);
    FlowSharpener<Backend> sharpener(backend, workspace, size, kept, {});
    const FlowPlanes planes = workspace.flow(size);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x) planes.u(x, y) = flow.u(x, y), planes.v(x, y) = flow.v(x, y);
    backend.replay({}, [&] {
      keep_frames(backend, frames, 0, 2, kept);
      sharpener.sharpen(0, 1, planes);
    });
    return FlowValues{values_of(backend, planes.u), values_of(backend, planes.v)};
  });
}

TEST_P(SharpenedEstimates, TakeTheColorsOfTheMiddleFrames) {
  for (const int count : {2, 3, 5}) {
    SCOPED_TRACE(count);
    const Size size{160, 120};
    const Scene scene = render_scene("layers", {.size = size, .frames = count + 2, .color = true});
    AdaptiveRidge method{.frames = count, .matches = UseOfMatches::never, .refinement = {.refine = 0}};
    FlowEstimator plain(method, size, {.device = device()});
    method.sharpen = Sharpen::one_way;
    FlowEstimator sharp(method, size, {.device = device()});
    for (int i = 0; i < count + 2; ++i) {  // the frames lie in a ring
      const FlowField* const from = plain.push(scene.frames[std::size_t(i)]);
      const FlowField* const found = sharp.push(scene.frames[std::size_t(i)]);
      ASSERT_EQ(from != nullptr, i + 1 >= count);
      if (!from) continue;
      const std::size_t middle = std::size_t(i + 1 - count + (count - 1) / 2);
      const Frame frames[] = {scene.frames[middle], scene.frames[middle + 1]};
      const FlowValues expected = sharpened_by_hand(*from, frames);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x) {
          const std::size_t at = std::size_t(y) * std::size_t(size.width) + std::size_t(x);
          ASSERT_EQ(found->u(x, y), expected.u[at]) << x << ", " << y;
          ASSERT_EQ(found->v(x, y), expected.v[at]) << x << ", " << y;
        }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, SharpenedEstimates, every_device(), device_name);

}  // namespace
}  // namespace parafield
