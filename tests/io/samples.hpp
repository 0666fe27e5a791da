// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <bit>
#include <string>
#include <string_view>
#include <vector>

#include "io/bmp_bytes.hpp"
#include "io/exr_bytes.hpp"
#include "io/jpeg_bytes.hpp"
#include "io/npz_bytes.hpp"
#include "io/png_bytes.hpp"
#include "io/tiff_bytes.hpp"

/// Small files of every kind that parafield reads: tests damage them, and fuzzing starts from them.
namespace parafield::samples {

using Bytes = std::vector<std::uint8_t>;

struct Sample {
  std::string name;
  Bytes bytes;
};

inline Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

inline Bytes joined(std::string_view text, const Bytes& bytes) {
  Bytes all(text.size() + bytes.size());
  std::copy(bytes.begin(), bytes.end(), std::copy(text.begin(), text.end(), all.begin()));
  return all;
}

inline void append_le(Bytes& bytes, std::uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) bytes.push_back(std::uint8_t(value >> shift));
}

/// A .flo file. `values` are u and v of each pixel.
inline Bytes flo(std::int32_t width, std::int32_t height, const std::vector<float>& values) {
  Bytes bytes = bytes_of("PIEH");
  append_le(bytes, std::uint32_t(width));
  append_le(bytes, std::uint32_t(height));
  for (const float value : values) append_le(bytes, std::bit_cast<std::uint32_t>(value));
  return bytes;
}

/// A .pfm file. `values` are in the order of the file.
inline Bytes pfm(std::string_view header, const std::vector<float>& values, bool big_endian = false) {
  Bytes bytes = bytes_of(header);
  for (const float value : values) {
    append_le(bytes, std::bit_cast<std::uint32_t>(value));
    if (big_endian) std::reverse(bytes.end() - 4, bytes.end());
  }
  return bytes;
}

/// A .npy file: the dictionary of the header and the bytes of the values.
inline Bytes npy(std::string_view dictionary, const Bytes& values, int version = 1) {
  Bytes bytes = {0x93, 'N', 'U', 'M', 'P', 'Y', std::uint8_t(version), 0};
  append_le(bytes, std::uint32_t(dictionary.size()));
  if (version == 1) bytes.resize(bytes.size() - 2);
  bytes.insert(bytes.end(), dictionary.begin(), dictionary.end());
  bytes.insert(bytes.end(), values.begin(), values.end());
  return bytes;
}

inline std::string npy_header(std::string_view type, std::string_view shape, bool fortran_order = false) {
  return "{'descr': '" + std::string(type) + "', 'fortran_order': " + (fortran_order ? "True" : "False") +
         ", 'shape': " + std::string(shape) + ", }     \n";
}

inline Bytes floats(const std::vector<float>& values) { return pfm("", values); }
inline Bytes halves(const std::vector<float>& values) {
  Bytes bytes;
  for (const float value : values) {
    const std::uint16_t half = exr_bytes::half_of(value);
    bytes.push_back(std::uint8_t(half));
    bytes.push_back(std::uint8_t(half >> 8));
  }
  return bytes;
}
inline Bytes doubles(const std::vector<double>& values) {
  Bytes bytes;
  for (const double value : values) {
    append_le(bytes, std::uint32_t(std::bit_cast<std::uint64_t>(value)));
    append_le(bytes, std::uint32_t(std::bit_cast<std::uint64_t>(value) >> 32));
  }
  return bytes;
}

/// Value of a channel, different for neighbors.
inline unsigned pattern(int x, int y, int channel, int bit_depth) {
  return (unsigned(x) * 40503u + unsigned(y) * 10007u + unsigned(channel) * 30011u + 12345u) >> 2 &
         (bit_depth < 32 ? (1u << bit_depth) - 1 : ~0u);
}

/// A palette of 2^depth colors.
inline Bytes palette(int bit_depth) {
  Bytes colors;
  for (int i = 0; i < 3 << bit_depth; ++i) colors.push_back(std::uint8_t(i * 37 + 11));
  return colors;
}

inline Bytes png(png_bytes::Header header) {
  const auto value = [&](int x, int y, int c) { return pattern(x, y, c, header.bit_depth); };
  png_bytes::Chunks chunks;
  if (header.color_type == 3) chunks = {palette(header.bit_depth), {0, 128}};
  return png_bytes::file(header, value, chunks);
}

