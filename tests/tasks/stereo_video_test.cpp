// SPDX-License-Identifier: MIT
// Pairs of a stereo camera's video, pushed.
#include <cmath>
#include <cstring>
#include <random>

#include "allocations.hpp"
#include "on.hpp"
#include "tasks/on_device.hpp"

namespace parafield {
namespace {

constexpr Size size{160, 120};
constexpr float sigma = 8;  // of the noise

/// The frame with gaussian noise.
FrameBuffer noisy(const Frame& frame, unsigned seed) {
  std::mt19937 random(seed);
  FrameBuffer copy(frame.size(), PixelFormat::gray_u8);
  for (int y = 0; y < frame.height; ++y) {
    const auto* from = static_cast<const std::uint8_t*>(frame.data) + y * frame.pitch;
    auto* to = static_cast<std::uint8_t*>(copy.row(y));
    for (int x = 0; x < frame.width; ++x) {
      float sum = 0;  // of 12 uniform values: variance 1
      for (int i = 0; i < 12; ++i) sum += float(random() % 4096) / 4096;
      const float value = float(from[x]) + sigma * (sum - 6);
      to[x] = std::uint8_t(std::lround(value < 0 ? 0 : value > 255 ? 255 : value));
    }
  }
  return copy;
}

/// Pairs of a rendered scene with noise. `order` lists the scene's pairs to show.
struct Video {
  Scene scene;
  std::vector<FrameBuffer> left, right;
  std::vector<int> shown;

