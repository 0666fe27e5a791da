// SPDX-License-Identifier: MIT
#ifdef PARAFIELD_HAS_TIFF
#include <tiffio.h>

#include <cmath>
#include <limits>

#include "io/folder.hpp"
#include "io/formats.hpp"
#include "io/frame_reader.hpp"
#include "io/samples.hpp"
#include "parafield/io.hpp"

namespace parafield {
namespace {

using samples::Bytes;
using samples::tiff;
using tiff_bytes::File;

/// A channel of a pixel.
double sample_at(const FrameBuffer& frame, int x, int y, int c) {
  const int count = channels(frame.format()), i = x * count + c,
            bytes = bytes_per_pixel(frame.format()) / count;
  const void* const row = frame.row(y);
  return bytes == 1   ? static_cast<const std::uint8_t*>(row)[i]
         : bytes == 2 ? static_cast<const std::uint16_t*>(row)[i]
                      : static_cast<const float*>(row)[i];
}

/// Expects the pattern of samples::tiff.
void expect_pattern(const FrameBuffer& frame, const tiff_bytes::Header& header) {
  const bool rgb = header.photometric == 2, wide = header.bits > 8;
  ASSERT_EQ(frame.size(), (Size{header.width, header.height}));
  if (header.format == 3)
    ASSERT_EQ(frame.format(), rgb ? PixelFormat::rgb_f32 : PixelFormat::gray_f32);
  else
    ASSERT_EQ(frame.format(), io::integer_format(rgb, wide));
  const double largest = std::ldexp(1, header.bits) - 1, full = wide ? 65535 : 255;
  for (int y = 0; y < header.height; ++y)
    for (int x = 0; x < header.width; ++x)
      for (int c = 0; c < (rgb ? 3 : 1); ++c) {
        double expected = samples::tiff_value(header, x, y, c);
        if (header.format == 3) {
          expected = float(expected);
        } else {
          if (header.photometric == 0) expected = largest - expected;
          expected = std::floor(expected * full / largest + 0.5);
        }
        ASSERT_EQ(sample_at(frame, x, y, c), expected) << x << ", " << y << ", " << c;
      }
}

void expect_alpha(const FrameBuffer& found, const tiff_bytes::Header& header, bool has_alpha) {
  ASSERT_EQ(found.size(), has_alpha ? (Size{header.width, header.height}) : Size{});
  for (int y = 0; y < found.size().height; ++y)
    for (int x = 0; x < found.size().width; ++x)
      ASSERT_EQ(sample_at(found, x, y, 0),
                samples::tiff_value(header, x, y, header.samples - 1) != 0 ? 255 : 0)
          << x << ", " << y;
}

TEST(Tiff, PixelsWithTheValueOfGdalNodataAreMissing) {
  struct Case {
    tiff_bytes::Header header;
    double missing;
  };
  for (const Case& each :
       {Case{{.width = 3, .height = 2, .bits = 32, .format = 3, .nodata = "-9999"}, -9999},
        Case{{.width = 3, .height = 2, .bits = 32, .format = 3, .nodata = " -3.4028234663852886e+38"},
             -3.4028234663852886e+38},
        Case{{.width = 3, .height = 2, .bits = 64, .format = 3, .nodata = "-9999.9"}, -9999.9},
        Case{{.width = 3, .height = 2, .bits = 16, .nodata = "65535"}, 65535},
        Case{{.width = 3, .height = 2, .bits = 8, .nodata = "0"}, 0},
        Case{{.width = 3, .height = 2, .bits = 8, .samples = 3, .photometric = 2, .nodata = "0"}, 0}}) {
    const auto value = [&](int x, int y, int c) {
      return x == 1 && (y == 1 || c == 0) ? each.missing : 20.0 + x + 3 * y + c;
    };
    const FrameBuffer frame = io::decode_frame(tiff_bytes::File().add(each.header, value).bytes());
    const int count = channels(frame.format());
    ASSERT_EQ(frame.format(), count == 1 ? PixelFormat::gray_f32 : PixelFormat::rgb_f32);
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 3; ++x)
        for (int c = 0; c < count; ++c) {
          const bool is_missing = x == 1 && (y == 1 || count == 1);
          const float found = float(sample_at(frame, x, y, c));
          EXPECT_EQ(std::isnan(found), is_missing) << each.header.nodata << ' ' << x << ' ' << y;
          if (!is_missing) EXPECT_EQ(found, float(value(x, y, c))) << "all channels decide";
        }
  }
  const auto zero = [](int, int, int) { return 0; };
  for (const char* text : {"none", "", "-9999"}) {
    const FrameBuffer frame = io::decode_frame(tiff_bytes::File().add({.nodata = text}, zero).bytes());
    EXPECT_EQ(sample_at(frame, 0, 0, 0), 0) << text;
  }
}

TEST(Tiff, EveryDepthAndLayout) {
  for (const int photometric : {0, 1, 2})
    for (const bool alpha : {false, true})
      for (const int bits : {1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 14, 15, 16, 32, 64})
        for (const bool separate : {false, true})
          for (const int tile : {0, 16}) {
            if (photometric == 0 && bits > 16) continue;
            tiff_bytes::Header header{
                .width = 19, .height = 21, .bits = bits, .samples = (photometric == 2 ? 3 : 1) + alpha};
            header.format = bits > 16 ? 3 : 1;
            header.photometric = photometric;
            header.separate = separate;
            header.tile = tile;
            SCOPED_TRACE(samples::name_of(header));
            for (const bool big_endian : {false, true})
              for (const bool big_tiff : {false, true}) {
                const Bytes bytes = tiff(header, big_endian, big_tiff);
                expect_pattern(io::decode_frame(bytes), header);
                expect_alpha(io::decode_tiff_alpha(bytes), header, alpha);
              }
          }
}

TEST(Tiff, StripsOfAnyHeight) {
  for (const Size size : {Size{1, 1}, Size{7, 1}, Size{1, 7}, Size{9, 7}})
    for (const int rows : {0, 1, 2, 3, 7, 100}) {
      const tiff_bytes::Header header{.width = size.width, .height = size.height, .rows_per_strip = rows};
      expect_pattern(io::decode_frame(tiff(header)), header);
    }
}

TEST(Tiff, Palettes) {
  for (const int bits : {1, 2, 4, 8}) {
    const tiff_bytes::Header header{.width = 5, .height = 3, .bits = bits, .photometric = 3};
    const FrameBuffer frame = io::decode_frame(tiff(header));
    ASSERT_EQ(frame.format(), PixelFormat::rgb_u8);
    const std::vector<std::uint16_t> palette = samples::tiff_palette(bits);
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 5; ++x)
        for (int c = 0; c < 3; ++c)
          ASSERT_EQ(
              sample_at(frame, x, y, c),
              palette[(std::size_t(c) << bits) + std::size_t(samples::tiff_value(header, x, y, 0))] >> 8);
  }
}

