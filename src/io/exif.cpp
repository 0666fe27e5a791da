// SPDX-License-Identifier: MIT
// EXIF's orientation: tag 0x0112 of the first directory of a TIFF structure (CIPA DC-008, 4.6.4). A camera
// stores pixels in the order of its sensor and records in this tag how it was held.
#include <cstring>
#include <utility>

#include "core/arithmetic.hpp"
#include "io/formats.hpp"

namespace parafield::io {
namespace {

/// Numbers of a TIFF structure, in its byte order. A number past the end is 0.
struct Tiff {
  ByteSpan bytes;
  bool big_endian;

  std::uint32_t number(std::uint64_t at, int count) const {
    if (at + std::uint64_t(count) > bytes.size()) return 0;
    std::uint32_t value = 0;
    for (int i = 0; i < count; ++i)
      value = value << 8 | bytes[at + std::uint64_t(big_endian ? i : count - 1 - i)];
    return value;
  }
  std::uint32_t u16(std::uint64_t at) const { return number(at, 2); }
  std::uint32_t u32(std::uint64_t at) const { return number(at, 4); }
};

}  // namespace

int exif_orientation(ByteSpan bytes) {
  if (bytes.size() < 8 || bytes[0] != bytes[1] || (bytes[0] != 'I' && bytes[0] != 'M')) return 1;
  const Tiff tiff{bytes, bytes[0] == 'M'};
  if (tiff.u16(2) != 42) return 1;
  constexpr std::uint32_t orientation = 0x0112, type_short = 3;
  const std::uint64_t directory = tiff.u32(4);
  const std::uint32_t entries = tiff.u16(directory);
  for (std::uint64_t i = 0; i < entries; ++i) {
    const std::uint64_t entry = directory + 2 + 12 * i;
    if (tiff.u16(entry) != orientation) continue;
    const std::uint32_t value = tiff.u16(entry + 8);
    const bool sound = tiff.u16(entry + 2) == type_short && tiff.u32(entry + 4) == 1;
    return sound && value >= 1 && value <= 8 ? int(value) : 1;
  }
  return 1;
}

FrameBuffer turned(FrameBuffer frame, int orientation) {
  if (orientation <= 1 || orientation > 8) return frame;
  FrameBuffer to;
  turn(frame, orientation, to);
  return to;
}

void turn(const Frame& frame, int orientation, FrameBuffer& to) {
  // Which stored corner is shown at the top left, and whether stored rows are shown as columns.
  const bool transposed = orientation >= 5;
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8,
             from_bottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const auto [width, height] = frame.size();
  const int pixel_bytes = bytes_per_pixel(frame.format);
  const std::ptrdiff_t pitch = pitch_of(frame);
  const auto* from = static_cast<const std::uint8_t*>(frame.data) + (from_bottom ? height - 1 : 0) * pitch +
                     std::ptrdiff_t(from_right ? width - 1 : 0) * pixel_bytes;
  std::ptrdiff_t right = from_right ? -pixel_bytes : pixel_bytes, down = from_bottom ? -pitch : pitch;
  if (transposed) std::swap(right, down);
  reserve(to, transposed ? Size{height, width} : Size{width, height}, frame.format);
  // Pixel sizes of gray and RGB frames of u8, u16 and f32.
  with_one_of<1, 2, 3, 4, 6, 12>(pixel_bytes, [&]<int bytes>() {
    for (int y = 0; y < to.size().height; ++y)
      for (int x = 0; x < to.size().width; ++x)
        std::memcpy(static_cast<std::uint8_t*>(to.row(y)) + x * bytes, from + x * right + y * down, bytes);
  });
}

}  // namespace parafield::io
