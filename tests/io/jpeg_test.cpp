// SPDX-License-Identifier: MIT
#include "io/folder.hpp"
#include "io/formats.hpp"
#include "io/samples.hpp"
#include "parafield/io.hpp"

#ifdef PARAFIELD_HAS_JPEG

namespace parafield {
namespace {

using samples::jpeg;

int at(const FrameBuffer& frame, int x, int y, int c = 0) {
  return static_cast<const std::uint8_t*>(frame.row(y))[x * channels(frame.format()) + c];
}

/// Expects the blocks of samples::jpeg.
void expect_pixels(const FrameBuffer& frame, const jpeg_bytes::Header& header) {
  ASSERT_EQ(frame.size(), (Size{header.width, header.height}));
  ASSERT_EQ(frame.format(), header.channels == 1 ? PixelFormat::gray_u8 : PixelFormat::rgb_u8);
  for (int y = 0; y < header.height; ++y)
    for (int x = 0; x < header.width; ++x)
      for (int c = 0; c < header.channels; ++c)
        ASSERT_EQ(at(frame, x, y, c), int(samples::pattern(x / 8, y / 8, c, 8)))
            << x << ", " << y << ", " << c;
}

TEST(Jpeg, HandMadeFiles) {
  for (const bool progressive : {false, true})
    for (const int channels : {1, 3})
      for (const Size size : {Size{1, 1}, Size{8, 8}, Size{9, 8}, Size{7, 17}, Size{50, 30}}) {
        const jpeg_bytes::Header header{size.width, size.height, channels, progressive};
        expect_pixels(io::decode_frame(jpeg(header)), header);
      }
}

TEST(Jpeg, CmykBecomesRgb) {
  for (const bool adobe : {false, true})
    for (const bool progressive : {false, true}) {
      const jpeg_bytes::Header header{
          .width = 20, .height = 9, .channels = 4, .progressive = progressive, .adobe = adobe};
      const FrameBuffer frame = io::decode_frame(jpeg(header));
      ASSERT_EQ(frame.size(), (Size{20, 9}));
      ASSERT_EQ(frame.format(), PixelFormat::rgb_u8);
      const auto light = [&](int x, int y, int c) {
        const int stored = int(samples::pattern(x / 8, y / 8, c, 8));
        return adobe ? stored : 255 - stored;
      };
      for (int y = 0; y < 9; ++y)
        for (int x = 0; x < 20; ++x)
          for (int c = 0; c < 3; ++c)
            ASSERT_EQ(at(frame, x, y, c), (light(x, y, c) * light(x, y, 3) + 127) / 255) << x << ", " << y;
    }
}

TEST(Jpeg, FramesAreWritten) {
  const Folder folder;
  for (const char* name : {"a.jpg", "a.JPEG"})
    for (const PixelFormat format : {PixelFormat::gray_u8, PixelFormat::rgb_u8})
      for (const Size size : {Size{1, 1}, Size{8, 8}, Size{37, 29}, Size{400, 300}}) {
        FrameBuffer frame(size, format);
        // Colors change from pixel to pixel: averaged over two pixels they would be lost.
        const auto value = [&](int x, int y, int c) {
          return c == 0 ? 40 + x * 150 / size.width : c == 1 ? 60 + y * 150 / size.height : x % 2 ? 90 : 140;
        };
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x)
            for (int c = 0; c < channels(format); ++c)
              static_cast<std::uint8_t*>(frame.row(y))[x * channels(format) + c] =
                  std::uint8_t(value(x, y, c));
        write_frame(folder / name, frame);
        const FrameBuffer back = read_frame(folder / name);
        ASSERT_EQ(back.size(), size);
        ASSERT_EQ(back.format(), format);
        for (int y = 0; y < size.height; ++y)
          for (int x = 0; x < size.width; ++x)
            for (int c = 0; c < channels(format); ++c) ASSERT_NEAR(at(back, x, y, c), value(x, y, c), 8);
      }
}

TEST(Jpeg, FramesThatAreTooLargeAreNotWritten) {
  const Folder folder;
  expect_error(ErrorCode::invalid_argument,
               "a frame of 65501x1 pixels cannot be written as JPEG; each side is at most 65500", [&] {
                 write_frame(folder / "a.jpg", FrameBuffer({65501, 1}, PixelFormat::gray_u8));
               });
  EXPECT_EQ(folder.files(), 0);
  write_frame(folder / "a.jpg", FrameBuffer({65500, 1}, PixelFormat::gray_u8));
  EXPECT_EQ(read_frame(folder / "a.jpg").size(), (Size{65500, 1}));
}

TEST(Jpeg, SubsampledColor) {
  const jpeg_bytes::Header header{32, 16, 3, false, 2};
  const samples::Bytes file =
      jpeg_bytes::file(header, [](int x, int y, int c) { return c == 0 ? 16 * x + y : 77; });
  const FrameBuffer frame = io::decode_frame(file);
  ASSERT_EQ(frame.size(), (Size{32, 16}));
  EXPECT_EQ(at(frame, 31, 15, 0), 16 * 3 + 1);
  EXPECT_EQ(at(frame, 9, 2, 0), 16);
  EXPECT_EQ(at(frame, 31, 15, 1), 77);
}

TEST(Jpeg, AreReadByPath) {
  const Folder folder;
  const auto path = folder.with("frame", jpeg({20, 10}));
  EXPECT_EQ(file_kind(path), FileKind::frame);
  EXPECT_EQ(read_frame(path).size(), (Size{20, 10}));
  EXPECT_EQ(read_mask(path).size(), (Size{20, 10}));
  expect_error(ErrorCode::format, "an image (JPEG), not a flow field", [&] { read_flow(path); });
}

/// Place at which the stored pixel (x, y) of an image of `size` is shown (EXIF 2.32, 4.6.4).
std::pair<int, int> shown_at(int orientation, Size size, int x, int y) {
  const int right = size.width - 1 - x, below = size.height - 1 - y;
  switch (orientation) {
    case 2:
      return {right, y};
    case 3:
      return {right, below};
    case 4:
      return {x, below};
    case 5:
      return {y, x};
    case 6:  // a quarter to the right
      return {below, x};
    case 7:
      return {below, right};
    case 8:  // a quarter to the left
      return {y, right};
    default:
      return {x, y};
  }
}

void expect_turned(const FrameBuffer& frame, const FrameBuffer& stored, int orientation) {
  const auto [width, height] = stored.size();
  ASSERT_EQ(frame.size(), orientation >= 5 ? (Size{height, width}) : (Size{width, height}));
  ASSERT_EQ(frame.format(), stored.format());
  const int bytes = bytes_per_pixel(stored.format());
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      const auto [to_x, to_y] = shown_at(orientation, stored.size(), x, y);
      for (int i = 0; i < bytes; ++i)
        ASSERT_EQ(static_cast<const std::uint8_t*>(frame.row(to_y))[to_x * bytes + i],
                  static_cast<const std::uint8_t*>(stored.row(y))[x * bytes + i])
            << orientation << ": " << x << ", " << y;
    }
}