TEST(Tiff, AreTurnedAsTheyAreShown) {
  // The first stored row and column are shown at: top left, top right, bottom right, bottom left; the same,
  // with rows as columns.
  for (const int samples_of_pixel : {1, 3})
    for (const int bits : {8, 16, 32})
      for (int orientation = 1; orientation <= 8; ++orientation) {
        tiff_bytes::Header header{.width = 3, .height = 2, .bits = bits, .samples = samples_of_pixel};
        header.photometric = samples_of_pixel == 3 ? 2 : 1;
        header.format = bits == 32 ? 3 : 1;
        const FrameBuffer stored = io::decode_frame(tiff(header));
        header.orientation = orientation;
        const FrameBuffer frame = io::decode_frame(tiff(header));
        const bool transposed = orientation >= 5;
        ASSERT_EQ(frame.size(), transposed ? (Size{2, 3}) : (Size{3, 2}));
        const int place = (orientation - 1) % 4;
        const bool right = place == 1 || place == 2, bottom = place == 2 || place == 3;
        for (int y = 0; y < 2; ++y)
          for (int x = 0; x < 3; ++x) {
            const int across = transposed ? y : x, down = transposed ? x : y;
            const int to_x = right ? frame.size().width - 1 - across : across,
                      to_y = bottom ? frame.size().height - 1 - down : down;
            for (int c = 0; c < samples_of_pixel; ++c)
              ASSERT_EQ(sample_at(frame, to_x, to_y, c), sample_at(stored, x, y, c))
                  << orientation << ": " << x << ", " << y;
          }
      }
}