/// Every depth, color type and interlacing that PNG has.
inline std::vector<png_bytes::Header> png_headers(std::uint32_t width, std::uint32_t height) {
  std::vector<png_bytes::Header> headers;
  for (const bool interlaced : {false, true})
    for (const int color_type : {0, 2, 3, 4, 6})
      for (const int depth : {1, 2, 4, 8, 16}) {
        if (depth < 8 && color_type != 0 && color_type != 3) continue;
        if (depth == 16 && color_type == 3) continue;
        headers.push_back({width, height, depth, color_type, interlaced});
      }
  return headers;
}

inline std::string name_of(const png_bytes::Header& header) {
  return "type" + std::to_string(header.color_type) + "_depth" + std::to_string(header.bit_depth) +
         (header.interlaced ? "_interlaced" : "") + ".png";
}

inline std::vector<Sample> pngs() {
  std::vector<Sample> list;
  for (const png_bytes::Header& header : png_headers(5, 3)) list.push_back({name_of(header), png(header)});
  return list;
}

inline Bytes jpeg(const jpeg_bytes::Header& header, const Bytes& segments = {}) {
  return jpeg_bytes::file(
      header, [](int x, int y, int c) { return int(pattern(x, y, c, 8)); }, segments);
}

inline std::vector<Sample> jpegs() {
  return {
      {"gray.jpg", jpeg({10, 9})},
      {"rgb.jpg", jpeg({9, 10, 3}, jpeg_bytes::exif_segment(jpeg_bytes::exif(6, true)))},
      {"subsampled.jpg", jpeg({17, 4, 3, false, 2})},
      {"cmyk.jpg", jpeg({9, 10, 4})},
      {"cmyk_ink.jpg", jpeg({.width = 17, .height = 3, .channels = 4, .adobe = false})},
      {"progressive.jpg", jpeg({12, 5, 3, true}, jpeg_bytes::exif_segment(jpeg_bytes::exif(3, false)))},
  };
}

/// A value of a TIFF file.
inline double tiff_value(const tiff_bytes::Header& header, int x, int y, int channel) {
  if (header.format == 3) return 0.1 * x - 30.5 * y + 1000 * channel;
  return pattern(x, y, channel, header.bits);
}

/// Reds, greens and blues of a TIFF file's palette.
inline std::vector<std::uint16_t> tiff_palette(int bits) {
  std::vector<std::uint16_t> colors;
  for (int i = 0; i < 3 << bits; ++i) colors.push_back(std::uint16_t(i * 9001 + 300));
  return colors;
}

inline Bytes tiff(const tiff_bytes::Header& header, bool big_endian = false, bool big_tiff = false) {
  const auto value = [&](int x, int y, int c) { return tiff_value(header, x, y, c); };
  const bool has_palette = header.photometric == 3;
  return tiff_bytes::File(big_endian, big_tiff)
      .add(header, value, has_palette ? tiff_palette(header.bits) : std::vector<std::uint16_t>())
      .bytes();
}

inline std::string name_of(const tiff_bytes::Header& header) {
  return std::to_string(header.samples) + "x" + std::to_string(header.bits) + "_kind" +
         std::to_string(header.photometric) + (header.separate ? "_separate" : "") +
         (header.tile ? "_tiles" : "") + ".tif";
}

inline std::vector<Sample> tiffs() {
  using Header = tiff_bytes::Header;
  std::vector<Sample> list;
  for (const Header& header :
       {Header{.width = 5, .height = 3}, Header{.width = 3, .height = 2, .bits = 12, .samples = 2},
        Header{.width = 3, .height = 2, .bits = 16, .samples = 3, .photometric = 2},
        Header{.width = 2, .height = 2, .samples = 4, .photometric = 2, .separate = true},
        Header{.width = 17, .height = 3, .bits = 1, .photometric = 0, .tile = 16},
        Header{.width = 5, .height = 2, .bits = 4, .photometric = 3},
        Header{.width = 2, .height = 1, .bits = 32, .format = 3, .orientation = 6},
        Header{.width = 3, .height = 2, .bits = 16, .format = 2},
        Header{.width = 2, .height = 2, .bits = 32, .samples = 3, .format = 2, .photometric = 2},
        Header{.width = 3, .height = 1, .bits = 32}}) {
    const bool other = list.size() % 2;
    list.push_back({name_of(header), tiff(header, other, other)});
  }
  return list;
}

