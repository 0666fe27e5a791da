// SPDX-License-Identifier: MIT
// Guarantees of motion detection, whatever its method.
#include <algorithm>
#include <cmath>

#include "allocations.hpp"
#include "noise.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

using test::allocations;

class DetectionOn : public OnDevice {};

/// A square of 20 px on a dim ground, which moves by 8 px a frame; gray or of a color that luma hides.
FrameBuffer square(int frame, bool equal_luma = false) {
  FrameBuffer image({100, 60}, PixelFormat::rgb_u8);
  for (int y = 0; y < 60; ++y)
    for (int x = 0; x < 100; ++x) {
      const int at = 10 + 8 * frame;
      const bool inside = x >= at && x < at + 20 && y >= 20 && y < 40;
      auto* pixel = static_cast<std::uint8_t*>(image.row(y)) + 3 * x;
      // 0.299 * 100 = 29.9 and 0.587 * 51 = 29.937
      const std::uint8_t red = equal_luma ? 100 : 180, green = equal_luma ? 0 : 180;
      pixel[0] = inside ? red : equal_luma ? 0 : 60;
      pixel[1] = inside ? green : equal_luma ? 51 : 60;
      pixel[2] = inside && !equal_luma ? 180 : equal_luma ? 0 : 60;
    }
  return image;
}

/// Where the difference of frames 0 and 1 lies.
bool changes(int x, int y) { return y >= 20 && y < 40 && ((x >= 10 && x < 18) || (x >= 30 && x < 38)); }

TEST_P(DetectionOn, RefusesWhatDoesNotFit) {
  const auto message = [&](const DetectionMethod& method, Size size = {8, 8}) {
    return message_of([&] { MotionDetector(method, size, {.device = device()}); });
  };
  EXPECT_EQ(message(Icm<ChangeEnergy>{{.sigma = 0}}), "icm: sigma cannot be 0; allowed: 0.01 to 1000");
  EXPECT_NE(message(Icm<ChangeEnergy>{{.mean = -1}}).find("mean cannot be -1"), std::string::npos);
  EXPECT_NE(message(Icm<ChangeEnergy>{{.beta = NAN}}), "no error");
  EXPECT_NE(message(Icm<ChangeEnergy>{{.temporal = -1}}), "no error");
  EXPECT_NE(message(Annealing<ChangeEnergy>{{}, 5, 1, 0}).find("t_min cannot be 0"), std::string::npos);
  EXPECT_NE(message(Icm<ChangeEnergy>{}, {8, 0}), "no error");
}

TEST_P(DetectionOn, RefusesInputThatDoesNotFit) {
  const auto a = noise({30, 20}, 0), b = noise({30, 20}, 1);
  MotionDetector detector(Icm<ChangeEnergy>{}, {30, 20}, {.device = device()});
  EXPECT_EQ(message_of([&] { detector(a, noise({30, 21}, 0)); }), "frame 1 is 30x21, expected 30x20");
  const Frame pair[] = {a, b};
  const MotionMask wide({31, 20}), fits({30, 20});
  EXPECT_EQ(message_of([&] { detector({pair, wide}); }), "the start is 31x20, the frames are 30x20");
  EXPECT_EQ(message_of([&] { detector({pair, fits}); }), "no error");
  const std::string no_use = "the method, with these parameters, has no use for a start";
  for (const DetectionMethod& method : {DetectionMethod(Icm<ChangeEnergy>{{.temporal = 0}}),
                                        DetectionMethod(WinnerTakesAll<ChangeEnergy>{})}) {
    MotionDetector other(method, {30, 20}, {.device = device()});
    EXPECT_EQ(message_of([&] { other({pair, fits}); }), no_use);
  }
  EXPECT_NE(message_of([&] { detector.push(noise({3, 3}, 0)); }).find("3x3"), std::string::npos);
  EXPECT_EQ(message_of([&] { detector(a, b); }), "no error") << "usable after errors";
}

