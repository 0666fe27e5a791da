// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstdint>
#include <vector>

/// BMP files made by hand.
namespace parafield::bmp_bytes {

using Bytes = std::vector<std::uint8_t>;

struct Header {
  int width = 1, height = 1;  ///< a height below 0: the top row comes first
  int bits = 8;
  bool core = false;              ///< the old header of 12 bytes
  std::uint32_t compression = 0;  ///< 1, 2: run lengths of 8 and 4 bits; 3: bit masks
  Bytes runs = {};                ///< stored instead of pixels
  std::array<std::uint32_t, 3> masks = {};
  std::vector<std::array<int, 3>> palette = {};  ///< red, green, blue
};

inline void put(Bytes& bytes, std::uint32_t value, int count) {
  for (int i = 0; i < count; ++i) bytes.push_back(std::uint8_t(value >> 8 * i));
}

/// A BMP file. value(x, y) is the number that is stored for a pixel.
template <class Value>
Bytes file(const Header& header, Value value) {
  const int rows = header.height < 0 ? -header.height : header.height;
  const std::uint32_t length = header.core ? 12 : 40, entry = header.core ? 3 : 4,
                      start = 14 + length + (header.compression == 3 ? 12 : 0) +
                              entry * std::uint32_t(header.palette.size()),
                      row_bytes = std::uint32_t(header.width * header.bits + 31) / 32 * 4;
  Bytes bytes = {'B', 'M'};
  put(bytes, start + row_bytes * std::uint32_t(rows), 4);
  put(bytes, 0, 4);
  put(bytes, start, 4);
  put(bytes, length, 4);
  const int side_bytes = header.core ? 2 : 4;
  put(bytes, std::uint32_t(header.width), side_bytes);
  put(bytes, std::uint32_t(header.height), side_bytes);
  put(bytes, 1, 2);
  put(bytes, std::uint32_t(header.bits), 2);
  if (!header.core)
    for (const std::uint32_t number : {header.compression, 0u, 2835u, 2835u, 0u, 0u}) put(bytes, number, 4);
  if (header.compression == 3)
    for (const std::uint32_t mask : header.masks) put(bytes, mask, 4);
  for (const auto& [red, green, blue] : header.palette)
    put(bytes, std::uint32_t(red << 16 | green << 8 | blue), int(entry));
  bytes.insert(bytes.end(), header.runs.begin(), header.runs.end());
  for (int row = 0; row < (header.runs.empty() ? rows : 0); ++row) {
    const int y = header.height < 0 ? row : rows - 1 - row;
    const std::size_t end = bytes.size() + row_bytes;
    std::uint32_t packed = 0;
    int held = 0;
    for (int x = 0; x < header.width; ++x) {
      const auto number = std::uint32_t(value(x, y));
      if (header.bits >= 8) {
        put(bytes, number, header.bits / 8);
        continue;
      }
      packed = packed << header.bits | number;
      if ((held += header.bits) == 8) {
        bytes.push_back(std::uint8_t(packed));
        held = 0;
      }
    }
    if (held > 0) bytes.push_back(std::uint8_t(packed << (8 - held)));
    bytes.resize(end);
  }
  return bytes;
}

}  // namespace parafield::bmp_bytes