TEST(Tiff, AreReadByPath) {
  const Folder folder;
  const auto path = folder.with("a.tif", tiff({.width = 5, .height = 3}));
  EXPECT_EQ(file_kind(path), FileKind::frame);
  EXPECT_EQ(read_frame(path).size(), (Size{5, 3}));
  FrameReader reader(path);
  EXPECT_TRUE(reader.next());
  EXPECT_FALSE(reader.next());
  expect_error(ErrorCode::format, "an image (TIFF), not a flow field", [&] { read_flow(path); });
}

TEST(Tiff, AlphaIsReadByPathAndTurned) {
  const Folder folder;
  const tiff_bytes::Header header{.width = 3, .height = 2, .samples = 4, .photometric = 2, .orientation = 6};
  const auto value = [](int x, int y, int c) { return c == 3 && x == 2 && y == 0 ? 0 : 9; };
  const auto alpha = read_alpha(folder.with("a.tif", tiff_bytes::File().add(header, value).bytes()));
  ASSERT_EQ(alpha.size(), (Size{2, 3}));
  for (int y = 0; y < 3; ++y)
    for (int x = 0; x < 2; ++x) EXPECT_EQ(alpha(x, y), x == 1 && y == 2 ? 0 : 1) << x << ", " << y;
  EXPECT_FALSE(read_alpha(folder.with("b.tif", tiff({.width = 5, .height = 3}))));
  EXPECT_FALSE(
      read_alpha(folder.with("c.tif", tiff_bytes::File().add(header, value).add(header, value).bytes())))
      << "several images";
}

TEST(Tiff, OverviewsAndMasksDoNotCount) {
  const auto value = [](int x, int y, int) { return 10 * y + x; };
  const tiff_bytes::Header image{.width = 5, .height = 3}, overview{.width = 2, .height = 1, .kind = 1},
      mask{.width = 5, .height = 3, .bits = 1, .photometric = 4, .kind = 4},
      page{.width = 4, .height = 4, .kind = 2};
  const auto zero = [](int, int, int) { return 0; };
  for (const bool big_tiff : {false, true}) {
    const auto expect_image = [&](const File& file, Size size) {
      EXPECT_EQ(io::decode_frame(file.bytes()).size(), size);
    };
    expect_image(File(false, big_tiff).add(image, value).add(overview, zero).add(mask, zero), {5, 3});
    expect_image(File(true, big_tiff).add(overview, zero).add(mask, zero).add(image, value), {5, 3});
    expect_image(File(true, big_tiff).add(overview, zero).add(page, value), {4, 4});
    expect_error(ErrorCode::format, "holds more than one frame; FrameSource reads one after the other", [&] {
      io::decode_frame(File(true, big_tiff).add(image, value).add(overview, zero).add(page, value).bytes());
    });
    expect_error(ErrorCode::format, "a TIFF file without an image in full resolution",
                 [&] { io::decode_frame(File(true, big_tiff).add(overview, zero).bytes()); });
  }
}

TEST(Tiff, PagesAreASequence) {
  const tiff_bytes::Header overview{.width = 2, .height = 1, .kind = 1},
      page{.width = 4, .height = 3, .kind = 2};
  const auto zero = [](int, int, int) { return 0; };
  File file;
  constexpr int pages = 1200;
  for (int i = 0; i < pages; ++i)
    file.add(page, [i](int x, int y, int) { return (i + 10 * y + x) % 256; }).add(overview, zero);
  const Folder folder;
  FrameReader reader(folder.with("stack.tif", file.bytes()));
  for (int i = 0; i < pages; ++i) {
    const auto frame = reader.next();
    ASSERT_TRUE(frame);
    ASSERT_EQ(frame->size(), (Size{4, 3}));
    ASSERT_EQ(sample_at(*frame, 3, 2, 0), (i + 23) % 256);
  }
  EXPECT_FALSE(reader.next());

  // Pages may differ in type. The message of a damaged one has its number.
  Bytes mixed = File().add(page, zero).add({.width = 4, .height = 3, .bits = 16}, zero).bytes();
  FrameReader other(folder.with("mixed.tif", mixed));
  EXPECT_EQ(other.next()->format(), PixelFormat::gray_u8);
  EXPECT_EQ(other.next()->format(), PixelFormat::gray_u16);
  const Bytes cut = File().add(page, zero).add({.claimed_width = 2'000'000}, zero).bytes();
  FrameReader damaged(folder.with("cut.tif", cut));
  EXPECT_TRUE(damaged.next());
  expect_error(ErrorCode::format, "frame 2: a TIFF file of 2000000x1 pixels", [&] { damaged.next(); });
}

