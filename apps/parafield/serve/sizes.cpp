// SPDX-License-Identifier: MIT
// Reads sizes from the headers of compressed pictures, which can be many times larger than their files.
#include <algorithm>
#include <cstdint>

#include "serve/uploads.hpp"

namespace parafield::command {
namespace {

/// Reads a file's numbers in either byte order. Numbers beyond its end are 0.
struct FileNumbers {
  std::string_view bytes;
  bool little;

  std::uint64_t operator()(std::uint64_t at, int count) const {
    if (at > bytes.size() || bytes.size() - at < std::size_t(count)) return 0;
    std::uint64_t number = 0;
    for (int i = 0; i < count; ++i) {
      const int byte = little ? count - 1 - i : i;
      number = number << 8 | std::uint8_t(bytes[std::size_t(at) + std::size_t(byte)]);
    }
    return number;
  }
};

int as_side(std::uint64_t value) { return int(std::min<std::uint64_t>(value, 1 << 30)); }

/// The frame header is a segment with marker C0 to CF, except C4, C8 and CC (ITU-T T.81, table B.1).
Size size_in_jpeg(std::string_view bytes) {
  const FileNumbers number{bytes, false};
  for (std::size_t at = 2; at + 9 < bytes.size();) {
    if (std::uint8_t(bytes[at]) != 0xff) return {};
    const int marker = std::uint8_t(bytes[at + 1]);
    if (marker == 0xff) {  // fill byte
      ++at;
      continue;
    }
    if (marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc)
      return {as_side(number(at + 7, 2)), as_side(number(at + 5, 2))};
    const bool is_alone = marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8);
    if (marker == 0xda || marker == 0xd9) return {};
    at += is_alone ? 2 : 2 + std::max<std::size_t>(number(at + 2, 2), 2);
  }
  return {};
}

/// Reads the directories of entries, one per image (TIFF 6.0, section 2; BigTIFF has wider numbers).
Size size_in_tiff(std::string_view bytes) {
  const FileNumbers number{bytes, bytes[0] == 'I'};
  const bool big = number(2, 2) == 43;
  const int wide = big ? 8 : 4, count_bytes = big ? 8 : 2, entry_bytes = big ? 20 : 12;
  constexpr int most_images = 100, most_entries = 1000;
  Size largest;
  std::uint64_t at = number(big ? 8 : 4, wide);
  for (int image = 0; image < most_images && at != 0; ++image) {
    const std::uint64_t entries = std::min<std::uint64_t>(number(at, count_bytes), most_entries);
    const std::uint64_t first = at + std::uint64_t(count_bytes);
    Size size;
    for (std::uint64_t i = 0; i < entries; ++i) {
      const std::uint64_t entry = first + i * std::uint64_t(entry_bytes);
      const std::uint64_t tag = number(entry, 2), type = number(entry + 2, 2);
      const int value_bytes = type == 3 ? 2 : type == 16 ? 8 : 4;
      const int value = as_side(number(entry + (big ? 12 : 8), value_bytes));
      if (tag == 256) size.width = value;
      if (tag == 257) size.height = value;
    }
    if (double(size.width) * size.height > double(largest.width) * largest.height) largest = size;
    at = number(first + entries * std::uint64_t(entry_bytes), wide);
  }
  return largest;
}

}  // namespace

Size size_in_header(std::string_view bytes) {
  if (bytes.size() < 24) return {};
  const FileNumbers big_endian{bytes, false};
  if (bytes.starts_with("\x89PNG")) return {as_side(big_endian(16, 4)), as_side(big_endian(20, 4))};
  if (bytes.starts_with("\xff\xd8")) return size_in_jpeg(bytes);
  if (bytes.starts_with("II") || bytes.starts_with("MM")) return size_in_tiff(bytes);
  return {};
}

}  // namespace parafield::command
