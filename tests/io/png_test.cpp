// SPDX-License-Identifier: MIT
#include <cstring>

#include "io/folder.hpp"
#include "io/formats.hpp"
#include "io/samples.hpp"
#include "parafield/io.hpp"

#ifdef PARAFIELD_HAS_PNG

namespace parafield {
namespace {

unsigned value_at(const FrameBuffer& frame, int x, int y, int channel) {
  const int index = x * channels(frame.format()) + channel;
  if (bytes_per_value(frame.format()) == 2) return static_cast<const std::uint16_t*>(frame.row(y))[index];
  return static_cast<const std::uint8_t*>(frame.row(y))[index];
}

TEST(Png, EveryKindIsRead) {
  for (const Size size : {Size{1, 1}, Size{1, 9}, Size{9, 1}, Size{7, 5}, Size{17, 11}})
    for (const png_bytes::Header& header :
         samples::png_headers(unsigned(size.width), unsigned(size.height))) {
      SCOPED_TRACE(samples::name_of(header));
      const FrameBuffer frame = io::decode_frame(samples::png(header));
      const bool rgb = header.color_type == 2 || header.color_type == 3 || header.color_type == 6;
      const bool wide = header.bit_depth == 16;
      ASSERT_EQ(frame.size(), size);
      ASSERT_STREQ(to_string(frame.format()),
                   wide ? (rgb ? "rgb_u16" : "gray_u16") : (rgb ? "rgb_u8" : "gray_u8"));
      const samples::Bytes palette = samples::palette(header.bit_depth);
      for (int y = 0; y < size.height; ++y)
        for (int x = 0; x < size.width; ++x)
          for (int c = 0; c < channels(frame.format()); ++c) {
            unsigned expected = samples::pattern(x, y, c, header.bit_depth);
            if (header.color_type == 3)
              expected = palette[3 * samples::pattern(x, y, 0, header.bit_depth) + unsigned(c)];
            else if (header.bit_depth < 8)
              expected = expected * 255 / ((1u << header.bit_depth) - 1);
            ASSERT_EQ(value_at(frame, x, y, c), expected) << x << ", " << y << ", " << c;
          }
    }
}

TEST(Png, TransparentColorIsDropped) {
  const png_bytes::Header header{4, 1, 8, 0};
  const auto value = [](int x, int, int) { return unsigned(x); };
  const FrameBuffer frame = io::decode_frame(png_bytes::file(header, value, {{}, {0, 2}}));
  ASSERT_EQ(frame.format(), PixelFormat::gray_u8);
  for (int x = 0; x < 4; ++x) EXPECT_EQ(value_at(frame, x, 0, 0), unsigned(x));
}

TEST(Png, AlphaIsAMask) {
  const Folder folder;
  const auto alpha_of = [&](const png_bytes::Header& header, unsigned full,
                            const png_bytes::Chunks& chunks = {}) {
    const auto value = [&](int x, int, int channel) {
      return channel + 1 == header.channels() ? unsigned(x) * full
                                              : 7u;  // alpha is 0, 1, 2, ... times `full`
    };
    return read_alpha(folder.with("a.png", png_bytes::file(header, value, chunks)));
  };
  for (const int color_type : {4, 6})
    for (const int depth : {8, 16})
      for (const bool interlaced : {false, true}) {
        const Image<std::uint8_t> alpha = alpha_of({5, 3, depth, color_type, interlaced}, 1);
        ASSERT_EQ(alpha.size(), (Size{5, 3}));
        for (int x = 0; x < 5; ++x) EXPECT_EQ(alpha(x, 2), x > 0) << color_type << " " << depth;
      }
  const Image<std::uint8_t> wide = alpha_of({3, 1, 16, 4}, 256);  // 0x0000, 0x0100, 0x0200
  EXPECT_TRUE(!wide(0, 0) && wide(1, 0) && wide(2, 0));
  const Image<std::uint8_t> color = alpha_of({4, 1, 8, 0}, 1, {{}, {0, 2}});  // gray 2 is transparent
  EXPECT_TRUE(color(1, 0) && !color(2, 0) && color(3, 0));
  EXPECT_FALSE(alpha_of({4, 1, 8, 0}, 1)) << "it has none";
  EXPECT_FALSE(alpha_of({4, 1, 8, 2}, 1));
  EXPECT_FALSE(read_alpha(folder.with("a.pgm", {'P', '5', ' ', '1', ' ', '1', ' ', '9', '\n', 5})));
  expect_error(ErrorCode::format, "a.png", [&] {
    png_bytes::Bytes file = png_bytes::file({9, 9, 8, 4}, [](int, int, int) { return 1u; });
    file.resize(file.size() - 60);
    read_alpha(folder.with("a.png", file));
  });
}

TEST(Png, ColorsOutsideThePaletteAreBlack) {
  const auto value = [](int x, int, int) { return unsigned(x * 85); };
  const FrameBuffer frame = io::decode_frame(png_bytes::file({4, 1, 8, 3}, value, {{1, 2, 3}, {}}));
  EXPECT_EQ(value_at(frame, 0, 0, 2), 3u);
  for (int x = 1; x < 4; ++x) EXPECT_EQ(value_at(frame, x, 0, 2), 0u);
}

TEST(Png, RoundTrips) {
  const Folder folder;
  for (const Size size : {Size{1, 1}, Size{1, 9}, Size{9, 1}, Size{7, 5}, Size{640, 3}})
    for (const PixelFormat format :
         {PixelFormat::gray_u8, PixelFormat::gray_u16, PixelFormat::rgb_u8, PixelFormat::rgb_u16}) {
      SCOPED_TRACE(testing::Message() << size.width << "x" << size.height << " " << to_string(format));
      FrameBuffer frame(size, format);
      const int row_bytes = size.width * bytes_per_pixel(format);
      for (int y = 0; y < size.height; ++y)
        for (int i = 0; i < row_bytes; ++i)
          static_cast<std::uint8_t*>(frame.row(y))[i] = std::uint8_t(i * 7 + y * 31);
      write_frame(folder / "a.PNG", frame);
      const FrameBuffer back = read_frame(folder / "a.PNG");
      ASSERT_EQ(back.size(), size);
      ASSERT_EQ(back.format(), format);
      for (int y = 0; y < size.height; ++y)
        ASSERT_EQ(std::memcmp(back.row(y), frame.row(y), std::size_t(row_bytes)), 0);
      EXPECT_EQ(file_kind(folder / "a.PNG"),
                format == PixelFormat::rgb_u16 ? FileKind::flow : FileKind::frame);
    }
}

// The pitch may be odd, larger than a row, or 0 (rows touch).
TEST(Png, IsWrittenFromRowsOfAnyPitch) {
  const Folder folder;
  std::vector<std::uint8_t> pixels(100);
  for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = std::uint8_t(i);
  for (const int pitch : {0, 3, 4, 11}) {
    write_frame(folder / "a.png", {pixels.data(), 3, 5, pitch, PixelFormat::gray_u8});
    const FrameBuffer back = read_frame(folder / "a.png");
    for (int y = 0; y < 5; ++y)
      for (int x = 0; x < 3; ++x) EXPECT_EQ(value_at(back, x, y, 0), unsigned(y * (pitch ? pitch : 3) + x));
  }
}

TEST(Png, HugeHeadersAllocateNothing) {
  const auto zero = [](int, int, int) { return 0u; };
  for (const png_bytes::Header& header :
       {png_bytes::Header{1000000, 1000000, 16, 6}, png_bytes::Header{999999, 999999, 1, 3},
        png_bytes::Header{60000, 60000, 8, 0, true}}) {
    png_bytes::Bytes file = png_bytes::start(header);
    png_bytes::append_chunk(file, "IDAT", png_bytes::zlib_stored(png_bytes::scanlines({}, zero)));
    png_bytes::append_chunk(file, "IEND", {});
    expect_error(ErrorCode::format, "pixels of", [&] { io::decode_frame(file); });
  }
  for (const png_bytes::Header& header :
       {png_bytes::Header{0xffffffff, 0xffffffff}, png_bytes::Header{0x7fffffff, 1}, png_bytes::Header{0, 5},
        png_bytes::Header{5, 0}})
    expect_error(ErrorCode::format, "each side is 1 to 1000000",
                 [&] { io::decode_frame(png_bytes::start(header)); });
}

TEST(Png, WithoutItsEndMarkerAFileIsReadWithANote) {
  const Folder folder;
  const auto pixels = [](int x, int y, int) { return unsigned(x + y); };
  png_bytes::Bytes file = png_bytes::file({9, 5}, pixels);
  std::string note = "old";
  read_frame(folder.with("a.png", file), &note);
  EXPECT_EQ(note, "");
  for (int i = 0; i < 12; ++i) {
    file.pop_back();
    const FrameBuffer frame = read_frame(folder.with("a.png", file), &note);
    for (int x = 0; x < 9; ++x) EXPECT_EQ(value_at(frame, x, 4, 0), pixels(x, 4, 0));
    if (i < 4) continue;  // part of its checksum
    EXPECT_TRUE(note.ends_with("a.png: its end marker (IEND) is missing; all pixels are there")) << i << note;
  }
  file.pop_back();
  expect_error(ErrorCode::format, "before the end of its image", [&] { io::decode_frame(file); });
}

TEST(Png, AnimationsHaveANote) {
  const Folder folder;
  const auto pixels = [](int, int, int) { return 3u; };
  png_bytes::Bytes file = png_bytes::start({4, 4});
  png_bytes::append_chunk(file, "acTL", {0, 0, 0, 2, 0, 0, 0, 0});
  png_bytes::append_chunk(file, "IDAT", png_bytes::zlib_stored(png_bytes::scanlines({4, 4}, pixels)));
  png_bytes::append_chunk(file, "IEND", {});
  std::string note;
  EXPECT_EQ(read_frame(folder.with("a.png", file), &note).size(), (Size{4, 4}));
  EXPECT_TRUE(note.ends_with("a.png: it is an animation, of which only one image is read")) << note;
}

TEST(Png, DamageIsNamed) {
  const auto pixels = [](int, int, int) { return 3u; };
  // Rows for a smaller image than the header's.
  png_bytes::Bytes file = png_bytes::start({4, 4});
  png_bytes::append_chunk(file, "IDAT", png_bytes::zlib_stored(png_bytes::scanlines({4, 3}, pixels)));
  png_bytes::append_chunk(file, "IEND", {});
  expect_error(ErrorCode::format, "damaged PNG file: ", [&] { io::decode_frame(file); });
  // A flipped bit in the pixels.
  file = png_bytes::file({4, 4}, pixels);
  file[60] ^= 1;
  expect_error(ErrorCode::format, "IDAT: ", [&] { io::decode_frame(file); });
  for (const int depth : {0, 3, 32, 193})
    expect_error(ErrorCode::format, std::to_string(depth) + " bits a channel; allowed: 1, 2, 4, 8, 16", [&] {
      io::decode_frame(png_bytes::file({4, 4, depth, 0}, pixels));
    });
  expect_error(ErrorCode::format, "Invalid IHDR data", [&] {
    io::decode_frame(png_bytes::file({4, 4, 8, 1}, pixels));
  });
  // A file cut in half.
  file = png_bytes::file({40, 40}, pixels);
  file.resize(600);
  expect_error(ErrorCode::format, "it ends at byte 600", [&] { io::decode_frame(file); });
}

}  // namespace
}  // namespace parafield

#else

TEST(Png, IsMissing) {
  const parafield::samples::Bytes file = parafield::samples::png({5, 3, 16, 2});
  parafield::expect_error(parafield::ErrorCode::unsupported, "libpng",
                          [&] { parafield::io::decode_frame(file); });
  parafield::expect_error(parafield::ErrorCode::unsupported, "libpng",
                          [&] { parafield::io::decode_flow(file); });
}

#endif