TEST(Tiff, IntegersAndHalves) {
  const auto expect = [](tiff_bytes::Header header, const std::vector<double>& values) {
    for (const bool big_endian : {false, true}) {
      header.width = int(values.size());
      const auto value = [&](int x, int, int) { return values[std::size_t(x)]; };
      const FrameBuffer frame = io::decode_frame(File(big_endian).add(header, value).bytes());
      ASSERT_EQ(frame.format(), PixelFormat::gray_f32);
      for (int x = 0; x < header.width; ++x) EXPECT_EQ(sample_at(frame, x, 0, 0), values[std::size_t(x)]);
    }
  };
  expect({.bits = 8, .format = 2}, {-128, -1, 0, 127});
  expect({.bits = 16, .format = 2}, {-32768, -1, 0, 32767});
  expect({.bits = 32, .format = 2}, {-16777216, -1, 0, 65536});
  expect({.bits = 32}, {0, 65536, 4294967040.0});
  expect({.bits = 16, .format = 3}, {-1.5, 0, 0.25, 2048});
}

/// A file in memory that libtiff writes.
struct Written {
  Bytes bytes;
  std::uint64_t at = 0;

  TIFF* open() {
    return TIFFClientOpen(
        "a.tif", "w", this, [](thandle_t, void*, tmsize_t) { return tmsize_t(0); },
        [](thandle_t handle, void* data, tmsize_t count) {
          auto& file = *static_cast<Written*>(handle);
          file.bytes.resize(std::max<std::size_t>(file.bytes.size(), file.at + std::size_t(count)));
          std::copy_n(static_cast<const std::uint8_t*>(data), count,
                      file.bytes.begin() + std::ptrdiff_t(file.at));
          file.at += std::uint64_t(count);
          return count;
        },
        [](thandle_t handle, toff_t offset, int from) {
          auto& file = *static_cast<Written*>(handle);
          file.at = offset + (from == SEEK_CUR ? file.at : from == SEEK_END ? file.bytes.size() : 0);
          return toff_t(file.at);
        },
        [](thandle_t) { return 0; },
        [](thandle_t handle) { return toff_t(static_cast<Written*>(handle)->bytes.size()); }, nullptr,
        nullptr);
  }
};

/// A file that libtiff compresses; empty where it cannot. value(x, y, channel) is a number.
template <class Value>
Bytes compressed(const tiff_bytes::Header& header, int compression, int predictor, Value value) {
  if (!TIFFIsCODECConfigured(std::uint16_t(compression))) return {};
  Written file;
  TIFF* const tiff = file.open();
  TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, header.width);
  TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, header.height);
  TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, header.bits);
  TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, header.samples);
  TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, header.format);
  TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, header.photometric);
  TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
  TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, compression == COMPRESSION_JBIG ? header.height : 16);
  TIFFSetField(tiff, TIFFTAG_COMPRESSION, compression);
  if (predictor > 1) TIFFSetField(tiff, TIFFTAG_PREDICTOR, predictor);
  if (compression == COMPRESSION_WEBP) TIFFSetField(tiff, TIFFTAG_WEBP_LOSSLESS, 1);
  if (header.photometric == PHOTOMETRIC_YCBCR) TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  const auto row_bytes = std::size_t(TIFFScanlineSize(tiff));
  const int strip_rows = compression == COMPRESSION_JBIG ? header.height : 16;
  for (int first = 0; first < header.height; first += strip_rows) {
    const int rows = std::min(strip_rows, header.height - first);
    Bytes strip(row_bytes * std::size_t(rows));
    for (int y = 0; y < rows; ++y)
      for (int x = 0; x < header.width; ++x)
        for (int c = 0; c < header.samples; ++c) {
          std::uint8_t* const row = strip.data() + row_bytes * std::size_t(y);
          const int i = x * header.samples + c;
          const double number = value(x, first + y, c);
          if (header.bits == 1) row[i / 8] |= std::uint8_t(unsigned(number) << (7 - i % 8));
          if (header.bits == 8) row[i] = std::uint8_t(number);
          if (header.bits == 16) reinterpret_cast<std::uint16_t*>(row)[i] = std::uint16_t(number);
          if (header.bits == 32) reinterpret_cast<float*>(row)[i] = float(number);
        }
    EXPECT_EQ(
        TIFFWriteEncodedStrip(tiff, std::uint32_t(first / strip_rows), strip.data(), tmsize_t(strip.size())),
        tmsize_t(strip.size()));
  }
  TIFFClose(tiff);
  return file.bytes;
}

