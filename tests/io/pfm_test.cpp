// SPDX-License-Identifier: MIT
#include <bit>
#include <cmath>
#include <cstring>

#include "core/fail.hpp"
#include "io/folder.hpp"
#include "io/formats.hpp"
#include "io/samples.hpp"
#include "parafield/io.hpp"

namespace parafield {
namespace {

using samples::bytes_of;
using samples::pfm;

std::vector<float> floats_of(const FrameBuffer& frame) {
  std::vector<float> all;
  for (int y = 0; y < frame.size().height; ++y) {
    const auto* row = static_cast<const float*>(frame.row(y));
    all.insert(all.end(), row, row + frame.size().width * channels(frame.format()));
  }
  return all;
}

TEST(Pfm, FramesOfBothByteOrders) {
  for (const bool big : {false, true}) {
    const std::string scale = big ? "1.0" : "-1.0";
    // The lowest row comes first in the file.
    const FrameBuffer gray = io::decode_frame(pfm("Pf\n2 2\n" + scale + "\n", {1, 2, 3, -4.5f}, big));
    ASSERT_EQ(gray.size(), (Size{2, 2}));
    ASSERT_EQ(gray.format(), PixelFormat::gray_f32);
    EXPECT_EQ(floats_of(gray), (std::vector<float>{3, -4.5f, 1, 2}));
    const FrameBuffer color = io::decode_frame(pfm("PF 1 2 " + scale + "\r", {1, 2, 3, 4, 5, 600}, big));
    ASSERT_EQ(color.size(), (Size{1, 2}));
    ASSERT_EQ(color.format(), PixelFormat::rgb_f32);
    EXPECT_EQ(floats_of(color), (std::vector<float>{4, 5, 600, 1, 2, 3}));
  }
}

TEST(Pfm, HeadersOfWindows) {
  // The last value's bytes begin with a line feed.
  const std::vector<float> pixels = {std::bit_cast<float>(0x3f80000au), 2};
  for (const bool crlf : {true, false}) {
    const std::string end = crlf ? "\r\n" : "\n";
    const auto bytes = pfm("Pf" + end + "2 1" + end + "-1.0" + end, pixels);
    EXPECT_EQ(floats_of(io::decode_frame(bytes)), pixels);
    EXPECT_EQ(io::decode_disparity(bytes, 0).d(0, 0), pixels[0]);
  }
  EXPECT_EQ(floats_of(io::decode_frame(pfm("Pf 2 1 -1\r", pixels))), pixels);
}

TEST(Pfm, FlowOfBothByteOrders) {
  for (const bool big : {false, true}) {
    const std::string header = text("PF\n1 3\n", big ? 2 : -2, "\n");
    const FlowField flow = io::decode_flow(pfm(header, {1, -2, 7, NAN, 4, 0, 5, 1e10f, 0}, big));
    ASSERT_EQ(flow.size(), (Size{1, 3}));
    EXPECT_EQ(flow.u(0, 2), 1);
    EXPECT_EQ(flow.v(0, 2), -2);
    EXPECT_EQ(flow.valid(0, 2), 1);
    EXPECT_TRUE(std::isnan(flow.u(0, 1)));
    EXPECT_EQ(flow.v(0, 1), 4);
    EXPECT_EQ(flow.valid(0, 1), 0);
    EXPECT_EQ(flow.v(0, 0), 1e10f);
    EXPECT_EQ(flow.valid(0, 0), 0);
    EXPECT_FALSE(flow.confidence);
  }
}

TEST(Pfm, TheReaderDecidesTheKind) {
  const Folder folder;
  const auto path = folder.with("a.pfm", pfm("PF\n1 1\n-1\n", {1, 2, 3}));
  EXPECT_EQ(file_kind(path), FileKind::flow);
  EXPECT_EQ(read_flow(path).v(0, 0), 2);
  EXPECT_EQ(floats_of(read_frame(path)), (std::vector<float>{1, 2, 3}));
  folder.with("a.pfm", pfm("Pf\n1 1\n-1\n", {1}));
  EXPECT_EQ(file_kind(path), FileKind::disparity);
  expect_error(ErrorCode::format, "one channel (Pf), not flow", [&] { read_flow(path); });
}

TEST(Pfm, FlowIsWrittenByteForByte) {
  const Folder folder;
  FlowField flow({1, 2});
  flow.u(0, 0) = 1.5f;
  flow.v(0, 1) = -3;
  flow.valid(0, 1) = 1;
  write_flow(folder / "a.pfm", flow);
  EXPECT_EQ(bytes_in(folder / "a.pfm"), pfm("PF\n1 2\n-1.0\n", {0, -3, 0, 1.5f, 0, 0}));
  write_flow(folder / "a.pfm", flow, true);
  EXPECT_EQ(bytes_in(folder / "a.pfm"), pfm("PF\n1 2\n-1.0\n", {0, -3, 0, NAN, NAN, 0}));
}

TEST(Pfm, FramesAreWrittenByteForByte) {
  const Folder folder;
  const float pixels[] = {1, 2, 3, -4.5f, 5, INFINITY};
  write_frame(folder / "a.pfm", {pixels, 3, 2, 0, PixelFormat::gray_f32});
  EXPECT_EQ(bytes_in(folder / "a.pfm"), pfm("Pf\n3 2\n-1.0\n", {-4.5f, 5, INFINITY, 1, 2, 3}));
  write_frame(folder / "a.PFM", {pixels, 1, 2, 0, PixelFormat::rgb_f32});
  EXPECT_EQ(bytes_in(folder / "a.PFM"), pfm("PF\n1 2\n-1.0\n", {-4.5f, 5, INFINITY, 1, 2, 3}));
}

TEST(Pfm, FramesRoundTrip) {
  const Folder folder;
  const auto path = folder / "a.pfm";
  for (const Size size : {Size{1, 1}, Size{1, 9}, Size{9, 1}, Size{7, 5}})
    for (const PixelFormat format : {PixelFormat::gray_f32, PixelFormat::rgb_f32}) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << " " << to_string(format));
      FrameBuffer frame(size, format);
      const int row_values = size.width * channels(format);
      for (int y = 0; y < size.height; ++y)
        for (int i = 0; i < row_values; ++i)
          static_cast<float*>(frame.row(y))[i] = float(i) / 7 - 31e3f * float(y);
      static_cast<float*>(frame.row(0))[0] = INFINITY;
      write_frame(path, frame);
      const FrameBuffer back = read_frame(path);
      ASSERT_EQ(back.size(), size);
      ASSERT_EQ(back.format(), format);
      EXPECT_EQ(floats_of(back), floats_of(frame));
      EXPECT_EQ(file_kind(path), format == PixelFormat::gray_f32 ? FileKind::disparity : FileKind::flow);
    }
  // The pitch may be any number of bytes, also no multiple of 4.
  alignas(float) std::uint8_t rows[4 + 4 + 1];
  const float top = 1.5f, bottom = -2;
  std::memcpy(rows, &top, 4);
  std::memcpy(rows + 5, &bottom, 4);
  write_frame(path, {rows, 1, 2, 5, PixelFormat::gray_f32});
  EXPECT_EQ(floats_of(read_frame(path)), (std::vector<float>{1.5f, -2}));
}

