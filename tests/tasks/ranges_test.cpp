// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "core/views.hpp"
#include "parafield/parafield.hpp"
#include "tasks/on_device.hpp"

// The range of a frame's values: its detection in the pixels, and its effect on results.
namespace parafield {
namespace {

/// A gray frame of one row.
template <class T>
FrameBuffer row_of(const std::vector<T>& values) {
  const PixelFormat format = sizeof(T) == 1   ? PixelFormat::gray_u8
                             : sizeof(T) == 2 ? PixelFormat::gray_u16
                                              : PixelFormat::gray_f32;
  FrameBuffer frame({int(values.size()), 1}, format);
  std::ranges::copy(values, static_cast<T*>(frame.row(0)));
  return frame;
}

template <class T>
ValueRange found_in(const std::vector<T>& values) {
  const FrameBuffer buffer = row_of(values);
  const Frame frame = buffer;
  return find_value_range({&frame, 1});
}

TEST(ValueRange, OfWholeNumbersIsThatOfTheirBits) {
  using U16 = std::vector<std::uint16_t>;
  EXPECT_EQ(found_in(U16{0, 0}), (ValueRange{0, 255}));
  EXPECT_EQ(found_in(U16{0, 255}), (ValueRange{0, 255}));
  EXPECT_EQ(found_in(U16{7, 356}), (ValueRange{0, 1023}));
  EXPECT_EQ(found_in(U16{2024, 0}), (ValueRange{0, 4095}));
  EXPECT_EQ(found_in(U16{4096}), (ValueRange{0, 16383}));
  EXPECT_EQ(found_in(U16{16384}), (ValueRange{0, 65535}));
  EXPECT_EQ(found_in(U16{16384, 60000}), (ValueRange{0, 65535}));
}

TEST(ValueRange, OfFloatsIsAUsualOneOrTheirOwn) {
  using F32 = std::vector<float>;
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinite = std::numeric_limits<float>::infinity();
  EXPECT_EQ(found_in(F32{0, 1}), (ValueRange{0, 1}));
  EXPECT_EQ(found_in(F32{-0.2f, 1.3f}), (ValueRange{0, 1})) << "resampled";
  EXPECT_EQ(found_in(F32{-1, 0.9f}), (ValueRange{-1, 1}));
  EXPECT_EQ(found_in(F32{-7, 260}), (ValueRange{0, 255}));
  EXPECT_EQ(found_in(F32{180, 330}), (ValueRange{0, 255})) << "temperatures, K";
  EXPECT_EQ(found_in(F32{0, 1023}), (ValueRange{0, 1023}));
  EXPECT_EQ(found_in(F32{0, 65535}), (ValueRange{0, 65535}));
  EXPECT_EQ(found_in(F32{-500, 20}), (ValueRange{0, 1023}));
  EXPECT_EQ(found_in(F32{-0.4f, -0.4f, -0.4f, 0.3f, 0.3f}), (ValueRange{-1, 1})) << "most are negative";
  EXPECT_EQ(found_in(F32{-16000, -16000, -16000, 8000, 8000}), (ValueRange{-22000, 14000}))
      << "most are negative";
  EXPECT_EQ(found_in(F32{-1e6f, 1e6f}), (ValueRange{-1.5e6f, 1.5e6f}));
  EXPECT_EQ(found_in(F32{0, 0}), (ValueRange{0, 1}));
  EXPECT_EQ(found_in(F32{nan, 0.5f, infinite, -infinite}), (ValueRange{0, 1}));
  EXPECT_EQ(found_in(F32{nan, nan}), (ValueRange{0, 255}));
  EXPECT_EQ(found_in(F32{1e6f, 1e6f}), (ValueRange{0, 255})) << "no range holds what does not differ";
  const float most = std::numeric_limits<float>::max();
  EXPECT_EQ(found_in(F32{-most, most}), (ValueRange{0, 255})) << "no range is as wide";
}

TEST(ValueRange, OfLowContrastIsStretched) {
  EXPECT_EQ(found_in(std::vector<std::uint16_t>{30000, 30150}), (ValueRange{29962, 30188}));
  EXPECT_EQ(found_in(std::vector<std::uint16_t>{100, 102}), (ValueRange{80, 122})) << "noise";
  EXPECT_EQ(found_in(std::vector<float>{0, 2}), (ValueRange{-0.5f, 2.5f}));
  EXPECT_EQ(found_in(std::vector<float>{280, 300}), (ValueRange{275, 305})) << "temperatures, K";
  EXPECT_EQ(found_in(std::vector<std::uint8_t>{100, 140}), (ValueRange{90, 150}));
  EXPECT_EQ(found_in(std::vector<std::uint8_t>{100, 120}), (ValueRange{89, 131})) << "coarse steps";
  EXPECT_EQ(found_in(std::vector<std::uint8_t>{3, 4}), (ValueRange{0, 255})) << "nothing but noise";
  EXPECT_EQ(found_in(std::vector<std::uint8_t>{100, 190}), (ValueRange{0, 255}));
}

TEST(ValueRange, IsThatOfAllFramesTogether) {
  const FrameBuffer dark = row_of(std::vector<std::uint16_t>{3, 200}),
                    bright = row_of(std::vector<std::uint16_t>{30, 900});
  const Frame frames[] = {dark, bright};
  EXPECT_EQ(find_value_range(frames), (ValueRange{0, 1023}));
  const Frame nothing[] = {Frame{}};
  EXPECT_THROW(find_value_range(nothing), Error);
  const FrameBuffer other = row_of(std::vector<float>{0, 1});
  const Frame mixed[] = {dark, other};
  EXPECT_EQ(message_of([&] { find_value_range(mixed); }),
            "one frame has 16-bit values, another one has float values; convert them to one depth");
}

/// Smooth texture of contrast `span` above `base`, moved by (2.5, -1.25) px per frame. T: type of values.
template <class T>
FrameBuffer texture(double base, double span, int number, Size size = {160, 120}) {
  FrameBuffer frame(size, sizeof(T) == 1   ? PixelFormat::gray_u8
                          : sizeof(T) == 2 ? PixelFormat::gray_u16
                                           : PixelFormat::gray_f32);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      const double px = x - 2.5 * number, py = y + 1.25 * number;
      const double value = 0.5 + 0.2 * std::sin(0.31 * px + 0.2) * std::cos(0.27 * py) +
                           0.2 * std::sin(0.11 * px + 0.17 * py) + 0.1 * std::cos(0.5 * py - 0.4 * px);
      static_cast<T*>(frame.row(y))[x] = T(base + span * value + (sizeof(T) == 4 ? 0 : 0.5));
    }
  return frame;
}
template <class T>
std::vector<FrameBuffer> texture_pair(double base, double span) {
  std::vector<FrameBuffer> pair;
  for (int i = 0; i < 2; ++i) pair.push_back(texture<T>(base, span, i));
  return pair;
}
template <class T>
void set(FrameBuffer& frame, int x, int y, T value) {
  static_cast<T*>(frame.row(y))[x] = value;
}
/// Largest error of the flow, except near the borders.
float worst_error(const FlowField& flow) {
  constexpr int margin = 10;
  float worst = 0;
  for (int y = margin; y < flow.size().height - margin; ++y)
    for (int x = margin; x < flow.size().width - margin; ++x)
      worst = std::max(worst, std::hypot(flow.u(x, y) - 2.5f, flow.v(x, y) + 1.25f));
  return worst;
}

TEST(ValueRange, IsNotDecidedByOutliers) {
  const auto pair = texture_pair<std::uint16_t>(30000, 150);
  const Frame plain[] = {pair[0], pair[1]};
  const ValueFindings expected = find_values(plain);
  EXPECT_FALSE(expected.usual);
  EXPECT_NEAR(expected.range.black, 29965, 30);
  EXPECT_NEAR(expected.range.white, 30180, 30);
  EXPECT_EQ(expected.apart_share, 0);
  for (const int count : {1, 10, 100}) {
    auto hot = texture_pair<std::uint16_t>(30000, 150);
    for (FrameBuffer& frame : hot)
      for (int i = 0; i < count; ++i) {
        set<std::uint16_t>(frame, 7 + i * 37 % 150, 5 + i * 53 % 110, 65535);
        set<std::uint16_t>(frame, 9 + i * 41 % 150, 8 + i * 29 % 110, 0);
      }
    const Frame frames[] = {hot[0], hot[1]};
    const ValueRange range = find_value_range(frames);
    EXPECT_NEAR(range.black, expected.range.black, 3) << count;
    EXPECT_NEAR(range.white, expected.range.white, 3) << count;
    EXPECT_LT(worst_error(estimate_flow(hot[0], hot[1])), 0.25f) << count;
  }
}

TEST(ValueRange, LeavesOutAValueFarFromAllOthers) {
  for (const float missing : {-9999.0f, 1e20f}) {
    auto pair = texture_pair<float>(280, 20);
    for (FrameBuffer& frame : pair)
      for (int y = 20; y < 60; ++y)
        for (int x = 30; x < 80; ++x) set<float>(frame, x, y, missing);
    const Frame frames[] = {pair[0], pair[1]};
    const ValueFindings found = find_values(frames);
    EXPECT_NEAR(found.range.black, 275, 3);
    EXPECT_NEAR(found.range.white, 305, 3);
    EXPECT_EQ(found.apart, missing);
    EXPECT_NEAR(found.apart_share, 2000 / 19200.0f, 0.005f);
    const std::vector<std::string> notes = value_notes(found);
    ASSERT_EQ(notes.size(), 2u);
    EXPECT_NE(notes[0].find("is black and"), std::string::npos) << notes[0];
    EXPECT_NE(notes[1].find("10.4 % of the values are "), std::string::npos) << notes[1];
  }
}

TEST(ValueRange, OfMotionDetectionKeepsNoiseLow) {
  FrameBuffer wall({160, 120}, PixelFormat::gray_u16);
  unsigned random = 1;
  for (int y = 0; y < 120; ++y)
    for (int x = 0; x < 160; ++x) {
      double sum = 0;
      for (int i = 0; i < 12; ++i) sum += (random = random * 1664525u + 1013904223u) / 4294967296.0;
      set<std::uint16_t>(wall, x, y, std::uint16_t(std::lround(2000 + x * 0.25 + 3 * (sum - 6))));
    }
  const Frame frame = wall;
  const ValueFindings matched = find_values({&frame, 1}),
                      detected = find_values({&frame, 1}, RangeUse::detection);
  EXPECT_NEAR(matched.noise, 3, 0.3);
  EXPECT_LT(matched.range.white - matched.range.black, 110);
  EXPECT_NEAR(detected.range.white - detected.range.black, 3 * 255 / 3.5, 25);
  const FrameBuffer gray = texture<std::uint8_t>(100, 16, 0);
  const Frame dim = gray;
  EXPECT_EQ(find_value_range({&dim, 1}, RangeUse::detection), (ValueRange{0, 255}));
  EXPECT_NE(find_value_range({&dim, 1}), (ValueRange{0, 255}));
}

TEST(ValueRange, BelongsToAFrameAndItsCopies) {
  FrameBuffer buffer({3, 2}, PixelFormat::gray_f32);
  EXPECT_EQ(buffer.frame().range, ValueRange{});
  buffer.set_range({0, 1});
  EXPECT_EQ(buffer.frame().range, (ValueRange{0, 1}));
  EXPECT_EQ(buffer.to(Memory::host()).range(), (ValueRange{0, 1}));
}

/// The scene's frame with its values scaled to black..white.
FrameBuffer scaled(const Frame& frame, PixelFormat format, ValueRange range) {
  FrameBuffer result(frame.size(), format);
  for (int y = 0; y < frame.height; ++y)
    for (int x = 0; x < frame.width; ++x) {
      const float share = float(static_cast<const std::uint8_t*>(frame.data)[y * frame.pitch + x]) / 255;
      const float value = range.black + share * (range.white - range.black);
      if (format == PixelFormat::gray_f32)
        static_cast<float*>(result.row(y))[x] = value;
      else
        static_cast<std::uint16_t*>(result.row(y))[x] = std::uint16_t(std::lround(value));
    }
  return result;
}

TEST(ValueRange, GivesOneFlowForOneSceneInAnyRange) {
  const Scene scene = render_scene("translation", {.size = {96, 64}, .seed = 3});
  const auto error = [&](PixelFormat format, ValueRange values, ValueRange said) {
    std::vector<FrameBuffer> pair;
    for (int i = 0; i < 2; ++i) {
      pair.push_back(scaled(scene.frames[std::size_t(i)], format, values));
      pair.back().set_range(said);
    }
    return evaluate(estimate_flow(pair[0], pair[1]), scene.flow[0]).epe;
  };
  const double usual = error(PixelFormat::gray_f32, {0, 255}, {});
  for (const ValueRange range : {ValueRange{0, 1}, ValueRange{-1, 1}, ValueRange{0, 65535}})
    EXPECT_NEAR(error(PixelFormat::gray_f32, range, {}), usual, 0.02 * usual) << "found: " << range.white;
  for (const ValueRange range :
       {ValueRange{0, 1}, ValueRange{-1, 1}, ValueRange{0, 65535}, ValueRange{200, 300}})
    EXPECT_NEAR(error(PixelFormat::gray_f32, range, range), usual, 0.02 * usual) << range.black;
  for (const ValueRange range :
       {ValueRange{0, 255}, ValueRange{0, 1023}, ValueRange{0, 4095}, ValueRange{0, 65535}})
    EXPECT_NEAR(error(PixelFormat::gray_u16, range, range), usual, 0.02 * usual) << range.white;
}

class RangeOn : public OnDevice {};

TEST_P(RangeOn, IsFoundByEstimatorsInTheirFirstFrames) {
  const auto pair = texture_pair<std::uint16_t>(30000, 150);
  const Memory memory = device().kind == Device::Kind::cuda ? Memory::cuda(device().index) : Memory::host();
  const FrameBuffer there[] = {pair[0].to(memory), pair[1].to(memory)};
  const FlowField expected = estimate_flow(pair[0], pair[1], {}, {.device = Device::cpu(2)});
  EXPECT_LT(worst_error(expected), 0.1f);
  FlowEstimator estimator({}, {160, 120}, {.device = device()});
  EXPECT_EQ(estimator.range(), ValueRange{});
  estimator(there[0], there[1]);
  const Frame frames[] = {pair[0], pair[1]};
  EXPECT_EQ(estimator.range(), find_value_range(frames));
  const Frame far[] = {there[0], there[1]};
  EXPECT_EQ(find_value_range(far), find_value_range(frames)) << "the same bits in any memory";
  const FlowField& result = estimator(there[0], there[1]);
  estimator.synchronize();
  const FlowField flow = result.to(Memory::host());
  expect_same(flow, expected);
  const FrameBuffer other = texture<std::uint8_t>(0, 255, 0);
  const FrameBuffer other_there = other.to(memory);
  EXPECT_EQ(
      message_of([&] { estimator(other_there, there[1]); }),
      "the estimator's first frame has 16-bit values, a later one has 8-bit values; convert them to one "
      "depth");
  estimator.reset();
  EXPECT_EQ(estimator.range(), ValueRange{});
  estimator.push(there[0]);
  EXPECT_EQ(estimator.range(), find_value_range({frames, 1}));
  ASSERT_NE(estimator.push(there[1]), nullptr);
}

TEST_P(RangeOn, LowContrastOf8BitsIsStretchedForAPair) {
  const Scene scene = render_scene("layers", {.size = {160, 120}, .seed = 5});
  const auto weakened = [&](int divisor) {
    std::vector<FrameBuffer> pair;
    for (int i = 0; i < 2; ++i) {
      pair.push_back(scene.frames[std::size_t(i)].to(Memory::host()));
      for (int y = 0; y < 120; ++y)
        for (int x = 0; x < 160; ++x) {
          auto& value = static_cast<std::uint8_t*>(pair.back().row(y))[x];
          value = std::uint8_t(std::lround(110 + (double(value) - 110) / divisor));
        }
    }
    return pair;
  };
  const std::vector<FrameBuffer> strong = weakened(1), weak = weakened(12);
  const auto error = [&](const std::vector<FrameBuffer>& pair, ValueRange range) {
    Frame frames[] = {pair[0], pair[1]};
    for (Frame& frame : frames) frame.range = range;
    return evaluate(estimate_flow(frames[0], frames[1], LucasKanade{}, {.device = device()}), scene.flow[0]);
  };
  EXPECT_EQ(error(strong, {}).epe, error(strong, {0, 255}).epe);
  const Frame frames[] = {weak[0], weak[1]};
  EXPECT_EQ(error(weak, {}).epe, error(weak, find_value_range(frames)).epe);
  EXPECT_LT(error(weak, {}).epe, error(weak, {0, 255}).epe);
}

TEST_P(RangeOn, MotionOfAThermalCameraIsDetected) {
  const auto frame = [](int number) {
    FrameBuffer result = texture<std::uint16_t>(30000, 100, 0);
    for (int y = 50; y < 70; ++y)
      for (int x = 20 + 10 * number; x < 36 + 10 * number; ++x) set<std::uint16_t>(result, x, y, 30150);
    set<std::uint16_t>(result, 100, 100, 65535);
    return result;
  };
  MotionDetector detector({}, {160, 120}, {.device = device()});
  detector.push(frame(0));
  const MotionMask* const mask = detector.push(frame(1));
  ASSERT_NE(mask, nullptr);
  int inside = 0, outside = 0;
  for_each_pixel(mask->size(), [&](int x, int y) {
    if (!mask->moving(x, y)) return;
    const bool changes = y >= 50 && y < 70 && ((x >= 20 && x < 30) || (x >= 36 && x < 46));
    (changes ? inside : outside) += 1;
  });
  EXPECT_GT(inside, 250);
  EXPECT_LT(outside, 40);
}

TEST_P(RangeOn, StereoOfLowContrastIsSolved) {
  FrameBuffer views[2];
  for (int i = 0; i < 2; ++i) {
    views[i] = texture<std::uint16_t>(2000, 90, 0);
    FrameBuffer wide = texture<std::uint16_t>(2000, 90, 0, {180, 120});
    for (int y = 0; y < 120; ++y)
      for (int x = 0; x < 160; ++x)
        set<std::uint16_t>(views[i], x, y, static_cast<const std::uint16_t*>(wide.row(y))[x + 6 * i]);
    set<std::uint16_t>(views[i], 80, 60, 65535);
  }
  const DisparityField field = estimate_disparity(views[0], views[1], {}, {.device = device()});
  int right = 0, all = 0;
  for (int y = 5; y < 115; ++y)
    for (int x = 20; x < 155; ++x, ++all) right += field.valid(x, y) && std::abs(field.d(x, y) - 6) < 0.5f;
  EXPECT_GT(right, 0.97 * all);
}

INSTANTIATE_TEST_SUITE_P(Devices, RangeOn, every_device(), device_name);

TEST(ValueRange, BoundsWhatLiesFarOutside) {
  auto pair = texture_pair<float>(0, 1);
  for (FrameBuffer& frame : pair) {
    frame.set_range({0, 1});
    set<float>(frame, 80, 60, 1e6f);
  }
  const FlowField far = estimate_flow(pair[0], pair[1]);
  for (FrameBuffer& frame : pair) set<float>(frame, 80, 60, 2);
  const FlowField near = estimate_flow(pair[0], pair[1]);
  expect_same(far, near);
  for (FrameBuffer& frame : pair) set<float>(frame, 80, 60, std::numeric_limits<float>::infinity());
  EXPECT_FALSE(estimate_flow(pair[0], pair[1]).valid(80, 60)) << "infinite values stay missing";
}

TEST(ValueRange, ThatIsNoneIsAnError) {
  FrameBuffer pair[] = {FrameBuffer({9, 9}, PixelFormat::gray_f32),
                        FrameBuffer({9, 9}, PixelFormat::gray_f32)};
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinite = std::numeric_limits<float>::infinity();
  for (const ValueRange range :
       {ValueRange{1, 1}, ValueRange{1, 0}, ValueRange{0, nan}, ValueRange{-infinite, 0},
        ValueRange{0, 1e-44f}, ValueRange{-3e38f, 3e38f}}) {
    pair[1].set_range(range);
    EXPECT_THROW(estimate_flow(pair[0], pair[1]), Error) << range.black << ' ' << range.white;
  }
  pair[1].set_range({5, 3});
  EXPECT_EQ(message_of([&] { estimate_flow(pair[0], pair[1]); }),
            "frame 1 has values from 5 (black) to 3 (white); black should be below white");
}

TEST(ValueRange, HoldsForPicturesToo) {
  FrameBuffer frame({2, 1}, PixelFormat::gray_f32);
  static_cast<float*>(frame.row(0))[1] = 0.5f;
  frame.set_range({0, 1});
  const FrameBuffer both = beside(frame, frame);
  EXPECT_EQ(static_cast<const std::uint8_t*>(both.row(0))[0], 0);
  EXPECT_EQ(static_cast<const std::uint8_t*>(both.row(0))[3], 128);
}

}  // namespace
}  // namespace parafield
