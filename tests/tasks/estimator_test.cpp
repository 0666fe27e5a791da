// SPDX-License-Identifier: MIT
// Guarantees of estimators, whatever their method: streams, results, errors, no allocation.
#include <limits>

#include "allocations.hpp"
#include "noise.hpp"
#include "parafield/parafield.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

using test::allocations;

class FlowEstimatorOn : public OnDevice {};

TEST_P(FlowEstimatorOn, RefusesFramesThatItCannotRead) {
  const auto good = noise({20, 10}, 0);
  FlowEstimator estimator(LucasKanade{}, {20, 10}, {.device = device()});
  const auto message = [&](const Frame& frame) { return message_of([&] { estimator(good, frame); }); };
  EXPECT_EQ(message(noise({21, 10}, 0)), "frame 1 is 21x10, expected 20x10");
  EXPECT_EQ(message({nullptr, 20, 10}), "frame 1 has no data");
  Frame narrow = good.frame();
  narrow.pitch = 19;
  EXPECT_EQ(message(narrow), "frame 1 has a pitch of 19 bytes; a row of 20 gray_u8 pixels has 20");
  Frame odd = noise({20, 10}, 0, PixelFormat::gray_u16);
  odd.pitch = 41;
  EXPECT_NE(message(odd).find("multiples of 2"), std::string::npos);
  Frame elsewhere = good.frame();
  elsewhere.memory = Memory::cuda(7);
  EXPECT_NE(message(elsewhere).find("memory of cuda:7"), std::string::npos);
  EXPECT_NE(message_of([&] { estimator.push(noise({3, 3}, 0)); }).find("3x3"), std::string::npos);
  EXPECT_EQ(message(noise({20, 10}, 1)), "no error") << "usable after errors";
}

TEST_P(FlowEstimatorOn, RefusesSizesAndParameters) {
  const auto message = [&](const LucasKanade& method, Size size) {
    return message_of([&] { FlowEstimator(method, size, {.device = device()}); });
  };
  EXPECT_EQ(message({}, {0, 5}), "frames cannot have 0x5 pixels");
  EXPECT_NE(message({}, {1 << 21, 5}).find("too large"), std::string::npos);
  EXPECT_EQ(message({.window = 0}, {8, 8}), "lucas-kanade: window cannot be 0; allowed: 1 to 31");
  EXPECT_EQ(message({.median = 4}, {8, 8}), "lucas-kanade: median cannot be 4; allowed: 0, 3, 5");
  EXPECT_NE(message({.alpha = std::numeric_limits<float>::quiet_NaN()}, {8, 8}), "no error");
  EXPECT_NE(message({.alpha = 0}, {8, 8}), "no error");
  EXPECT_EQ(message({.levels = 16, .window = 31}, {5, 4}), "no error")
      << "levels are left out, windows reach over the border";
}

TEST_P(FlowEstimatorOn, RefusesAnInputThatDoesNotFit) {
  FlowEstimator estimator(LucasKanade{}, {20, 10}, {.device = device()});
  const auto a = noise({20, 10}, 0), b = noise({20, 10}, 1);
  const Frame one[] = {a}, two[] = {a, b};
  EXPECT_EQ(message_of([&] { estimator({one}); }), "the method takes 2 frames, not 1");
  const FlowField start({20, 11});
  EXPECT_EQ(message_of([&] { estimator({two, start}); }), "the start is 20x11, the frames are 20x10");
  const FlowField guess({20, 10});
  FlowView part = guess;
  part.v = {};
  EXPECT_EQ(message_of([&] { estimator({two, part}); }), "the start has no pixels");
  part = {{guess.u.view().data, 20, 10}, {guess.v.view().data, 20, 10}};
  EXPECT_EQ(message_of([&] {
              estimator({two, part});
            }),
            "the pitch of the start's u, 0 bytes, is less than a row of 80");
  FlowField nothing;
  EXPECT_NE(message_of([&] { estimator({two}, nothing); }).find("no planes"), std::string::npos);
  EXPECT_NE(message_of([&] { estimator.push(a, nothing); }).find("no planes"), std::string::npos);
  EXPECT_EQ(message_of([&] { estimator({two, guess}); }), "no error") << "usable after errors";
}

TEST_P(FlowEstimatorOn, ANanPixelIsInvalidAndLeavesNoTraceInTheFlow) {
  const Size size{60, 50};
  auto frame0 = noise(size, 0, PixelFormat::gray_f32), frame1 = noise(size, 1, PixelFormat::gray_f32);
  frame0.set_nan(30, 20);
  frame1.set_nan(12, 40);
  const FlowField flow = estimate_flow(frame0, frame1, LucasKanade{}, {.device = device()});
  EXPECT_EQ(flow.valid(30, 20), 0);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      ASSERT_TRUE(std::isfinite(flow.u(x, y)) && std::isfinite(flow.v(x, y))) << x << ", " << y;
  for (const auto& nan : {std::pair{0, 0}, std::pair{59, 49}})
    EXPECT_TRUE(std::isfinite(flow.confidence(nan.first, nan.second)));
}

