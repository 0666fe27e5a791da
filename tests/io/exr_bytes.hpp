// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

/// EXR files made by hand: rows, not compressed.
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

/// Appends the attributes of a part. A part among several has a name.
inline void put_header(Bytes& bytes, const Header& header, std::string_view part = {}) {
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
  if (!part.empty()) {
    attribute("name", "string", {part.begin(), part.end()});
    constexpr std::string_view type = "scanlineimage";
    attribute("type", "string", {type.begin(), type.end()});
    attribute("chunkCount", "int", numbers(std::array{header.data[3] - header.data[1] + 1}));
  }
  bytes.push_back(0);
}

/// Bytes of a row.
inline std::uint64_t row_bytes_of(const Header& header) {
  return std::uint64_t(header.data[2] - header.data[0] + 1) * header.channels.size() *
         (header.type == 1 ? 2 : 4);
}

/// Appends a row, with its number and length. value(x, y, channel) is a number.
template <class Value>
void put_row(Bytes& bytes, const Header& header, int y, Value value) {
  put(bytes, std::uint32_t(y), 4);
  put(bytes, row_bytes_of(header), 4);
  for (int c = 0; c < int(header.channels.size()); ++c)
    for (int x = header.data[0]; x <= header.data[2]; ++x)
      header.type == 1 ? put(bytes, half_of(value(x, y, c)), 2)
                       : put(bytes, std::bit_cast<std::uint32_t>(float(value(x, y, c))), 4);
}

/// A file of one part. value(x, y, channel) is a number, for x and y of the data window.
template <class Value>
Bytes file(const Header& header, Value value) {
  Bytes bytes = {0x76, 0x2f, 0x31, 0x01, 2, 0, 0, 0};
  put_header(bytes, header);
  const auto& [x0, y0, x1, y1] = header.data;
  const std::uint64_t first = bytes.size() + 8 * std::uint64_t(y1 - y0 + 1);
  for (int y = y0; y <= y1; ++y) put(bytes, first + std::uint64_t(y - y0) * (row_bytes_of(header) + 8), 8);
  for (int y = y0; y <= y1; ++y) put_row(bytes, header, y, value);
  return bytes;
}

struct Part {
  std::string name;
  Header header = {};
};

/// A file of several parts. value(part, x, y, channel) is a number.
template <class Value>
Bytes file(const std::vector<Part>& parts, Value value) {
  Bytes bytes = {0x76, 0x2f, 0x31, 0x01, 2, 0x10, 0, 0};
  std::uint64_t rows = 0;
  for (const Part& part : parts) {
    put_header(bytes, part.header, part.name);
    rows += std::uint64_t(part.header.data[3] - part.header.data[1] + 1);
  }
  bytes.push_back(0);
  std::uint64_t at = bytes.size() + 8 * rows;
  for (const Part& part : parts)
    for (int y = part.header.data[1]; y <= part.header.data[3]; ++y) {
      put(bytes, at, 8);
      at += row_bytes_of(part.header) + 12;
    }
  for (int i = 0; i < int(parts.size()); ++i)
    for (int y = parts[std::size_t(i)].header.data[1]; y <= parts[std::size_t(i)].header.data[3]; ++y) {
      put(bytes, std::uint64_t(i), 4);
      put_row(bytes, parts[std::size_t(i)].header, y,
              [&](int x, int row, int c) { return value(i, x, row, c); });
    }
  return bytes;
}

}  // namespace parafield::exr_bytes