/// A TIFF file of two images.
inline Bytes tiff_pages() {
  const auto value = [](int page) { return [page](int x, int y, int) { return 100 * page + 10 * y + x; }; };
  return tiff_bytes::File()
      .add({.width = 3, .height = 2}, value(0))
      .add({.width = 3, .height = 2}, value(1))
      .bytes();
}

inline std::vector<Sample> bmps() {
  const auto value = [](int bits) {
    return [bits](int x, int y) { return bits == 32 ? pattern(x, y, 0, 31) : pattern(x, y, 0, bits); };
  };
  const std::vector<std::array<int, 3>> colors = {{0, 0, 0}, {255, 0, 9}}, grays(256, {7, 7, 7});
  return {
      {"gray8.bmp", bmp_bytes::file({.width = 3, .height = 2, .palette = grays}, value(8))},
      {"color1.bmp", bmp_bytes::file({.width = 9, .height = -2, .bits = 1, .palette = colors}, value(1))},
      {"color1_core.bmp",
       bmp_bytes::file({.width = 17, .height = 2, .bits = 1, .core = true, .palette = colors}, value(1))},
      {"color16.bmp", bmp_bytes::file({.width = 3, .height = 1, .bits = 16}, value(15))},
      {"color24.bmp", bmp_bytes::file({.width = 3, .height = 2, .bits = 24}, value(24))},
      {"masks32.bmp",
       bmp_bytes::file(
           {.width = 2, .height = 1, .bits = 32, .compression = 3, .masks = {0xff, 0xff00, 0xff0000}},
           value(32))},
  };
}

/// Red, green, blue; (10, 20, 30), (40, 50, 60), (70, 80, 90); lossless. Reds 0, 40, 80; 120, 160, 9 with alpha
/// 0, 255, 255; 255, 255, 1, to be turned to the right by the EXIF data.
inline std::vector<Sample> webps() {
  return {
      {"rgb.webp",
       {82, 73,  70,  70,  66,  0,   0,   0,   87,  69,  66,  80,  86,  80,  56,  76,  53,  0,   0,
        0,  47,  2,   64,  0,   0,   47,  64,  152, 109, 180, 57,  220, 123, 254, 150, 167, 33,  36,
        32, 116, 31,  252, 127, 137, 32,  219, 102, 23,  169, 191, 229, 231, 63,  224, 207, 120, 38,
        69, 1,   133, 108, 35,  192, 161, 123, 5,   78,  233, 34,  250, 31,  195, 11,  0}},
      {"turned.webp",
       {82,  73,  70,  70,  116, 0,   0,   0,   87,  69,  66,  80,  86,  80,  56,  88, 10, 0,  0,  0,   24,
        0,   0,   0,   2,   0,   0,   1,   0,   0,   86,  80,  56,  76,  51,  0,   0,  0,  47, 2,  64,  0,
        16,  47,  32,  22,  76,  118, 230, 79,  27,  10,  145, 182, 109, 106, 244, 42, 78, 43, 36, 72,  104,
        254, 159, 107, 19,  144, 36,  246, 255, 115, 132, 104, 245, 31,  0,   64,  32, 64, 25, 43, 142, 24,
        37,  162, 255, 177, 94,  0,   69,  88,  73,  70,  26,  0,   0,   0,   77,  77, 0,  42, 0,  0,   0,
        8,   0,   1,   1,   18,  0,   3,   0,   0,   0,   1,   0,   6,   0,   0,   0,  0,  0,  0}}};
}

inline std::vector<Sample> exrs() {
  const auto value = [](int x, int y, int c) { return float(x + 10 * y + 100 * c); };
  return {
      {"rgb.exr", exr_bytes::file({.data = {0, 0, 2, 1}}, value)},
      {"gray.exr",
       exr_bytes::file({.data = {-1, 0, 2, 0}, .display = {0, 0, 1, 1}, .channels = {"Y"}, .type = 1},
                       value)},
  };
}

/// Plain files end in a number of one digit: a longer one without its last digit would still be a number.
inline std::vector<Sample> pnms() {
  return {
      {"plain.pgm", bytes_of("P2\n# a comment\n3 2 # another\n255\n0 1 2\n30 40 5")},
      {"plain16.pgm", bytes_of("P2 2 1 1000\n1000 # half\n0\n")},
      {"plain.ppm", bytes_of("P3\n1 2\n100\n0 50 100\n1 2 3\n")},
      {"raw.pgm", joined("P5\n3 2\n255\n", {0, 1, 2, 253, 254, 255})},
      {"raw10.pgm", joined("P5 2 2 1023\n", {0, 0, 0, 1, 2, 0, 3, 255})},
      {"raw.ppm", joined("P6 2 1 255 ", {1, 2, 3, 4, 5, 6})},
      {"raw16.ppm", joined("P6\n1 1\n# a comment\n65535\n", {1, 2, 3, 4, 255, 255})},
  };
}