TEST_P(FlowEstimatorOn, PushGivesWhatCallsGive) {
  const Size size{80, 60};
  std::vector<GuardedFrame> frames;
  for (int i = 0; i < 4; ++i) frames.push_back(noise(size, 1.3f * float(i)));
  FlowEstimator stream(LucasKanade{.temporal = false}, size, {.device = device()}),
      pairs(LucasKanade{}, size, {.device = device()});
  EXPECT_EQ(stream.push(frames[0]), nullptr);
  for (int i = 1; i < 4; ++i) {
    const FlowField* pushed = stream.push(frames[std::size_t(i)]);
    const FlowField& called = pairs(frames[std::size_t(i) - 1], frames[std::size_t(i)]);
    ASSERT_NE(pushed, nullptr);
    expect_same(*pushed, called);
  }
  stream.reset();
  EXPECT_EQ(stream.push(frames[0]), nullptr) << "forgotten";
  stream(frames[0], frames[1]);
  EXPECT_EQ(stream.push(frames[0]), nullptr) << "a call forgets the frames pushed";
  EXPECT_NE(message_of([&] { stream(frames[0], noise({3, 3}, 0)); }), "no error");
  EXPECT_NE(stream.push(frames[1]), nullptr) << "a call that fails forgets nothing";
}

TEST_P(FlowEstimatorOn, TemporalRefinementStartsFromTheLastFlow) {
  const Size size{80, 60};
  FlowEstimator stream(LucasKanade{}, size, {.device = device()}),
      pairs(LucasKanade{}, size, {.device = device()});
  const auto a = noise(size, 0), b = noise(size, 1), c = noise(size, 2);
  const FlowField first = pairs(a, b).to(Memory::host());
  const Frame second[] = {b, c};
  const FlowField expected = pairs({second, first}).to(Memory::host());
  stream.push(a);
  stream.push(b);
  const FlowField* pushed = stream.push(c);
  ASSERT_NE(pushed, nullptr);
  expect_same(*pushed, expected);
}

TEST_P(FlowEstimatorOn, TheForwardBackwardCheckClearsWhatIsHidden) {
  const Scene scene = render_scene("layers", {.size = {160, 120}});
  const FlowField plain =
      estimate_flow(scene.frames[0], scene.frames[1], LucasKanade{}, {.device = device()});
  const FlowField checked =
      estimate_flow(scene.frames[0], scene.frames[1], LucasKanade{}, {.device = device(), .fb_check = 0.5f});
  int hidden = 0, kept = 0, elsewhere = 0, kept_elsewhere = 0;
  for (int y = 0; y < 120; ++y)
    for (int x = 0; x < 160; ++x) {
      ASSERT_EQ(plain.u(x, y), checked.u(x, y)) << "flow stays";
      ASSERT_LE(checked.valid(x, y), plain.valid(x, y));
      (scene.occluded[0](x, y) ? hidden : elsewhere) += 1;
      (scene.occluded[0](x, y) ? kept : kept_elsewhere) += checked.valid(x, y);
    }
  EXPECT_LT(kept, 0.4 * hidden);
  EXPECT_GT(kept_elsewhere, 0.85 * elsewhere);
  EXPECT_NE(message_of([&] {
              FlowEstimator(LucasKanade{}, {8, 8}, {.device = device(), .fb_check = -1});
            }),
            "no error");
}

TEST_P(FlowEstimatorOn, NothingIsAllocatedAfterTheFirstPairs) {
  const Size size{64, 48};
  std::vector<GuardedFrame> frames;
  for (int i = 0; i < 4; ++i) frames.push_back(noise(size, float(i)));
  FlowEstimator estimator(LucasKanade{.presmooth = 0.5f, .median = 3}, size,
                          {.device = device(), .fb_check = 1});
  for (int i = 0; i < 4; ++i)
    estimator.push(frames[std::size_t(i)]);  // each phase of the ring, cold and warm
  const std::size_t workspace = estimator.workspace_bytes();
  const long before = allocations;
  for (int i = 0; i < 200; ++i) estimator.push(frames[std::size_t(i % 4)]);
  EXPECT_EQ(allocations, before);
  estimator(frames[0], frames[1]);
  const long before_calls = allocations;
  for (int i = 0; i < 50; ++i) estimator(frames[std::size_t(i % 3)], frames[std::size_t(i % 3) + 1]);
  EXPECT_EQ(allocations, before_calls);
  EXPECT_EQ(estimator.workspace_bytes(), workspace);
}

INSTANTIATE_TEST_SUITE_P(Devices, FlowEstimatorOn, every_device(), device_name);

TEST(CudaEstimator, WritesDeviceResultsOnTheUsersStream) {
  if (!why_no_cuda().empty()) GTEST_SKIP() << why_no_cuda();
  const Size size{64, 48};
  const FrameBuffer host0 = render_scene("translation", {.size = size}).frames[0].to({});
  const FrameBuffer a = host0.to(Memory::cuda()), b = host0.to(Memory::cuda());
  FlowEstimator own(LucasKanade{}, size, {.device = Device::cuda()});
  FlowEstimator shared(LucasKanade{}, size, {.device = Device::cuda(), .stream = own.stream()});
  EXPECT_EQ(shared.stream().handle, own.stream().handle);
  const FlowField& flow = shared(a, b);
  EXPECT_EQ(flow.memory(), Memory::cuda(0));
  shared.synchronize();
  EXPECT_EQ(flow.to(Memory::host()).u(20, 20), 0);
}

}  // namespace
}  // namespace parafield
