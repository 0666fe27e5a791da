// SPDX-License-Identifier: MIT
#pragma once
#include <bit>
#include <cstring>
#include <limits>
#include <vector>

#include "io/formats.hpp"
#include "io/stream.hpp"

/// Code that the readers of frames share.
namespace parafield::io {

/// A table that scales the values 0..maximum of a file to a frame's range, 0..255 or 0..65535.
template <class T>
std::vector<T> full_range(std::uint32_t maximum) {
  constexpr std::uint32_t full = std::numeric_limits<T>::max();
  std::vector<T> scaled(maximum + 1);
  for (std::uint32_t value = 0; value <= maximum; ++value)
    scaled[value] = T((value * full + maximum / 2) / maximum);
  return scaled;
}

/// Converts a row of luma of `depth` bits, 0..2^depth - 1 if `full_range`, otherwise 16..235 for 8 bits, to
/// gray values.
template <class T>
void expand(const T* luma, int width, int depth, bool full_range, T* gray) {
  constexpr std::uint32_t full = std::numeric_limits<T>::max();
  const int black = full_range ? 0 : 16 << (depth - 8),
            largest = full_range ? (1 << depth) - 1 : 219 << (depth - 8);
  const float gain = float(full) / float(largest), most = float(full);
  for (int x = 0; x < width; ++x) {
    const float value = gain * float(luma[x] - black) + 0.5f;
    gray[x] = T(int(value < 0 ? 0 : value > most ? most : value));
  }
}

/// The rows of a frame, as bytes.
inline Rows rows_of(FrameBuffer& frame) {
  const Frame pixels = frame;
  return {static_cast<std::uint8_t*>(frame.row(0)), std::size_t(row_bytes(pixels)), pixels.height,
          pixels.pitch};
}

/// Reverses the bytes of each value of type T, which has 2 or 4 bytes.
template <class T>
void swap_bytes(const Rows& rows) {
  for (int y = 0; y < rows.count; ++y)
    for (std::uint8_t *p = rows.first + y * rows.step, *end = p + rows.row_bytes; p != end; p += sizeof(T)) {
      T value;
      std::memcpy(&value, p, sizeof(T));
      value = T(sizeof(T) == 2 ? __builtin_bswap16(std::uint16_t(value)) : __builtin_bswap32(value));
      std::memcpy(p, &value, sizeof(T));
    }
}

[[noreturn]] inline void fail_ended(std::uint64_t count, const char* at_least, std::uint64_t needed) {
  fail_format("ends after ", count, " of ", at_least, needed, " bytes of pixels");
}

/// Throws Error(format) if fewer than `needed` bytes of pixels follow, as far as the stream can tell. Readers
/// must call it before they allocate a frame.
inline void check_follow(ByteStream& stream, Size size, std::uint64_t needed, const char* at_least = "") {
  const std::uint64_t coming = stream.coming(needed);
  if (coming == needed) return;
  if (!stream.left()) fail_ended(coming, at_least, needed);
  fail_format(size, " pixels need ", at_least, needed, " bytes after the header, the file has ", coming);
}

inline void read_rows(ByteStream& stream, const Rows& rows) {
  const std::uint64_t count = stream.read(rows);
  if (count < rows.bytes()) fail_ended(count, "", rows.bytes());
}

}  // namespace parafield::io