TEST(Jpeg, AreTurnedAsExifSays) {
  for (const int channels : {1, 3}) {
    const jpeg_bytes::Header header{27, 18, channels};
    const FrameBuffer stored = io::decode_frame(jpeg(header));
    for (const bool big_endian : {false, true})
      for (int orientation = 1; orientation <= 8; ++orientation) {
        const auto exif = jpeg_bytes::exif_segment(jpeg_bytes::exif(orientation, big_endian));
        expect_turned(io::decode_frame(jpeg(header, exif)), stored, orientation);
      }
  }
}

TEST(Jpeg, DamagedExifIsIgnored) {
  EXPECT_EQ(io::exif_orientation({}), 1);
  const samples::Bytes sound = jpeg_bytes::exif(6, false);
  ASSERT_EQ(io::exif_orientation(sound), 6);
  for (std::size_t count = 0; count < sound.size(); ++count) {
    const std::vector<std::uint8_t> cut(sound.begin(), sound.begin() + std::ptrdiff_t(count));
    EXPECT_EQ(io::exif_orientation(cut), count < 32 ? 1 : 6) << count;
  }
  for (std::size_t at = 0; at < sound.size(); ++at)
    for (int value = 0; value < 256; ++value) {
      samples::Bytes damaged = sound;
      damaged[at] = std::uint8_t(value);
      const int orientation = io::exif_orientation(damaged);
      EXPECT_TRUE(orientation >= 1 && orientation <= 8);
    }
  for (const int orientation : {0, 9, 255}) {
    const auto exif = jpeg_bytes::exif_segment(jpeg_bytes::exif(orientation, true));
    EXPECT_EQ(io::decode_frame(jpeg({9, 17}, exif)).size(), (Size{9, 17}));
  }
}

TEST(Jpeg, OtherKindsAreNamed) {
  const auto expect = [](const jpeg_bytes::Header& header, std::string_view part) {
    expect_error(ErrorCode::unsupported, part, [&] { io::decode_frame(jpeg(header)); });
  };
  expect({8, 8, 2}, "2 channels of unknown color");
  expect({.precision = 12}, "12");
  expect({.kind = 0xc9}, "arithmetic coding");
  expect({.kind = 0xc3}, "a kind that is not supported");
}

