// SPDX-License-Identifier: MIT
// Cuts and frames without texture: their detection, and the reaction of estimators.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "parafield/parafield.hpp"
#include "same.hpp"
#include "support.hpp"
#include "targets.hpp"

namespace parafield {
namespace {

/// Independent noise around a gray level, in every format with 8 or 16 bits.
FrameBuffer gray_wall(Size size, PixelFormat format, double level, double sigma, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(level, sigma);
  FrameBuffer wall(size, format);
  const bool wide = format == PixelFormat::gray_u16 || format == PixelFormat::rgb_u16;
  for (int y = 0; y < size.height; ++y)
    for (int i = 0; i < size.width * channels(format); ++i) {
      const double value = std::clamp(noise(random), 0.0, 255.0);
      if (wide)
        static_cast<std::uint16_t*>(wall.row(y))[i] = std::uint16_t(std::lround(value * 257));
      else
        static_cast<std::uint8_t*>(wall.row(y))[i] = std::uint8_t(std::lround(value));
    }
  return wall;
}

FramesState state_of(const FrameBuffer& a, const FrameBuffer& b) {
  const Frame frames[] = {a, b};
  return examine_frames(frames);
}

double share_of(const Image<std::uint8_t>& mask) {
  double count = 0;
  for (int y = 0; y < mask.size().height; ++y)
    for (int x = 0; x < mask.size().width; ++x) count += mask(x, y) != 0;
  return count / (double(mask.size().width) * mask.size().height);
}

/// Blackens bars at the top and the bottom.
FrameBuffer with_bars(FrameBuffer frame, int height) {
  const std::size_t bytes = std::size_t(frame.size().width) * std::size_t(bytes_per_pixel(frame.format()));
  for (int y = 0; y < frame.size().height; ++y)
    if (y < height || y >= frame.size().height - height) std::memset(frame.row(y), 0, bytes);
  return frame;
}

constexpr Size scene_size = sanitized ? Size{160, 120} : Size{320, 240};

std::vector<FrameBuffer> scene(std::string_view name, int frames, std::uint64_t seed,
                               Size size = scene_size) {
  return render_scene(name, {.size = size, .frames = frames, .seed = seed}).frames;
}

/// Scenes whose first two frames show the same things.
std::vector<std::string_view> moving_scenes() {
  std::vector<std::string_view> names;
  for (const SceneInfo& info : scenes())
    if (info.name != "clouds") names.push_back(info.name);  // its frames are of two satellites in turn
  return names;
}

TEST(FramesState, NoiseOnAWallIsNoTexture) {
  using enum PixelFormat;
  for (const Size size : {Size{160, 120}, Size{640, 480}, Size{97, 211}})
    for (const PixelFormat format : {gray_u8, rgb_u8, gray_u16, rgb_u16})
      for (const double sigma : {0.0, 0.5, 2.0, 10.0, 40.0}) {
        if (size.width > 160 && channels(format) > 1) continue;
        if (sanitized && (size.width > 97 || sigma != 2)) continue;
        for (const double level : {2.0, 128.0}) {
          SCOPED_TRACE(testing::Message()
                       << size.width << " " << to_string(format) << " " << sigma << " " << level);
          EXPECT_EQ(
              state_of(gray_wall(size, format, level, sigma, 1), gray_wall(size, format, level, sigma, 2)),
              FramesState::no_texture);
        }
      }
}

TEST(FramesState, FilteredNoiseIsNoTexture) {
  for (const Size size : {Size{160, 120}, Size{640, 480}})
    for (const double sigma : {3.0, 12.0}) {
      if (sanitized && size.width > 160) continue;
      FrameBuffer smooth[2];
      for (unsigned i = 0; i < 2; ++i) {
        const FrameBuffer noise = gray_wall(size, PixelFormat::gray_u8, 60, sigma, i + 1);
        smooth[i] = FrameBuffer(size, PixelFormat::gray_u8);
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x) {
            int sum = 4;  // rounds
            for (int k = 0; k < 9; ++k)
              sum += static_cast<const std::uint8_t*>(noise.row(std::clamp(
                  y + k / 3 - 1, 0, size.height - 1)))[std::clamp(x + k % 3 - 1, 0, size.width - 1)];
            static_cast<std::uint8_t*>(smooth[i].row(y))[x] = std::uint8_t(sum / 9);
          }
      }
      EXPECT_EQ(state_of(smooth[0], smooth[1]), FramesState::no_texture) << size.width << " " << sigma;
    }
}

TEST(FramesState, MotionIsUsable) {
  for (const std::string_view name : moving_scenes())
    for (const std::uint64_t seed : {1, 2, 3}) {
      if (sanitized && seed > 1) continue;
      SCOPED_TRACE(testing::Message() << name << " " << seed);
      const auto frames = scene(name, 2, seed);
      EXPECT_EQ(state_of(frames[0], frames[1]), FramesState::usable);
    }
}

TEST(FramesState, OtherScenesAreCuts) {
  std::vector<FrameBuffer> firsts;
  for (const std::string_view name : {"rotation", "layers", "facade", "flythrough", "square", "poles"})
    firsts.push_back(std::move(scene(name, 1, 3, {320, 240})[0]));
  for (std::size_t i = 0; i < firsts.size(); ++i)
    for (std::size_t j = 0; j < firsts.size(); ++j) {
      if (sanitized && j > i + 1) continue;
      SCOPED_TRACE(testing::Message() << i << " to " << j);
      EXPECT_EQ(state_of(firsts[i], firsts[j]), i == j ? FramesState::usable : FramesState::cut);
      EXPECT_EQ(state_of(with_bars(firsts[i].to({}), 30), with_bars(firsts[j].to({}), 30)),
                i == j ? FramesState::usable : FramesState::cut);
    }
}

TEST(FramesState, FineTextureIsNotNoise) {
  const Size size{640, 480};
  const FrameBuffer dots = gray_wall(size, PixelFormat::gray_u8, 128, 60, 7);
  FrameBuffer moved(size, PixelFormat::gray_u8);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x)
      static_cast<std::uint8_t*>(moved.row(y))[x] =
          static_cast<const std::uint8_t*>(dots.row(y))[std::max(x - 3, 0)];
  EXPECT_EQ(state_of(dots, moved), FramesState::usable);
}

