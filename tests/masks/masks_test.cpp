// SPDX-License-Identifier: MIT
#include "parafield/masks.hpp"

#include <cmath>

#include "io/folder.hpp"
#include "not_finite.hpp"
#include "parafield/flow.hpp"
#include "parafield/io.hpp"
#include "parafield/scenes.hpp"

namespace parafield {
namespace {

/// A frame of one channel with value(x, y).
template <class T, class Value>
FrameBuffer frame_with(PixelFormat format, Size size, Value value) {
  FrameBuffer frame(size, format);
  const int count = channels(format);
  for (int y = 0; y < size.height; ++y)
    for (int i = 0; i < size.width * count; ++i) static_cast<T*>(frame.row(y))[i] = T(value(i / count, y));
  return frame;
}

Image<std::uint8_t> mask_with(Size size, auto is_known) {
  Image<std::uint8_t> mask(size);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) mask(x, y) = is_known(x, y);
  return mask;
}

TEST(Masks, AnInclinedPlaneIsContinued) {
  const Size size{40, 30};
  const auto plane = [](int x, int y) { return 20 + 3 * x + 2 * y; };
  const auto lines = mask_with(size, [](int x, int y) { return x % 9 != 4 && y % 8 != 3; });
  for (const PixelFormat format : {PixelFormat::gray_u8, PixelFormat::rgb_u8, PixelFormat::rgba_u8}) {
    FrameBuffer frame = frame_with<std::uint8_t>(format, size, plane);
    for (int y = 0; y < size.height; ++y)
      for (int i = 0; i < size.width * channels(format); ++i)
        if (!lines(i / channels(format), y)) static_cast<std::uint8_t*>(frame.row(y))[i] = 255;
    const FrameBuffer whole = filled(frame, lines);
    ASSERT_EQ(whole.format(), format);
    for (int y = 1; y < size.height - 1; ++y)
      for (int x = 1; x < size.width - 1; ++x)
        EXPECT_NEAR(static_cast<const std::uint8_t*>(whole.row(y))[x * channels(format)], plane(x, y), 1)
            << x << " " << y;
  }
  FrameBuffer wide =
      frame_with<std::uint16_t>(PixelFormat::gray_u16, size, [&](int x, int y) { return 256 * plane(x, y); });
  wide.set_range({0, 60000});
  const FrameBuffer whole = filled(wide, lines);
  EXPECT_EQ(whole.range(), (ValueRange{0, 60000}));
  EXPECT_NEAR(static_cast<const std::uint16_t*>(whole.row(11))[22], 256 * plane(22, 11), 60);
}

TEST(Masks, KnownPixelsKeepTheirValues) {
  const Size size{33, 17};
  FrameBuffer frame = frame_with<float>(PixelFormat::rgb_f32, size, [](int x, int y) { return x * y % 7; });
  static_cast<float*>(frame.row(4))[3 * 5 + 1] = nan;
  static_cast<float*>(frame.row(9))[3 * 20] = INFINITY;
  const Image<std::uint8_t> known = known_pixels(frame);
  int unknown = 0;
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) unknown += !known(x, y);
  EXPECT_EQ(unknown, 2);
  EXPECT_FALSE(known(5, 4) || known(20, 9));
  const FrameBuffer whole = filled(frame, known);
  for (int y = 0; y < size.height; ++y)
    for (int i = 0; i < 3 * size.width; ++i) {
      const float value = static_cast<const float*>(whole.row(y))[i];
      EXPECT_TRUE(std::isfinite(value));
      if (known(i / 3, y)) {
        EXPECT_EQ(value, static_cast<const float*>(frame.row(y))[i]);
      }
    }
  EXPECT_FALSE(known_pixels(whole)) << "every pixel has a value";
  EXPECT_FALSE(known_pixels(FrameBuffer({4, 4}, PixelFormat::gray_u8)));
}

TEST(Masks, ALargeRegionIsSmooth) {
  const Size size{90, 70};
  const auto noise = [](int x, int y) { return (x * 7919 + y * 104729) % 251; };
  const FrameBuffer frame = frame_with<std::uint8_t>(PixelFormat::gray_u8, size, noise);
  const auto block = mask_with(size, [](int x, int y) { return x < 20 || x > 70 || y < 10 || y > 60; });
  const FrameBuffer whole = filled(frame, block);
  for (int y = 20; y < 50; ++y)
    for (int x = 30; x < 60; ++x) {
      const int here = static_cast<const std::uint8_t*>(whole.row(y))[x],
                next = static_cast<const std::uint8_t*>(whole.row(y))[x + 1];
      EXPECT_LE(std::abs(here - next), 5) << x << " " << y;
    }
}