TEST_P(DetectionOn, FindsWhatMoves) {
  for_each_method<DetectionMethod>([&]<class Method>(Method method) {
    if constexpr (requires { method.t_min; }) method.sweeps = 60, method.t_max = 6, method.t_min = 0.2f;
    if constexpr (requires { method.order; }) method.order = SiteOrder::colored;
    const MotionMask mask = detect_motion(square(0), square(1), method, {.device = device()});
    int wrong = 0;
    for (int y = 0; y < 60; ++y)
      for (int x = 0; x < 100; ++x) {
        // A learned background begins with the neighbors' lumas, too: the last pixels before an edge may be
        // either.
        const bool edge = Method::learns &&
                          (changes(x - 1, y - 1) != changes(x, y) || changes(x + 1, y + 1) != changes(x, y) ||
                           changes(x + 1, y - 1) != changes(x, y) || changes(x - 1, y + 1) != changes(x, y));
        wrong += !edge && mask.moving(x, y) != changes(x, y);
        ASSERT_EQ(mask.valid(x, y), 1);
        ASSERT_GE(mask.confidence(x, y), 0);
      }
    EXPECT_LE(wrong, 8) << Method::name << ": corners at most";
  });
}

TEST_P(DetectionOn, ColorSeesWhatLumaHides) {
  const auto moving = [&](bool color) {
    const MotionMask mask = detect_motion(square(0, true), square(1, true), Icm<ChangeEnergy>{{.rgb = color}},
                                          {.device = device()});
    int count = 0;
    for (int y = 0; y < 60; ++y)
      for (int x = 0; x < 100; ++x) count += mask.moving(x, y);
    return count;
  };
  EXPECT_EQ(moving(false), 0);
  EXPECT_GT(moving(true), 250);
}

TEST_P(DetectionOn, ANanPixelIsInvalid) {
  auto a = noise({30, 20}, 0, PixelFormat::gray_f32), b = noise({30, 20}, 1, PixelFormat::gray_f32);
  a.set_nan(5, 6);
  b.set_nan(20, 10);
  const MotionMask mask = detect_motion(a, b, Icm<ChangeEnergy>{}, {.device = device()});
  for (int y = 0; y < 20; ++y)
    for (int x = 0; x < 30; ++x) {
      ASSERT_EQ(mask.valid(x, y), !((x == 5 && y == 6) || (x == 20 && y == 10))) << x << ", " << y;
      ASSERT_TRUE(std::isfinite(mask.confidence(x, y)));
    }
}

TEST_P(DetectionOn, PushGivesWhatCallsFromTheLastMaskGive) {
  const Size size{80, 60};
  for (const float temporal : {0.0f, 0.6f}) {
    const Icm<ChangeEnergy> method{{.mean = 20, .sigma = 12, .beta = 0.3f, .temporal = temporal}};
    MotionDetector stream(method, size, {.device = device()}), pairs(method, size, {.device = device()});
    std::vector<GuardedFrame> frames;
    for (int i = 0; i < 5; ++i) frames.push_back(noise(size, 1.3f * float(i)));
    MotionMask last;
    EXPECT_EQ(stream.push(frames[0]), nullptr);
    for (std::size_t i = 1; i < 5; ++i) {
      const MotionMask* pushed = stream.push(frames[i]);
      ASSERT_NE(pushed, nullptr);
      const Frame pair[] = {frames[i - 1], frames[i]};
      const bool starts = i > 1 && temporal > 0;
      const MotionMask& called = starts ? pairs({pair, last}) : pairs({pair});
      expect_same(*pushed, called, "frame " + std::to_string(i));
      last = called.to(Memory::host());
    }
    stream.reset();
    EXPECT_EQ(stream.push(frames[0]), nullptr) << "forgotten";
    EXPECT_EQ(stream.push(frames[1])->moving(3, 3), pairs(frames[0], frames[1]).moving(3, 3));
    stream(frames[0], frames[1]);
    EXPECT_EQ(stream.push(frames[0]), nullptr) << "a call forgets the frames pushed";
  }
}