TEST(Pfm, DamageIsNamed) {
  const auto expect = [](std::string_view text, std::string_view part) {
    SCOPED_TRACE(text);
    expect_error(ErrorCode::format, part, [&] { io::decode_frame(bytes_of(text)); });
    expect_error(ErrorCode::format, text[1] == 'F' ? part : "", [&] { io::decode_flow(bytes_of(text)); });
  };
  expect("PF\n", "no width at byte 3");
  expect("PF\n1", "no width at byte 3");
  expect("PF\n1 1\n-1", "no scale at byte 7");
  expect("PF\n1x 1\n-1\n", "the width is not a number, at byte 3");
  expect("PF\n1 99999999999\n-1\n", "the height is not a number, at byte 5");
  expect("PF\n1 1\n" + std::string(50, '1') + "\n", "no scale");
  expect("PF\n0 1\n-1\n", "0x1 pixels");
  expect("PF\n1 -1\n-1\n", "1x-1 pixels");
  expect("PF\n1000001 1\n-1\n", "each side is 1 to 1000000");
  for (const char* scale : {"0", "-0.0", "inf", "nan"})
    expect("PF\n1 1\n" + std::string(scale) + "\n............", "below 0 it means little-endian");
  expect("PF\n1000000 1000000\n-1\n", "need 12000000000000 bytes after the header, the file has 0");
  expect("PF\n1 1\n-1\n...........", "1x1 pixels need 12 bytes after the header, the file has 11");
  expect("Pf\n1 1\n-1\n.....", "1 bytes follow the last of 1x1 pixels");
}

}  // namespace
}  // namespace parafield