TEST(Tiff, CompressionsWithoutLoss) {
  TIFFSetWarningHandler(nullptr);
  int read = 0;
  for (const int compression :
       {COMPRESSION_NONE, COMPRESSION_CCITTRLE, COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4, COMPRESSION_LZW,
        COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE, COMPRESSION_PACKBITS, COMPRESSION_LZMA,
        COMPRESSION_ZSTD, COMPRESSION_LERC, COMPRESSION_WEBP, COMPRESSION_JBIG})
    for (const auto& [bits, samples_of_pixel] :
         {std::pair{1, 1}, {8, 1}, {8, 3}, {8, 4}, {16, 1}, {16, 3}, {32, 1}, {32, 3}})
      for (const int predictor : {1, 2}) {
        const bool black_and_white = compression <= COMPRESSION_CCITTFAX4 && compression > COMPRESSION_NONE;
        const bool predicts = compression == COMPRESSION_LZW || compression == COMPRESSION_ADOBE_DEFLATE ||
                              compression == COMPRESSION_ZSTD || compression == COMPRESSION_LZMA;
        if ((black_and_white || compression == COMPRESSION_JBIG) && bits != 1) continue;
        if (compression == COMPRESSION_WEBP && (bits != 8 || samples_of_pixel != 3)) continue;
        if (compression == COMPRESSION_LERC && bits == 1) continue;
        if (predictor == 2 && (bits == 1 || !predicts)) continue;
        tiff_bytes::Header header{.width = 37, .height = 29, .bits = bits, .samples = samples_of_pixel};
        header.photometric = samples_of_pixel >= 3 ? 2 : 1;
        header.format = bits == 32 ? 3 : 1;
        const int used = predictor == 2 && bits == 32 ? 3 : predictor;
        const Bytes file = compressed(header, compression, used, [&](int x, int y, int c) {
          return samples::tiff_value(header, x, y, c);
        });
        SCOPED_TRACE(testing::Message() << compression << ", " << bits << " bit, " << samples_of_pixel);
        if (file.empty()) continue;
        expect_pattern(io::decode_frame(file), header);
        ++read;
      }
  EXPECT_GT(read, 40);
}

TEST(Tiff, Jpeg) {
  const auto value = [](int x, int y, int c) { return 40 * c + 2 * x + 2 * y; };  // smooth: little is lost
  for (const int photometric : {1, 2, 6}) {
    tiff_bytes::Header header{.width = 37, .height = 29, .samples = photometric == 1 ? 1 : 3};
    header.photometric = photometric;
    const Bytes file = compressed(header, COMPRESSION_JPEG, 1, value);
    if (file.empty()) GTEST_SKIP() << "skipped: libtiff without JPEG";
    const FrameBuffer frame = io::decode_frame(file);
    ASSERT_EQ(frame.format(), photometric == 1 ? PixelFormat::gray_u8 : PixelFormat::rgb_u8);
    for (int y = 0; y < header.height; ++y)
      for (int x = 0; x < header.width; ++x)
        for (int c = 0; c < header.samples; ++c)
          ASSERT_NEAR(sample_at(frame, x, y, c), value(x, y, c), 8) << photometric;
  }
}