TEST(FramesState, SmallFramesAndSingleOnesAreUnknown) {
  const FrameBuffer small = gray_wall({15, 40}, PixelFormat::gray_u8, 100, 20, 1);
  EXPECT_EQ(state_of(small, small), FramesState::unknown);
  const Frame one[] = {small};
  EXPECT_EQ(examine_frames(one), FramesState::unknown);
  EXPECT_EQ(examine_frames({}), FramesState::unknown);
  EXPECT_EQ(text_of(FramesState::usable), "");
  const FrameBuffer wider = gray_wall({16, 40}, PixelFormat::gray_u8, 100, 20, 1);
  const Frame other[] = {small, wider};
  EXPECT_THROW(examine_frames(other), Error);
}

TEST(FramesState, RealMotionIsUsableAndRealCutsAreCuts) {
  const char* const pairs[][2] = {
      {"middlebury-flow/RubberWhale/frame10.png", "middlebury-flow/RubberWhale/frame11.png"},
      {"middlebury-flow/Grove2/frame10.png", "middlebury-flow/Grove2/frame11.png"},
      {"middlebury-flow/Dimetrodon/frame10.png", "middlebury-flow/Dimetrodon/frame11.png"},
      {"middlebury-flow/Venus/frame10.png", "middlebury-flow/Venus/frame11.png"},
      {"yosemite/clouds/yos09.png", "yosemite/clouds/yos10.png"},
      {"kitti-flow/k_000010/frame10.png", "kitti-flow/k_000010/frame11.png"},
      {"sintel/hard/clean/frame_0002.png", "sintel/hard/clean/frame_0003.png"},
      {"sintel/hard/final/frame_0002.png", "sintel/hard/final/frame_0003.png"},
      {"opencv-samples/vtest/f0300.png", "opencv-samples/vtest/f0304.png"},
      {"middlebury-stereo/art/left.png", "middlebury-stereo/art/right.png"},
      {"middlebury-stereo/aloe/left.png", "middlebury-stereo/aloe/right.png"},
      {"middlebury-stereo/tsukuba/left.png", "middlebury-stereo/tsukuba/right.png"}};
  PARAFIELD_DATA_OR_SKIP(folder, "middlebury-flow");
  const Size size{320, 240};
  const auto resized = [&](const FrameBuffer& frame) {  // nearest pixels
    FrameBuffer to(size, frame.format());
    const int bytes = bytes_per_pixel(frame.format());
    for (int y = 0; y < size.height; ++y)
      for (int x = 0; x < size.width; ++x)
        std::memcpy(static_cast<char*>(to.row(y)) + x * bytes,
                    static_cast<const char*>(frame.row(y * frame.size().height / size.height)) +
                        x * frame.size().width / size.width * bytes,
                    std::size_t(bytes));
    return to;
  };
  std::vector<FrameBuffer> firsts;
  for (const auto& [before, after] : pairs) {
    if (sanitized && firsts.size() == 3) break;
    SCOPED_TRACE(before);
    const auto file = [&](const char* name) { return read_frame(folder.parent_path() / name); };
    EXPECT_EQ(state_of(file(before), file(after)), FramesState::usable);
    if (!std::string_view(before).starts_with("sintel/hard/final")) firsts.push_back(resized(file(before)));
  }
  for (std::size_t i = 0; i < firsts.size(); ++i)
    for (std::size_t j = 0; j < firsts.size(); ++j)
      if (i != j) {
        EXPECT_EQ(state_of(firsts[i], firsts[j]), FramesState::cut) << i << " to " << j;
      }
}