/// Where all motion has stopped, a mask does not keep itself alive.
TEST_P(DetectionOn, AMaskEndsWithTheMotion) {
  MotionDetector detector(Icm<ChangeEnergy>{{.temporal = 1}}, {100, 60}, {.device = device()});
  const auto moving = [&](int frame) {
    const MotionMask* mask = detector.push(square(frame));
    int count = 0;
    for (int y = 0; mask && y < 60; ++y)
      for (int x = 0; x < 100; ++x) count += mask->moving(x, y);
    return count;
  };
  moving(0);
  EXPECT_GT(moving(1), 250);
  EXPECT_GT(moving(2), 250);
  moving(2);
  EXPECT_LT(moving(2), 30);
}

/// Annealing finds masks of nearly the least energy, wherever it starts. If the last mask counted too much,
/// it would keep objects that have left.
TEST_P(DetectionOn, AnnealingLeavesNoTrail) {
  struct Counted {
    int moving = 0, trail = 0, after = 0;
  };
  const auto count = [&](const Annealing<ChangeEnergy>& method) {
    MotionDetector detector(method, {100, 60}, {.device = device()});
    Counted counted;
    for (int frame = 0; frame < 8; ++frame) {
      const MotionMask* mask = detector.push(square(std::min(frame, 6)));
      for (int y = 0; mask && y < 60; ++y)
        for (int x = 0; x < 100; ++x) {
          if (frame == 7) counted.after += mask->moving(x, y);
          if (frame == 6) counted.moving += mask->moving(x, y);
          // Two frames ago everything was left of the last frame's square.
          if (frame == 6 && x < 8 * 4) counted.trail += mask->moving(x, y);
        }
    }
    return counted;
  };
  Annealing<ChangeEnergy> method;
  for (const float temporal : {method.energy.temporal, 1.0f}) {
    method.energy.temporal = temporal;
    const Counted counted = count(method);
    EXPECT_GT(counted.moving, 250) << temporal;
    EXPECT_LT(counted.trail, 10) << temporal;
    EXPECT_LT(counted.after, 10) << temporal;
  }
  method.energy.temporal_fades = false;
  EXPECT_GT(count(method).after, 150) << "a large weight by itself holds the mask up";
}

TEST_P(DetectionOn, NothingIsAllocatedAfterTheFirstPairs) {
  const Size size{64, 48};
  std::vector<GuardedFrame> frames;
  for (int i = 0; i < 4; ++i) frames.push_back(noise(size, float(i)));
  for_each_method<DetectionMethod>([&]<class Method>(Method method) {
    if constexpr (requires { method.sweeps; }) method.sweeps = 5;
    MotionDetector detector(method, size, {.device = device(), .energies = EnergyReport::result});
    for (std::size_t i = 0; i < 4; ++i) detector.push(frames[i]);  // each phase of the ring, cold and warm
    const std::size_t workspace = detector.workspace_bytes();
    const long before = allocations;
    for (int i = 0; i < 100; ++i) detector.push(frames[std::size_t(i % 4)]);
    EXPECT_EQ(allocations, before) << Method::name;
    EXPECT_EQ(detector.workspace_bytes(), workspace) << Method::name;
  });
}

TEST_P(DetectionOn, WorksAtEverySize) {
  for (const Size size : {Size{1, 1}, Size{1, 9}, Size{9, 1}, Size{2, 2}, Size{3, 130}, Size{130, 3}})
    for_each_method<DetectionMethod>([&]<class Method>(Method method) {
      if constexpr (requires { method.sweeps; }) method.sweeps = 3;
      MotionDetector detector(method, size, {.device = device()});
      for (int i = 0; i < 3; ++i)
        if (const MotionMask* mask = detector.push(noise(size, float(i)))) {
          ASSERT_EQ(mask->size(), size);
          for (int y = 0; y < size.height; ++y)
            for (int x = 0; x < size.width; ++x) ASSERT_LE(mask->moving(x, y), 1);
        }
    });
}

INSTANTIATE_TEST_SUITE_P(Devices, DetectionOn, every_device(), device_name);

}  // namespace
}  // namespace parafield