TEST(Tiff, CmykBecomesRgb) {
  const int inks[3][4] = {{0, 0, 0, 0}, {255, 51, 0, 102}, {0, 0, 0, 255}};
  for (const bool separate : {false, true}) {
    const Bytes bytes =
        tiff_bytes::File()
            .add({.width = 3, .height = 1, .samples = 4, .photometric = 5, .separate = separate},
                 [&](int x, int, int c) { return inks[x][c]; })
            .bytes();
    const FrameBuffer frame = io::decode_frame(bytes);
    ASSERT_EQ(frame.format(), PixelFormat::rgb_u8);
    for (int x = 0; x < 3; ++x)
      for (int c = 0; c < 3; ++c)
        EXPECT_NEAR(sample_at(frame, x, 0, c), (255 - inks[x][c]) * (255 - inks[x][3]) / 255.0, 1)
            << x << ", " << c;
  }
}

TEST(Tiff, OtherKindsAreNamed) {
  const auto expect = [](tiff_bytes::Header header, std::string_view part) {
    header.width = header.height = 3;
    expect_error(ErrorCode::unsupported, part, [&] { io::decode_frame(tiff(header)); });
  };
  expect({.bits = 16, .samples = 4, .photometric = 5},
         "a TIFF file with CMYK colors of 16 bits is not supported; gray, palette and RGB of 1");
  expect({.photometric = 32803}, "with colors of the kind 32803");
  expect({.samples = 3}, "of 3 channels");
  expect({.samples = 5, .photometric = 2}, "of 5 channels");
  expect({.bits = 24, .format = 2}, "of 24-bit signed integers");
  expect({.bits = 24, .format = 3}, "of 24-bit floats");
  expect({.bits = 24}, "of 24 bits");
  expect({.bits = 32, .format = 3, .photometric = 0}, "of 32-bit floats where 0 is white");
  expect({.bits = 16, .format = 2, .photometric = 0}, "of 16-bit signed integers where 0 is white");
  expect({.bits = 32, .photometric = 0}, "of 32 bits where 0 is white");
  expect({.compression = 12345}, "with the compression 12345 is not supported by this libtiff");
}

TEST(Tiff, DamageIsNamed) {
  const auto expect = [](const Bytes& bytes, std::string_view part) {
    expect_error(ErrorCode::format, part, [&] { io::decode_frame(bytes); });
  };
  const Bytes sound = tiff({.width = 5, .height = 3});
  expect({'I', 'I', 42, 0}, "damaged TIFF file: ");
  expect({sound.begin(), sound.end() - 20}, "damaged TIFF file: ");
  // A list of images that leads back to the first one ends there.
  Bytes loop = sound;
  std::copy_n(loop.begin() + 4, 4, loop.end() - 4);
  EXPECT_EQ(io::decode_frame(loop).size(), (Size{5, 3}));
  for (const bool big : {false, true}) {
    expect(tiff({.claimed_width = 2'000'000}, big),
           "a TIFF file of 2000000x1 pixels; each side is 1 to 1000000");
    expect(tiff({.rows_per_strip = 0, .claimed_width = 100'000, .claimed_height = 5'000}, big),
           "100000x5000 pixels of 8 bits do not fit into its");
  }
  expect_error(ErrorCode::unsupported, "a TIFF file of 100000x6000 pixels is too large: at most 536870912",
               [] {
                 io::decode_frame(tiff({.bits = 1,
                                        .compression = COMPRESSION_CCITTFAX4,
                                        .claimed_width = 100'000,
                                        .claimed_height = 6'000}));
               });
  expect_error(ErrorCode::unsupported,
               "a TIFF file with strips of 2400000000 bytes is not supported; at most", [] {
                 io::decode_frame(tiff({.bits = 64,
                                        .format = 3,
                                        .rows_per_strip = 3000,
                                        .compression = COMPRESSION_LZMA,
                                        .claimed_width = 100'000,
                                        .claimed_height = 3'000}));
               });
}

}  // namespace
}  // namespace parafield
#endif