TEST(Jpeg, DamageIsNamed) {
  const auto expect = [](const samples::Bytes& bytes, std::string_view part) {
    expect_error(ErrorCode::format, part, [&] { io::decode_frame(bytes); });
  };
  const samples::Bytes sound = jpeg({50, 30, 3});
  for (const std::size_t count : {std::size_t(3), std::size_t(30), sound.size() / 2, sound.size() - 4})
    expect({sound.begin(), sound.begin() + std::ptrdiff_t(count)},
           "it ends at byte " + std::to_string(count));
  samples::Bytes damaged = sound;
  damaged.insert(damaged.end() - 2, 40, 1);
  expect(damaged, "damaged JPEG file: Corrupt JPEG data: ");
  // An end of image between the pixels.
  damaged = sound;
  damaged[sound.size() - 20] = 0xff;
  damaged[sound.size() - 19] = 0xd9;
  expect(damaged, "damaged JPEG file: Corrupt JPEG data: premature end of data segment");
  expect({0xff, 0xd8, 0xff, 0xd9}, "damaged JPEG file: JPEG datastream contains no image");
}

TEST(Jpeg, WithoutItsEndMarkerAFileIsReadWithANote) {
  const Folder folder;
  std::string note;
  for (const int channels : {1, 3}) {
    const jpeg_bytes::Header header{50, 30, channels};
    samples::Bytes file = jpeg(header);
    EXPECT_EQ(io::note_jpeg(file), "");
    for (const int missing : {1, 2}) {
      file.pop_back();
      expect_pixels(read_frame(folder.with("a.jpg", file), &note), header);
      EXPECT_TRUE(note.ends_with("a.jpg: its end marker (EOI) is missing; all pixels are there"))
          << missing << note;
    }
  }
  // A file that is cut anywhere gives the pixels of the whole file or an error.
  for (const bool progressive : {false, true}) {
    const jpeg_bytes::Header header{40, 24, 3, progressive};
    const samples::Bytes file = jpeg(header);
    for (std::size_t count = 4; count < file.size(); ++count) {
      SCOPED_TRACE(count);
      try {
        expect_pixels(io::decode_frame({file.begin(), file.begin() + std::ptrdiff_t(count)}), header);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::format);
      }
    }
  }
}

TEST(Jpeg, FilesOfWebcamsAreRead) {
  const jpeg_bytes::Header header{20, 20};
  samples::Bytes file = jpeg(header);
  file.insert(file.end() - 2, 2, 0);  // before the end of the image
  file.insert(file.end(), 100, 7);    // and after it
  expect_pixels(io::decode_frame(file), header);
}

// A small file can ask for limited memory and time only.
TEST(Jpeg, BombsAreRefused) {
  samples::Bytes file = jpeg({8, 8});
  const auto size_at = [&] {
    for (std::size_t at = 2; at + 4 < file.size(); ++at)
      if (file[at] == 0xff && file[at + 1] == 0xc0) return at + 5;
    return file.size();
  }();
  for (const std::size_t i : {0, 2}) {
    file[size_at + i] = 0xff;
    file[size_at + i + 1] = 0xdc;
  }
  expect_error(ErrorCode::format, "65500x65500 pixels do not fit into its", [&] { io::decode_frame(file); });
  file.resize(8'500'000);
  expect_error(ErrorCode::unsupported, "65500x65500 pixels is too large: at most 536870912",
               [&] { io::decode_frame(file); });

  jpeg_bytes::Header header{16, 16, 1, true};
  header.refinements = 98;  // with the first two: 100
  expect_pixels(io::decode_frame(jpeg(header)), header);
  ++header.refinements;
  expect_error(ErrorCode::unsupported, "more than 100 scans", [&] { io::decode_frame(jpeg(header)); });
}

#ifdef PARAFIELD_HAS_PNG
TEST(Png, ExifIsRespected) {
  for (const png_bytes::Header& header : samples::png_headers(5, 3)) {
    if (header.color_type == 3) continue;
    const auto value = [&](int x, int y, int c) { return samples::pattern(x, y, c, header.bit_depth); };
    const FrameBuffer stored = io::decode_frame(png_bytes::file(header, value));
    for (int orientation = 1; orientation <= 8; ++orientation) {
      const auto file =
          png_bytes::file(header, value, {.exif = jpeg_bytes::exif(orientation, orientation % 2)});
      expect_turned(io::decode_frame(file), stored, orientation);
      // Flow fields are never rotated, because their vectors would need a rotation, too.
      if (header.bit_depth == 16 && header.color_type == 2) {
        EXPECT_EQ(io::decode_flow(file).size(), stored.size());
      }
    }
    const FrameBuffer frame = io::decode_frame(png_bytes::file(header, value, {.exif = {'I', 'I', 42}}));
    expect_turned(frame, stored, 1);
  }
}
#endif

}  // namespace
}  // namespace parafield

#endif
