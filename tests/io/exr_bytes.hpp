// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// EXR files made by hand: one part, rows, not compressed.
namespace parafield::exr_bytes {

using Bytes = std::vector<std::uint8_t>;

/// The bits of a half-precision float, for values that it can hold.
inline std::uint16_t half_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = std::uint16_t(bits >> 16 & 0x8000);
  if (value == 0) return sign;
  return std::uint16_t(sign | (((bits >> 23 & 255) - 112) << 10) | (bits >> 13 & 0x3ff));
}

struct Header {
  std::array<int, 4> data = {0, 0, 0, 0};  ///< first x, first y, last x, last y
  std::array<int, 4> display = data;
  std::vector<std::string> channels = {"B", "G", "R"};  ///< in alphabetic order
  int type = 2;                                         ///< 1 half, 2 float
};

inline void put(Bytes& bytes, std::uint64_t value, int count) {
  for (int i = 0; i < count; ++i) bytes.push_back(std::uint8_t(value >> 8 * i));
}
inline void put_text(Bytes& bytes, std::string_view text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
  bytes.push_back(0);
}

/// value(x, y, channel) is a number, for x and y of the data window.
template <class Value>
Bytes file(const Header& header, Value value) {
  Bytes bytes = {0x76, 0x2f, 0x31, 0x01, 2, 0, 0, 0};
  const auto attribute = [&](std::string_view name, std::string_view type, const Bytes& content) {
    put_text(bytes, name);
    put_text(bytes, type);
    put(bytes, content.size(), 4);
    bytes.insert(bytes.end(), content.begin(), content.end());
  };
  const auto numbers = [](const auto& list) {
    Bytes content;
    for (const auto number : list) put(content, std::bit_cast<std::uint32_t>(number), 4);
    return content;
  };
  Bytes channels;
  for (const std::string& name : header.channels) {
    put_text(channels, name);
    for (const int number : {header.type, 0, 1, 1}) put(channels, std::uint64_t(number), 4);
  }
  channels.push_back(0);
  attribute("channels", "chlist", channels);
  attribute("compression", "compression", {0});
  attribute("dataWindow", "box2i", numbers(header.data));
  attribute("displayWindow", "box2i", numbers(header.display));
  attribute("lineOrder", "lineOrder", {0});
  attribute("pixelAspectRatio", "float", numbers(std::array{1.0f}));
  attribute("screenWindowCenter", "v2f", numbers(std::array{0.0f, 0.0f}));
  attribute("screenWindowWidth", "float", numbers(std::array{1.0f}));
  bytes.push_back(0);
  const auto& [x0, y0, x1, y1] = header.data;
  const std::uint64_t row_bytes =
                          std::uint64_t(x1 - x0 + 1) * header.channels.size() * (header.type == 1 ? 2 : 4),
                      first = bytes.size() + 8 * std::uint64_t(y1 - y0 + 1);
  for (int y = y0; y <= y1; ++y) put(bytes, first + std::uint64_t(y - y0) * (row_bytes + 8), 8);
  for (int y = y0; y <= y1; ++y) {
    put(bytes, std::uint32_t(y), 4);
    put(bytes, row_bytes, 4);
    for (int c = 0; c < int(header.channels.size()); ++c)
      for (int x = x0; x <= x1; ++x)
        header.type == 1 ? put(bytes, half_of(value(x, y, c)), 2)
                         : put(bytes, std::bit_cast<std::uint32_t>(float(value(x, y, c))), 4);
  }
  return bytes;
}

}  // namespace parafield::exr_bytes