/// Frames. The ones of three channels are also flow.
inline std::vector<Sample> pfms() {
  return {
      {"little.pfm", pfm("Pf\n3 2\n-1.0\n", {0, 255, 1.5f, -3, 4, 1e20f})},
      {"big.pfm", pfm("PF\n2 1\n1\n", {0, 1, -2.5f, 3, 1e10f, 0.25f}, true)},
      {"little_color.pfm", pfm("PF 1 2 -0.5\n", {1, 2, 0, -3, 4, 0})},
  };
}

/// Frames. The planes are also disparities.
inline std::vector<Sample> npy_frames() {
  return {
      {"gray.npy", npy(npy_header("|u1", "(2, 3)"), {0, 1, 2, 253, 254, 255})},
      {"rgb16.npy", npy(npy_header(">u2", "(1, 2, 3)"), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 255})},
      {"floats.npy", npy(npy_header("<f4", "(2, 1, 1)"), floats({-1.5f, 300}), 2)},
      {"halves.npy", npy(npy_header("<f2", "(1, 2)"), halves({-1.5f, 300}))},
      {"int16.npy", npy(npy_header(">i2", "(1, 2)"), {0xff, 0xfe, 1, 0})},
      {"doubles.npy", npy(npy_header("<f8", "(1, 1, 3)"), doubles({0, 127.5, 1e9}))},
  };
}

inline std::vector<Sample> y4ms() {
  return {
      {"mono.y4m", joined("YUV4MPEG2 W3 H2 F25:1 Ip A0:0 Cmono\nFRAME\n", {0, 1, 2, 253, 254, 255})},
      {"420.y4m", joined("YUV4MPEG2 W3 H1 XCOLORRANGE=FULL\nFRAME Ip\n", {9, 80, 200, 7, 77, 128, 240})},
      {"422p10.y4m", joined("YUV4MPEG2 H1 W2 C422p10\nFRAME\n", {1, 2, 3, 3, 5, 1, 7, 2})},
  };
}

inline std::vector<Sample> flows() {
  return {
      {"3x2.flo", flo(3, 2, {0, 1, -2.5f, 3, 1e10f, 1e10f, 0.25f, -1, 5, 6, 7, 8})},
      {"1x1.flo", flo(1, 1, {1, -1})},
      {"version1.npy", npy(npy_header("<f4", "(2, 1, 2)"), floats({1, 2, -3, 1e10f}))},
      {"version3.npy", npy(npy_header("<f8", "(1, 2, 2)"), doubles({1, 2, -3, 1e300}), 3)},
      {"kitti.png", png({4, 3, 16, 2, false})},
      {"kitti_interlaced.png", png({9, 5, 16, 2, true})},
  };
}

