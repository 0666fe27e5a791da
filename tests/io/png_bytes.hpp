// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

/// PNG files made by hand, without libpng: every depth, color type and interlacing, also unusual ones. The
/// pixels are in stored deflate blocks, so that each byte of the file is known.
namespace parafield::png_bytes {

using Bytes = std::vector<std::uint8_t>;

inline std::uint32_t crc32(const std::uint8_t* bytes, std::size_t count) {
  std::uint32_t crc = 0xffffffff;
  for (std::size_t i = 0; i < count; ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

inline void append_u32(Bytes& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(std::uint8_t(value >> shift));
}

inline void append_chunk(Bytes& file, std::string_view type, const Bytes& data) {
  append_u32(file, std::uint32_t(data.size()));
  const std::size_t start = file.size();
  file.insert(file.end(), type.begin(), type.end());
  file.insert(file.end(), data.begin(), data.end());
  append_u32(file, crc32(file.data() + start, file.size() - start));
}

inline Bytes zlib_stored(const Bytes& data) {
  Bytes out = {0x78, 0x01};
  std::uint32_t a = 1, b = 0;
  for (std::size_t at = 0;;) {
    const std::size_t count = data.size() - at < 65535 ? data.size() - at : 65535;
    out.push_back(at + count == data.size());
    for (const std::size_t n : {count, ~count}) {
      out.push_back(std::uint8_t(n));
      out.push_back(std::uint8_t(n >> 8));
    }
    for (std::size_t i = 0; i < count; ++i, ++at) {
      out.push_back(data[at]);
      a = (a + data[at]) % 65521;
      b = (b + a) % 65521;
    }
    if (at == data.size()) break;
  }
  append_u32(out, b << 16 | a);
  return out;
}

struct Header {
  std::uint32_t width = 1, height = 1;
  int bit_depth = 8, color_type = 0;
  bool interlaced = false;

  int channels() const { return color_type == 2 ? 3 : color_type == 4 ? 2 : color_type == 6 ? 4 : 1; }
};

/// Rows of filter type 0, in the order of the file. value(x, y, channel) is the value of a pixel.
template <class Value>
Bytes scanlines(const Header& header, Value value) {
  struct Pass {
    std::uint32_t x0, y0, dx, dy;
  };
  constexpr Pass adam7[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                            {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
  const std::vector<Pass> passes =
      header.interlaced ? std::vector<Pass>(adam7, adam7 + 7) : std::vector<Pass>{{0, 0, 1, 1}};
  Bytes bytes;
  for (const Pass& pass : passes) {
    if (pass.x0 >= header.width) continue;
    for (std::uint32_t y = pass.y0; y < header.height; y += pass.dy) {
      bytes.push_back(0);
      int free_bits = 0;
      for (std::uint32_t x = pass.x0; x < header.width; x += pass.dx)
        for (int c = 0; c < header.channels(); ++c) {
          const unsigned v = value(int(x), int(y), c);
          if (header.bit_depth == 16) bytes.push_back(std::uint8_t(v >> 8));
          if (header.bit_depth >= 8) {
            bytes.push_back(std::uint8_t(v));
            continue;
          }
          if (free_bits == 0) {
            bytes.push_back(0);
            free_bits = 8;
          }
          free_bits -= header.bit_depth;
          bytes.back() |= std::uint8_t(v << free_bits);
        }
    }
  }
  return bytes;
}

/// Signature and header of a file.
inline Bytes start(const Header& header) {
  Bytes file = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  Bytes data;
  append_u32(data, header.width);
  append_u32(data, header.height);
  for (const int byte : {header.bit_depth, header.color_type, 0, 0, int(header.interlaced)})
    data.push_back(std::uint8_t(byte));
  append_chunk(file, "IHDR", data);
  return file;
}

struct Chunks {
  Bytes palette = {};       ///< PLTE: red, green, blue of each color
  Bytes transparency = {};  ///< tRNS
  Bytes exif = {};          ///< eXIf, before the pixels
};

template <class Value>
Bytes file(const Header& header, Value value, const Chunks& chunks = {}) {
  Bytes file = start(header);
  if (!chunks.palette.empty()) append_chunk(file, "PLTE", chunks.palette);
  if (!chunks.transparency.empty()) append_chunk(file, "tRNS", chunks.transparency);
  if (!chunks.exif.empty()) append_chunk(file, "eXIf", chunks.exif);
  append_chunk(file, "IDAT", zlib_stored(scanlines(header, value)));
  append_chunk(file, "IEND", {});
  return file;
}

}  // namespace parafield::png_bytes
