// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "parafield/parafield.hpp"
#include "tasks/on_device.hpp"

// The range of a frame's values: found in its pixels, and what it does to results.
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
  using U8 = std::vector<std::uint8_t>;
  using U16 = std::vector<std::uint16_t>;
  EXPECT_EQ(found_in(U8{3, 4}), (ValueRange{0, 255}));
  EXPECT_EQ(found_in(U16{0, 0}), (ValueRange{0, 255}));
  EXPECT_EQ(found_in(U16{0, 255}), (ValueRange{0, 255}));
  EXPECT_EQ(found_in(U16{7, 256}), (ValueRange{0, 1023}));
  EXPECT_EQ(found_in(U16{1024, 0}), (ValueRange{0, 4095}));
  EXPECT_EQ(found_in(U16{4096}), (ValueRange{0, 16383}));
  EXPECT_EQ(found_in(U16{16384}), (ValueRange{0, 65535}));
}

TEST(ValueRange, OfFloatsIsAUsualOneOrTheirOwn) {
  using F32 = std::vector<float>;
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinite = std::numeric_limits<float>::infinity();
  EXPECT_EQ(found_in(F32{0, 1}), (ValueRange{0, 1}));
  EXPECT_EQ(found_in(F32{-0.2f, 1.3f}), (ValueRange{0, 1})) << "resampled";
  EXPECT_EQ(found_in(F32{-1, 0.9f}), (ValueRange{-1, 1}));
  EXPECT_EQ(found_in(F32{0, 2}), (ValueRange{0, 255}));
  EXPECT_EQ(found_in(F32{-7, 260}), (ValueRange{0, 255}));
  EXPECT_EQ(found_in(F32{180, 330}), (ValueRange{0, 255})) << "temperatures, K";
  EXPECT_EQ(found_in(F32{0, 1023}), (ValueRange{0, 1023}));
  EXPECT_EQ(found_in(F32{0, 65535}), (ValueRange{0, 65535}));
  EXPECT_EQ(found_in(F32{-500, 20}), (ValueRange{0, 1023}));
  EXPECT_EQ(found_in(F32{-1e6f, 1e6f}), (ValueRange{-1e6f, 1e6f}));
  EXPECT_EQ(found_in(F32{0.001f, 0.004f}), (ValueRange{0.001f, 0.004f})) << "faint";
  EXPECT_EQ(found_in(F32{0, 0}), (ValueRange{0, 1}));
  EXPECT_EQ(found_in(F32{nan, 0.5f, infinite, -infinite}), (ValueRange{0, 1}));
  EXPECT_EQ(found_in(F32{nan, nan}), (ValueRange{0, 255}));
  EXPECT_EQ(found_in(F32{1e6f, 1e6f}), (ValueRange{0, 255})) << "no range holds what does not differ";
}

TEST(ValueRange, IsThatOfAllFramesTogether) {
  const FrameBuffer dark = row_of(std::vector<std::uint16_t>{3, 200}),
                    bright = row_of(std::vector<std::uint16_t>{30, 900});
  const Frame frames[] = {dark, bright};
  EXPECT_EQ(find_value_range(frames), (ValueRange{0, 1023}));
  const Frame nothing[] = {Frame{}};
  EXPECT_THROW(find_value_range(nothing), Error);
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
  EXPECT_GT(error(PixelFormat::gray_f32, {0, 1}, {}), 2 * usual) << "nothing moves that looks all black";
  for (const ValueRange range :
       {ValueRange{0, 1}, ValueRange{-1, 1}, ValueRange{0, 65535}, ValueRange{200, 300}})
    EXPECT_NEAR(error(PixelFormat::gray_f32, range, range), usual, 0.02 * usual) << range.black;
  for (const ValueRange range :
       {ValueRange{0, 255}, ValueRange{0, 1023}, ValueRange{0, 4095}, ValueRange{0, 65535}})
    EXPECT_NEAR(error(PixelFormat::gray_u16, range, range), usual, 0.02 * usual) << range.white;
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