/// u is 1, 2.5; -3, 0, v is 0, 1; 2, 4; the last pixel is not valid.
inline std::vector<Sample> npzs() {
  const auto plane = [](const std::vector<float>& values) {
    return npy(npy_header("<f2", "(2, 2)"), halves(values));
  };
  const Bytes u = plane({1, 2.5f, -3, 0}), v = plane({0, 1, 2, 4}),
              valid = npy(npy_header("|b1", "(2, 2)"), {1, 1, 1, 0});
  return {
      {"stored.npz", npz_bytes::file({{"u", u}, {"v", v}, {"valid", valid}})},
      {"wide.npz", npz_bytes::file({{"u", u}, {"v", v}, {"valid", valid}}, true)},
      {"deflated.npz",
       {80,  75,  3,   4,   45,  0,   0,   0,   8,   0,   0,   0,   33,  0,   21,  124, 163, 229, 255, 255,
        255, 255, 255, 255, 255, 255, 5,   0,   20,  0,   117, 46,  110, 112, 121, 1,   0,   16,  0,   136,
        0,   0,   0,   0,   0,   0,   0,   78,  0,   0,   0,   0,   0,   0,   0,   155, 236, 23,  234, 27,
        16,  201, 200, 80,  198, 80,  173, 158, 146, 90,  156, 92,  164, 110, 165, 160, 110, 147, 102, 164,
        174, 163, 160, 158, 150, 95,  84,  82,  148, 152, 23,  159, 95,  148, 146, 10,  18,  119, 75,  204,
        41,  78,  5,   138, 23,  103, 36,  22,  164, 2,   249, 26,  70,  58,  10,  70,  154, 58,  10,  181,
        10,  100, 3,   46,  6,   27,  6,   71,  134, 67,  12,  12,  0,   80,  75,  3,   4,   45,  0,   0,
        0,   8,   0,   0,   0,   33,  0,   42,  221, 34,  24,  255, 255, 255, 255, 255, 255, 255, 255, 5,
        0,   20,  0,   118, 46,  110, 112, 121, 1,   0,   16,  0,   136, 0,   0,   0,   0,   0,   0,   0,
        78,  0,   0,   0,   0,   0,   0,   0,   155, 236, 23,  234, 27,  16,  201, 200, 80,  198, 80,  173,
        158, 146, 90,  156, 92,  164, 110, 165, 160, 110, 147, 102, 164, 174, 163, 160, 158, 150, 95,  84,
        82,  148, 152, 23,  159, 95,  148, 146, 10,  18,  119, 75,  204, 41,  78,  5,   138, 23,  103, 36,
        22,  164, 2,   249, 26,  70,  58,  10,  70,  154, 58,  10,  181, 10,  100, 3,   46,  6,   6,   6,
        27,  6,   7,   6,   23,  0,   80,  75,  3,   4,   45,  0,   0,   0,   8,   0,   0,   0,   33,  0,
        91,  143, 146, 194, 255, 255, 255, 255, 255, 255, 255, 255, 9,   0,   20,  0,   118, 97,  108, 105,
        100, 46,  110, 112, 121, 1,   0,   16,  0,   132, 0,   0,   0,   0,   0,   0,   0,   74,  0,   0,
        0,   0,   0,   0,   0,   155, 236, 23,  234, 27,  16,  201, 200, 80,  198, 80,  173, 158, 146, 90,
        156, 92,  164, 110, 165, 160, 94,  147, 100, 168, 174, 163, 160, 158, 150, 95,  84,  82,  148, 152,
        23,  159, 95,  148, 146, 10,  18,  119, 75,  204, 41,  78,  5,   138, 23,  103, 36,  22,  164, 2,
        249, 26,  70,  58,  10,  70,  154, 58,  10,  181, 10,  100, 3,   46,  70,  70,  70,  6,   0,   80,
        75,  1,   2,   45,  3,   45,  0,   0,   0,   8,   0,   0,   0,   33,  0,   21,  124, 163, 229, 78,
        0,   0,   0,   136, 0,   0,   0,   5,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   128,
        1,   0,   0,   0,   0,   117, 46,  110, 112, 121, 80,  75,  1,   2,   45,  3,   45,  0,   0,   0,
        8,   0,   0,   0,   33,  0,   42,  221, 34,  24,  78,  0,   0,   0,   136, 0,   0,   0,   5,   0,
        0,   0,   0,   0,   0,   0,   0,   0,   0,   0,   128, 1,   133, 0,   0,   0,   118, 46,  110, 112,
        121, 80,  75,  1,   2,   45,  3,   45,  0,   0,   0,   8,   0,   0,   0,   33,  0,   91,  143, 146,
        194, 74,  0,   0,   0,   132, 0,   0,   0,   9,   0,   0,   0,   0,   0,   0,   0,   0,   0,   0,
        0,   128, 1,   10,  1,   0,   0,   118, 97,  108, 105, 100, 46,  110, 112, 121, 80,  75,  5,   6,
        0,   0,   0,   0,   3,   0,   3,   0,   157, 0,   0,   0,   143, 1,   0,   0,   0,   0}},
  };
}

/// Disparities that are not in pfms() and pngs().
inline std::vector<Sample> disparities() {
  return {
      {"plane.npy", npy(npy_header("<f4", "(2, 3)"), floats({0, 1, -2.5f, 3, 1e30f, 0.25f}))},
      {"plane_of_doubles.npy", npy(npy_header("<f8", "(1, 2)"), doubles({1.5, 2}), 2)},
      {"disparity8.png", png({5, 3, 8, 0})},
      {"disparity16.png", png({4, 3, 16, 0, true})},
  };
}