/// Three frames of one scene, then three of another.
std::vector<FrameBuffer> film() {
  std::vector<FrameBuffer> frames = scene("layers", 3, 1);
  for (FrameBuffer& frame : scene("flythrough", 3, 2)) frames.push_back(std::move(frame));
  return frames;
}

template <class Task, class Method>
Estimator<Task> examining(const Method& method, bool examines, bool pipelined = false) {
  typename Task::Options options;
  options.device = Device::cpu();
  options.examine_frames = examines;
  if constexpr (requires { options.pipelined; }) options.pipelined = pipelined;
  return Estimator<Task>(method, scene_size, options);
}

TEST(ExaminedFlow, ACutIsNotValidAndKeepsItsBits) {
  const auto frames = film();
  FlowEstimator plain = examining<Flow>(AdaptiveRidge{}, false);
  for (const bool pipelined : {false, true}) {
    FlowEstimator estimator = examining<Flow>(AdaptiveRidge{}, true, pipelined);
    for (int round = 0; round < (sanitized ? 1 : 2); ++round) {
      std::vector<FramesState> states;
      int number = 0;
      const auto check = [&](const FlowField* flow) {
        if (!flow) return;
        states.push_back(estimator.frames_state());
        const FlowField copy = flow->to({});
        const FlowField& expected = plain(frames[std::size_t(number)], frames[std::size_t(number) + 1]);
        EXPECT_GT(share_of(expected.valid), 0.01);
        if (number == 2)
          EXPECT_EQ(share_of(copy.valid), 0);
        else
          EXPECT_EQ(share_of(copy.valid), share_of(expected.valid));
        expect_same_motion(copy, expected);
        ++number;
      };
      for (const FrameBuffer& frame : frames) check(estimator.push(frame));
      check(estimator.finish());
      using enum FramesState;
      EXPECT_EQ(states, (std::vector{usable, usable, cut, usable, usable}));
      estimator.reset();
    }
    EXPECT_EQ(share_of(estimator(frames[0], frames[5]).valid), 0);
    EXPECT_EQ(estimator.frames_state(), FramesState::cut);
    estimator(frames[0], frames[1]);
    EXPECT_EQ(estimator.frames_state(), FramesState::usable);
  }
}

TEST(ExaminedFlow, AWindowIsNotValidAsLongAsItHoldsACut) {
  const auto frames = film();
  FlowEstimator estimator = examining<Flow>(AdaptiveRidge{.frames = 3}, true);
  std::vector<FramesState> states;
  for (const FrameBuffer& frame : frames)
    if (const FlowField* const flow = estimator.push(frame)) {
      states.push_back(estimator.frames_state());
      EXPECT_EQ(share_of(flow->valid) == 0, states.back() == FramesState::cut);
    }
  using enum FramesState;
  EXPECT_EQ(states, (std::vector{usable, cut, cut, usable}));
}

TEST(ExaminedFlow, AWarmStartDoesNotCrossACut) {
  const auto frames = film();
  const LucasKanade method{.temporal = true};
  FlowEstimator estimator = examining<Flow>(method, true), fresh = examining<Flow>(method, false);
  for (const FrameBuffer& frame : frames) {
    const bool is_new = &frame - frames.data() >= 3;
    const FlowField* const flow = estimator.push(frame);
    const FlowField* const expected = is_new ? fresh.push(frame) : nullptr;
    if (expected) expect_same(*flow, *expected);
  }
}