TEST(Masks, WrongMasksAreErrors) {
  const FrameBuffer frame({8, 6}, PixelFormat::gray_u8);
  const auto invalid = ErrorCode::invalid_argument;
  expect_error(invalid, "8x6 pixels, its mask 6x8", [&] { filled(frame, Image<std::uint8_t>({6, 8})); });
  expect_error(invalid, "0 everywhere", [&] { filled(frame, Image<std::uint8_t>({8, 6})); });
  FrameBuffer floats({2, 1}, PixelFormat::gray_f32);
  static_cast<float*>(floats.row(0))[1] = nan;
  const auto all = mask_with({2, 1}, [](int x, int) { return x == 1; });
  expect_error(invalid, "pixel (1, 0) is nan", [&] { filled(floats, all); });
  FlowField flow({4, 4});
  expect_error(invalid, "4x4 pixels, its mask 8x6", [&] { mark_unknown(flow, Image<std::uint8_t>({8, 6})); });
}

TEST(Masks, MarksWhatHasNoValueAndWhatLeadsThere) {
  FlowField flow({6, 2});
  for (int x = 0; x < 6; ++x) {
    flow.u(x, 0) = 1.4f;
    flow.valid(x, 0) = flow.valid(x, 1) = 1;
    flow.confidence(x, 0) = 2;
  }
  mark_unknown(flow, mask_with({6, 2}, [](int x, int y) { return x != 2 || y != 0; }),
               mask_with({6, 2}, [](int x, int y) { return x != 4 || y != 0; }));
  EXPECT_TRUE(std::isnan(flow.u(2, 0)) && std::isnan(flow.v(2, 0)));
  EXPECT_EQ(flow.valid(2, 0), 0);
  EXPECT_EQ(flow.confidence(2, 0), 0);
  EXPECT_EQ(flow.u(3, 0), 1.4f) << "it keeps its flow";
  EXPECT_EQ(flow.valid(3, 0), 0) << "it leads to a pixel without a value";
  EXPECT_EQ(flow.valid(5, 0), 1) << "it leads outside: others say so";
  EXPECT_EQ(flow.valid(1, 0) + flow.valid(4, 0) + flow.valid(4, 1), 3);

  DisparityField disparity({6, 1});
  for (int x = 0; x < 6; ++x) disparity.d(x, 0) = 2, disparity.valid(x, 0) = 1;
  mark_unknown(disparity, mask_with({6, 1}, [](int x, int) { return x != 3; }),
               mask_with({6, 1}, [](int x, int) { return x != 2; }));
  EXPECT_TRUE(std::isnan(disparity.d(3, 0)));
  EXPECT_EQ(disparity.valid(4, 0), 0);
  EXPECT_EQ(disparity.d(4, 0), 2);
  EXPECT_EQ(disparity.valid(5, 0), 1);
}

/// Every format of files calls flow that is NaN unknown.
TEST(Masks, FilesHoldUnknownFlow) {
  const Folder folder;
  FlowField flow({5, 3});
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 5; ++x) flow.u(x, y) = 0.5f, flow.valid(x, y) = 1;
  mark_unknown(flow, mask_with({5, 3}, [](int x, int) { return x != 1; }));
  for (const char* name : {"f.flo", "f.npy", "f.pfm", "f.png"}) {
    write_flow(folder / name, flow);
    const FlowField read = read_flow(folder / name);
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 5; ++x) EXPECT_EQ(read.valid(x, y), x != 1) << name;
    const std::string format(name + 1);
    EXPECT_TRUE(format == ".flo"   ? read.u(1, 1) == 1e10f
                : format == ".png" ? read.valid(1, 1) == 0
                                   : std::isnan(read.u(1, 1)));
  }
  DisparityField disparity({5, 3});
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 5; ++x) disparity.d(x, y) = 3, disparity.valid(x, y) = 1;
  mark_unknown(disparity, mask_with({5, 3}, [](int x, int) { return x != 1; }));
  for (const char* name : {"d.npy", "d.pfm", "d.png"}) {
    write_disparity(folder / name, disparity);
    const DisparityField read = read_disparity(folder / name);
    for (int x = 0; x < 5; ++x) EXPECT_EQ(read.valid(x, 2), x != 1) << name;
    EXPECT_TRUE(std::string(name) == "d.png" ? std::isinf(read.d(1, 1)) : std::isnan(read.d(1, 1)));
  }
}

}  // namespace
}  // namespace parafield