inline std::vector<Sample> tracks() {
  return {
      {"named.csv", bytes_of("x,y,u,v\n1,2.5,-3e-1,nan\r\n0,0,inf,7\n")},
      {"plain.csv", bytes_of("# a comment\n\n1;2; 3 4 # another\n5\t6\t-7\t8")},
  };
}

/// A calibration as OpenCV writes it, with entries that are not read.
inline std::string opencv_calibration() {
  return "%YAML:1.0\n---\n# a comment\nK1: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
         "   data: [ 520., 0., 318.5, 0., 522., 243.25, 0., 0., 1. ]\n"
         "D1: !!opencv-matrix\n   rows: 1\n   cols: 5\n   dt: d\n"
         "   data: [ -0.28, 9.0000000000000000e-02, 1.2e-03,\n       -7.0e-04, 0.01 ]\n"
         "K2: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
         "   data: [ 527., 0., 324., 0., 526., 236.75, 0., 0., 1. ]\n"
         "D2: !!opencv-matrix\n   rows: 8\n   cols: 1\n   dt: d\n"
         "   data: [ -0.31, 0.12, -9.0e-04, 1.1e-03, 0., 0.5, 0.25, 0.125 ]\n"
         "image_width: 640\nimage_height: 480\ncalibration_time: \"Tue Nov 24 03:00:00 2026\"\n"
         "views:\n   - { name:left01, error:0.25 }\n   - { name:left02, error:0.5 }\n"
         "R: !!opencv-matrix\n   rows: 3\n   cols: 3\n   dt: d\n"
         "   data: [ 1., 0., 0., 0., 0., -1., 0., 1., 0. ]\n"
         "T: !!opencv-matrix\n   rows: 3\n   cols: 1\n   dt: d\n   data: [ -0.12, 4.0e-03, 6.0e-03 ]\n";
}
/// ROS's camera_info of one camera of a pair, as its calibration program writes it.
inline std::string ros_calibration(bool right) {
  return "image_width: 640\nimage_height: 480\ncamera_name: stereo/left\ncamera_matrix:\n  rows: 3\n  cols: "
         "3\n"
         "  data: [520.0, 0.0, 318.5, 0.0, 522.0, 243.25, 0.0, 0.0, 1.0]\ndistortion_model: equidistant\n"
         "distortion_coefficients:\n  rows: 1\n  cols: 4\n  data: [0.05, -0.02, 0.01, -0.003]\n"
         "rectification_matrix:\n  rows: 3\n  cols: 3\n  data:\n" +
         std::string(
             right ? "  - 0.8\n  - 0.0\n  - 0.6\n  - 0.0\n  - 1.0\n  - 0.0\n  - -0.6\n  - 0.0\n  - 0.8\n"
                   : "  - 1.0\n  - 0.0\n  - 0.0\n  - 0.0\n  - 1.0\n  - 0.0\n  - 0.0\n  - 0.0\n  - 1.0\n") +
         "projection_matrix:\n  rows: 3\n  cols: 4\n  data: [500.0, 0.0, 320.0, " +
         (right ? "-60.0" : "0.0") + ", 0.0, 500.0,\n    240.0, 0.0, 0.0, 0.0, 1.0, 0.0]\n";
}
/// The fields of ROS's message camera_info, as "ros2 topic echo" prints them.
inline std::string ros_message() {
  return "header:\n  stamp:\n    sec: 1\n  frame_id: left\nheight: 480\nwidth: 640\ndistortion_model: "
         "'plumb_bob'\n"
         "d:\n- -0.28\n- 0.09\n- 0.0012\n- -0.0007\n- 0.01\nk: [520.0, 0.0, 318.5, 0.0, 522.0, 243.25, 0.0, "
         "0.0, 1.0]\n"
         "r:\n- 1.0\n- 0.0\n- 0.0\n- 0.0\n- 1.0\n- 0.0\n- 0.0\n- 0.0\n- 1.0\n"
         "p: [500.0, 0.0, 320.0, 0.0, 0.0, 500.0, 240.0, 0.0, 0.0, 0.0, 1.0, 0.0]\nbinning_x: 0\nroi:\n"
         "  x_offset: 0\n---\n";
}
inline std::string middlebury_calibration() {
  return "cam0=[3997.5 0 1176.75; 0 3997.5 1011.75; 0 0 1]\ncam1=[3997.5 0 1307.75; 0 3997.5 1011.75; 0 0 "
         "1]\n"
         "doffs=131\nbaseline=193.5\nwidth=2964\nheight=1988\nndisp=280\nisint=0\nvmin=31\nvmax=257\n"
         "dyavg=0.918\ndymax=1.516\n";
}
inline std::string kitti_calibration() {
  return "P0: 7e2 0 600 0 0 7e2 170 0 0 0 1 0\nP1: 7e2 0 600 -378 0 7e2 170 0 0 0 1 0\nR0_rect: 1 0 0\n"
         "P2: 721.5 0 609.5 44.85 0 721.5 172.5 0.216 0 0 1 0.0027\nS_rect_02: 1242 3.75e2\n"
         "P3: 721.5 0 609.5 -339.5 0 721.5 172.5 2.199 0 0 1 0.0027\n";
}