TEST(ExaminedDetection, ACutLearnsANewBackground) {
  auto frames = scene("square", 20, 1);
  const std::size_t first = frames.size();
  for (FrameBuffer& frame : scene("balloons", 20, 7)) frames.push_back(std::move(frame));
  for (const bool pipelined : {false, true}) {
    MotionDetector detector = examining<Detection>(Icm<BackgroundEnergy>{}, true, pipelined),
                   fresh = examining<Detection>(Icm<BackgroundEnergy>{}, false);
    std::vector<MotionMask> masks;
    std::vector<std::size_t> cuts;
    const auto add = [&](const MotionMask* mask) {
      if (!mask) return;
      masks.push_back(mask->to({}));
      if (detector.frames_state() == FramesState::cut) cuts.push_back(masks.size());
    };
    for (const FrameBuffer& frame : frames) add(detector.push(frame));
    add(detector.finish());
    ASSERT_EQ(masks.size(), frames.size() - 1);
    EXPECT_EQ(cuts, std::vector{first});
    EXPECT_EQ(share_of(masks[first - 1].moving), 0);
    EXPECT_EQ(share_of(masks[first - 1].valid), 0);
    fresh.push(frames[first]);
    for (std::size_t i = first + 1; i < frames.size(); ++i) {
      const MotionMask& expected = *fresh.push(frames[i]);
      EXPECT_EQ(share_of(masks[i - 1].moving), share_of(expected.moving)) << i;
    }
  }
}

/// Which states count for which task, and what min_confidence 0 changes.
TEST(FramesState, WithholdsByTask) {
  using enum FramesState;
  const auto fill = [](Image<std::uint8_t>& plane) {
    for (int y = 0; y < 2; ++y) std::fill_n(plane.view().row(y), 3, std::uint8_t(1));
  };
  for (const FramesState state : {unknown, usable, no_texture, cut})
    for (const float least : {-1.0f, 0.0f}) {
      FlowField flow({3, 2});
      DisparityField disparity({3, 2});
      MotionMask mask({3, 2});
      for (Image<std::uint8_t>* plane : {&flow.valid, &disparity.valid, &mask.moving, &mask.valid})
        fill(*plane);
      EXPECT_EQ(withhold<Flow>(flow, state, {.min_confidence = least}), state);
      EXPECT_EQ(withhold<Stereo>(disparity, state, {.min_confidence = least}),
                state == cut ? unknown : state);
      EXPECT_EQ(withhold<Detection>(mask, state, {}), state == no_texture ? unknown : state);
      EXPECT_EQ(share_of(flow.valid), state >= no_texture && least != 0 ? 0 : 1);
      EXPECT_EQ(share_of(disparity.valid), state == no_texture && least != 0 ? 0 : 1);
      EXPECT_EQ(share_of(mask.valid), state == cut ? 0 : 1);
      EXPECT_EQ(share_of(mask.moving), state == cut ? 0 : 1);
    }
}

TEST(ExaminedStereo, NoiseHasNoDisparities) {
  const auto wall = [](unsigned seed) { return gray_wall(scene_size, PixelFormat::gray_u8, 120, 2, seed); };
  const FrameBuffer left = wall(1), right = wall(2);
  StereoMethod method;
  std::get<0>(method).energy.disparities = 32;
  StereoEstimator estimator = examining<Stereo>(method, true), plain = examining<Stereo>(method, false);
  EXPECT_EQ(share_of(estimator.push(left, right).valid), 0);
  EXPECT_EQ(estimator.frames_state(), FramesState::no_texture);
  EXPECT_GT(share_of(plain(left, right).valid), 0.1);
  EXPECT_EQ(plain.frames_state(), FramesState::unknown);
  EXPECT_EQ(pair_warnings(examine_pair(left, right), {.tracks = 100, .median_error = 2}).size(), 1u);
  EXPECT_FALSE(examine_pair(left, right).textured);
  const auto views = scene("stereo", 2, 1);
  EXPECT_TRUE(examine_pair(views[0], views[1]).textured);
}

}  // namespace
}  // namespace parafield