  explicit Video(const std::vector<int>& order, std::uint64_t seed = 3)
      : scene(render_scene("stereo", {.size = size, .frames = 6, .seed = seed})), shown(order) {
    unsigned random = 1;
    for (const int i : order) {
      left.push_back(noisy(scene.frames[std::size_t(2 * i)], random++));
      right.push_back(noisy(scene.frames[std::size_t(2 * i + 1)], random++));
    }
  }
  double error(const DisparityField& field, std::size_t i) const {
    return evaluate(field, scene.disparity[std::size_t(shown[i])], {}).average;
  }
};

BeliefPropagation<StereoEnergy> with_noise(float noise) {
  BeliefPropagation<StereoEnergy> method;
  method.energy.disparities = 24;
  method.energy.noise = noise;
  return method;
}

bool same(const DisparityField& a, const DisparityField& b) {
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      if (a.d(x, y) != b.d(x, y) || a.valid(x, y) != b.valid(x, y) ||
          a.confidence(x, y) != b.confidence(x, y))
        return false;
  return true;
}

class StereoVideoOn : public OnDevice {
 protected:
  StereoEstimator estimator(float noise) const { return {with_noise(noise), size, {.device = device()}}; }
};

TEST_P(StereoVideoOn, WithoutNoisePushesAreCalls) {
  const Video video({0, 1, 2});
  StereoEstimator pushed = estimator(0), called = estimator(0);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(same(pushed.push(video.left[i], video.right[i]), called(video.left[i], video.right[i]))) << i;
}

TEST_P(StereoVideoOn, ACameraThatStandsStillSeesBetter) {
  const Video video({0, 0, 0, 0, 0, 0});
  StereoEstimator pushed = estimator(sigma), called = estimator(0);
  for (std::size_t i = 0; i < 6; ++i) {
    const double averaged = video.error(pushed.push(video.left[i], video.right[i]), i),
                 alone = video.error(called(video.left[i], video.right[i]), i);
    if (i == 0) {
      EXPECT_EQ(averaged, alone);
    }
    if (i > 3) {
      EXPECT_LT(averaged, 0.8 * alone) << i;
    }
  }
}

TEST_P(StereoVideoOn, ACameraThatMovesSeesAsWell) {
  const Video video({0, 1, 2});
  StereoEstimator pushed = estimator(sigma), called = estimator(0);
  for (std::size_t i = 0; i < 3; ++i)
    EXPECT_LT(video.error(pushed.push(video.left[i], video.right[i]), i),
              1.05 * video.error(called(video.left[i], video.right[i]), i))
        << i;
}

/// A new scene is independent of the old one: if all pixels change, the results equal those of calls.
TEST_P(StereoVideoOn, ACutLeavesNoGhosts) {
  const Video video({0, 0, 0, 0});
  const auto dark = [](const FrameBuffer& frame) {
    FrameBuffer copy(size, PixelFormat::gray_u8);
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        static_cast<std::uint8_t*>(copy.row(y))[x] =
            std::uint8_t(static_cast<const std::uint8_t*>(frame.row(y))[x] / 8 + (x + y) % 32);
    return copy;
  };
  const FrameBuffer black_left(dark(video.left[3])), black_right(dark(video.right[3]));
  FrameBuffer white(size, PixelFormat::gray_u8);
  for (int y = 0; y < size.height; ++y) std::memset(white.row(y), 255, std::size_t(size.width));
  StereoEstimator pushed = estimator(2), called = estimator(0);
  for (int i = 0; i < 3; ++i) pushed.push(white, white);
  EXPECT_TRUE(same(pushed.push(black_left, black_right), called(black_left, black_right)));
}

TEST_P(StereoVideoOn, CallsResetsAndErrorsEndTheVideo) {
  const Video video({0, 0});
  StereoEstimator pushed = estimator(sigma);
  const auto push = [&](std::size_t i) {
    return pushed.push(video.left[i], video.right[i]).to(Memory::host());
  };
  const DisparityField first = push(0), second = push(1);
  EXPECT_FALSE(same(first, push(0))) << "the pairs before count";
  pushed.reset();
  EXPECT_TRUE(same(first, push(0)));
  EXPECT_TRUE(same(second, push(1)));
  EXPECT_TRUE(same(first, pushed(video.left[0], video.right[0]))) << "a call is alone";
  EXPECT_TRUE(same(first, push(0))) << "and forgets";
  const FrameBuffer other(Size{64, 64}, PixelFormat::gray_u8);
  EXPECT_EQ(message_of([&] { pushed.push(video.left[0], other); }), "frame 1 is 64x64, expected 160x120");
  EXPECT_TRUE(same(second, push(1))) << "a pair that is refused changes nothing";
  pushed.cancel();
  EXPECT_EQ(message_of([&] { pushed.push(video.left[0], video.right[0]); }),
            message_of([&] { pushed(video.left[0], video.right[0]); }));
}

TEST_P(StereoVideoOn, WritesIntoAnOutputAndTakesAnyFormat) {
  const Video video({0, 0});
  const Scene colored = render_scene("stereo", {.size = size, .frames = 2, .seed = 3, .color = true});
  StereoEstimator pushed = estimator(sigma), again = estimator(sigma), called = estimator(0);
  DisparityField output(size);
  for (std::size_t i = 0; i < 2; ++i) {
    pushed.push(video.left[i], video.right[i], output);
    EXPECT_TRUE(same(output, again.push(video.left[i], video.right[i]))) << i;
  }
  // Frames of another format start over on the CPU. On CUDA gray frames have colors, too.
  const DisparityField& field = pushed.push(colored.frames[0], colored.frames[1]);
  if (device().kind == Device::Kind::cpu) {
    EXPECT_TRUE(same(field, called(colored.frames[0], colored.frames[1])));
  }
}

TEST_P(StereoVideoOn, TheFirstPairSaysTheNumberOfDisparities) {
  const Video video({0, 0});
  BeliefPropagation<StereoEnergy> method = with_noise(sigma);
  method.energy.disparities = 0;
  StereoEstimator found(method, size, {.device = device()});
  found.push(video.left[0], video.right[0]);
  const int disparities = std::get<BeliefPropagation<StereoEnergy>>(found.method()).energy.disparities;
  EXPECT_GT(disparities, 4);
  method.energy.disparities = disparities;
  StereoEstimator given(method, size, {.device = device()});
  given.push(video.left[0], video.right[0]);
  EXPECT_TRUE(same(found.push(video.left[1], video.right[1]), given.push(video.left[1], video.right[1])));
}

TEST_P(StereoVideoOn, EveryMethodTakesPairs) {
  const Video video({0, 0});
  const auto errors = [&](StereoMethod method) {
    std::visit([](auto& one) { one.energy.disparities = 24; }, method);
    StereoEstimator called(method, size, {.device = device()});
    std::visit([](auto& one) { one.energy.noise = sigma; }, method);
    StereoEstimator pushed(method, size, {.device = device()});
    pushed.push(video.left[0], video.right[0]);
    const double with = video.error(pushed.push(video.left[1], video.right[1]), 1);
    EXPECT_LT(with, video.error(called(video.left[1], video.right[1]), 1)) << method.index();
  };
  errors(WinnerTakesAll<StereoEnergy>{});
  errors(Icm<StereoEnergy>{});
  errors(BeliefPropagation<StereoEnergy>{});
}

TEST_P(StereoVideoOn, NothingIsAllocatedAfterTheFirstPairs) {
  const Video video({0, 0});
  StereoEstimator pushed = estimator(sigma);
  const auto push = [&](int i) { pushed.push(video.left[std::size_t(i)], video.right[std::size_t(i)]); };
  for (int i = 0; i < 2; ++i) push(i);
  const std::size_t workspace = pushed.workspace_bytes();
  const long before = test::allocations;
  for (int i = 0; i < 20; ++i) push(i % 2);
  pushed.reset();
  for (int i = 0; i < 2; ++i) push(i);
  EXPECT_EQ(test::allocations, before);
  EXPECT_EQ(pushed.workspace_bytes(), workspace);
}

INSTANTIATE_TEST_SUITE_P(Devices, StereoVideoOn, every_device(), device_name);

}  // namespace
}  // namespace parafield