inline std::vector<Sample> calibrations() {
  return {{"kitti.txt", bytes_of(kitti_calibration())},
          {"stereo.yml", bytes_of(opencv_calibration())},
          {"calib.txt", bytes_of(middlebury_calibration())},
          {"left.yaml", bytes_of(ros_calibration(false))},
          {"message.yaml", bytes_of(ros_message())}};
}

/// The structure of video files, without a video.
inline std::vector<Sample> containers() {
  using namespace std::string_view_literals;
  const Bytes zeros(200);
  const auto box = [](std::string_view type) {
    return std::string("\0\0\0\x10", 4) + std::string(type) + "contents";
  };
  Bytes transport;
  for (int packet = 0; packet < 6; ++packet) {
    transport.push_back(0x47);
    transport.resize(transport.size() + 187);
  }
  return {
      {"index.mp4", bytes_of(box("ftyp") + box("moov") + box("mdat"))},
      {"fragments.mp4", bytes_of(box("ftyp") + box("moov") + box("moof") + box("mdat"))},
      {"a.mkv",
       bytes_of("\x1a\x45\xdf\xa3\x82\xec\x80\x18\x53\x80\x67\x98\x1f\x43\xb6\x75\x8b\xe7\x81\0\xa3\x86"
                "\x81\0\0\x80zz\xbf\x84zzzz"sv)},
      {"unknown.mkv", bytes_of("\x1a\x45\xdf\xa3\x80\x18\x53\x80\x67\xff\x1f\x43\xb6\x75\xff\xe7\x81\0"sv)},
      {"checksum.mkv",
       bytes_of("\x1a\x45\xdf\xa3\x80\x18\x53\x80\x67\xff\x1f\x43\xb6\x75\x89\xbf\x84zzzz\xe7\x81\0"sv)},
      {"a.avi", bytes_of("RIFF\x20\0\0\0AVI LIST\4\0\0\0hdrlLIST\4\0\0\0movi"sv)},
      {"a.ogg", bytes_of("OggS\0\4\0\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0zzzz\1\3abc"sv)},
      {"a.gif", bytes_of("GIF89a\1\0\1\0\0\0\0\x21\xf9\4zzzz\0\x2c\0\0\0\0\1\0\1\0\0\2\2\x44\1\0\x3b"sv)},
      {"a.flv", bytes_of("FLV\1\1\0\0\0\x09\0\0\0\0\x09\0\0\3\0\0\0\0\0\0\0abc\0\0\0\x0e"sv)},
      {"a.asf",
       joined("\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\0\xaa\0\x62\xce\x6c\x86\0\0\0\0\0\0\0\1\0\0\0\1\2"
              "\xa1\xdc\xab\x8c\x47\xa9\xcf\x11\x8e\xe4\0\xc0\x0c\x20\x53\x65\x68\0\0\0\0\0\0\0"sv,
              zeros)},
      {"a.mxf",
       joined("\x06\x0e\x2b\x34\x02\x05\x01\x01\x0d\x01\x02\x01\x01\x02\x04\0\x83\0\0\x40"sv, zeros)},
      {"a.ivf", bytes_of("DKIF\0\0\x20\0VP80\1\0\1\0\x19\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0"
                         "\3\0\0\0\0\0\0\0\0\0\0\0abc"sv)},
      {"a.mpg", bytes_of("\0\0\1\xba\x44zzzzzzzz\xf8\0\0\1\xe0\0\3abc\0\0\1\xb9"sv)},
      {"a.ts", transport}};
}

}  // namespace parafield::samples
