// SPDX-License-Identifier: MIT
#include <cstring>

#include "core/fail.hpp"
#include "io/folder.hpp"
#include "io/formats.hpp"
#include "io/samples.hpp"
#include "parafield/io.hpp"

namespace parafield {
namespace {

using samples::bytes_of;
using samples::joined;

/// All values, row by row.
template <class T>
std::vector<int> integers_of(const FrameBuffer& frame) {
  std::vector<int> list;
  for (int y = 0; y < frame.size().height; ++y)
    for (int i = 0; i < frame.size().width * channels(frame.format()); ++i)
      list.push_back(static_cast<const T*>(frame.row(y))[i]);
  return list;
}

TEST(Pnm, HandMadeFiles) {
  FrameBuffer frame = io::decode_frame(bytes_of("P2\n# one\n3 # two\n 2\n255\n0 1 2 # three\n253 254 255"));
  EXPECT_EQ(frame.size(), (Size{3, 2}));
  EXPECT_EQ(frame.format(), PixelFormat::gray_u8);
  EXPECT_EQ(integers_of<std::uint8_t>(frame), (std::vector{0, 1, 2, 253, 254, 255}));

  frame = io::decode_frame(bytes_of("P3 1 2 255\n1 2 3 4 5 6\n"));
  EXPECT_EQ(frame.format(), PixelFormat::rgb_u8);
  EXPECT_EQ(integers_of<std::uint8_t>(frame), (std::vector{1, 2, 3, 4, 5, 6}));

  frame = io::decode_frame(joined("P5 2 1 65535\n", {1, 2, 255, 254}));
  EXPECT_EQ(frame.format(), PixelFormat::gray_u16);
  EXPECT_EQ(integers_of<std::uint16_t>(frame), (std::vector{0x0102, 0xfffe}));

  // The first byte of the pixels may look like white space or a comment.
  frame = io::decode_frame(joined("P6\n1 1\n255\n", {'\n', '#', ' '}));
  EXPECT_EQ(frame.format(), PixelFormat::rgb_u8);
  EXPECT_EQ(integers_of<std::uint8_t>(frame), (std::vector<int>{'\n', '#', ' '}));

  frame = io::decode_frame(joined("P6#a\n1#b\n1 65535#c\n", {0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(integers_of<std::uint16_t>(frame), (std::vector{0x0001, 0x0203, 0x0405}));
}

TEST(Pnm, HeadersOfWindows) {
  for (const std::string_view end : {"\r\n", "\n"}) {
    const std::string header = text("P5", end, "2 2", end, "255", end);
    EXPECT_EQ(integers_of<std::uint8_t>(io::decode_frame(joined(header, {10, 13, 10, 7}))),
              (std::vector{10, 13, 10, 7}));
  }
}

TEST(Pnm, ValuesAreScaledToTheFullRange) {
  EXPECT_EQ(integers_of<std::uint8_t>(io::decode_frame(bytes_of("P2 2 1 1\n0 1\n"))), (std::vector{0, 255}));
  EXPECT_EQ(integers_of<std::uint8_t>(io::decode_frame(bytes_of("P2 4 1 100\n0 1 50 100\n"))),
            (std::vector{0, 3, 128, 255}));
  EXPECT_EQ(integers_of<std::uint16_t>(io::decode_frame(bytes_of("P2 3 1 256\n0 1 256\n"))),
            (std::vector{0, 256, 65535}));
  EXPECT_EQ(integers_of<std::uint16_t>(io::decode_frame(joined("P5 2 1 1023\n", {3, 255, 2, 0}))),
            (std::vector{65535, 32800}));
  EXPECT_EQ(integers_of<std::uint16_t>(io::decode_frame(bytes_of("P2 2 1 65534\n65533 65534\n"))),
            (std::vector{65534, 65535}));
}

TEST(Pnm, RoundTrips) {
  const Folder folder;
  for (const Size size : {Size{1, 1}, Size{1, 9}, Size{9, 1}, Size{7, 5}})
    for (const PixelFormat format :
         {PixelFormat::gray_u8, PixelFormat::gray_u16, PixelFormat::rgb_u8, PixelFormat::rgb_u16}) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << " " << to_string(format));
      FrameBuffer frame(size, format);
      const int row_bytes = size.width * bytes_per_pixel(format);
      for (int y = 0; y < size.height; ++y)
        for (int i = 0; i < row_bytes; ++i)
          static_cast<std::uint8_t*>(frame.row(y))[i] = std::uint8_t(i * 7 + y * 31);
      const auto path = folder / (channels(format) == 1 ? "a.pgm" : "a.ppm");
      write_frame(path, frame);
      const FrameBuffer back = read_frame(path);
      ASSERT_EQ(back.size(), size);
      ASSERT_EQ(back.format(), format);
      for (int y = 0; y < size.height; ++y)
        ASSERT_EQ(std::memcmp(back.row(y), frame.row(y), std::size_t(row_bytes)), 0);
      EXPECT_EQ(file_kind(path), FileKind::frame);
    }
}

TEST(Pnm, IsWrittenByteForByte) {
  const Folder folder;
  const std::uint16_t pixels[] = {0x0102, 0xfffe};
  write_frame(folder / "a.pgm", {pixels, 1, 2, 0, PixelFormat::gray_u16});
  EXPECT_EQ(bytes_in(folder / "a.pgm"), joined("P5\n1 2\n65535\n", {1, 2, 255, 254}));
  const std::uint8_t color[] = {1, 2, 3};
  write_frame(folder / "a.ppm", {color, 1, 1, 0, PixelFormat::rgb_u8});
  EXPECT_EQ(bytes_in(folder / "a.ppm"), joined("P6\n1 1\n255\n", {1, 2, 3}));
}

TEST(Pnm, DamageIsNamed) {
  const auto expect = [](std::string_view text, std::string_view part) {
    SCOPED_TRACE(text);
    expect_error(ErrorCode::format, part, [&] { io::decode_frame(bytes_of(text)); });
  };
  expect("P5\n", "before the width");
  expect("P5 3", "before the height");
  expect("P5 3 2\n", "before the maximum");
  expect("P5 3x 2 255\n", "the width is not a number");
  expect("P5 -3 2 255\n", "the width is missing: there is no number at byte 3");
  expect("P5 0 2 255\n", "0x2 pixels");
  expect("P5 3 2 0\n......", "the maximum is 0");
  expect("P5 3 2 65536\n", "is above 65535");
  expect("P5 99999999999999999999999 2 255\n", "is above 1000000");
  expect("P5 1000000 1000000 255\n....",
         "1000000x1000000 pixels need 1000000000000 bytes after the header, the file has 4");
  expect("P3 1000000 1000000 255\n....", "need at least 5999999999999 bytes");
  expect("P5 3 2 255\n.....", "3x2 pixels need 6 bytes after the header, the file has 5");
  expect("P6 1 1 255\n....", "1 bytes follow the last of 1x1 pixels");
  expect("P5 1 1 100\n\x65", "value 101 at pixel (0, 0) is above the file's maximum 100");
  expect("P2 2 1 100\n1 101", "is above 100");
  expect("P2 2 1 100\n1 1.5", "is not a number");
  expect("P2 2 1 100\n1 1 1", "follow the last");
  expect("P5 1 1 255", "need 1 bytes");
  expect("P5 1 1 255x", "the maximum is not a number");
  expect("P1 1 1 0",
         "not a PNG, JPEG, TIFF, PGM, PPM, PFM, .npy or Y4M file: it starts with the bytes 50 31 20 31");
}

TEST(Pnm, LineEndAfterThePixelsIsNoPixel) {
  EXPECT_EQ(integers_of<std::uint8_t>(io::decode_frame(joined("P5 2 1 255\n", {7, 8, '\n'}))),
            (std::vector{7, 8}));
}

}  // namespace
}  // namespace parafield
