// SPDX-License-Identifier: MIT
// BMP (Microsoft: Bitmap Storage): a header of 14 bytes, an information header, a palette, and rows that are
// padded to 4 bytes, the lowest first unless the height is negative. Files that are compressed by run
// lengths, which hardly any program writes, are not read.
#include <bit>

#include "io/pixels.hpp"

namespace parafield::io {
namespace {

constexpr std::size_t file_header_bytes = 14, core_bytes = 12, info_bytes = 40;

enum class Coding : std::uint32_t { none = 0, bit_fields = 3, alpha_bit_fields = 6 };

struct Header {
  Size size;
  bool lowest_first = true;
  int bits = 0;
  std::size_t palette_at = 0, palette_entry_bytes = 4, pixels_at = 0;
  std::uint32_t masks[3] = {0xff0000, 0xff00, 0xff};  // red, green, blue; of 16 and 32 bits

  std::size_t row_bytes() const { return (std::size_t(size.width) * std::size_t(bits) + 31) / 32 * 4; }
};

[[noreturn]] void fail_damaged(const auto&... why) { fail_format("damaged BMP file: ", why...); }

Header read_header(ByteSpan bytes) {
  const std::uint8_t* const info = bytes.data() + file_header_bytes;
  const std::size_t length = load_u32(info), most = bytes.size() - file_header_bytes;
  if (length > most) fail_damaged("its header of ", length, " bytes is cut off");
  const bool core = length == core_bytes;
  const std::int64_t width = core ? load_u16(info + 4) : std::int32_t(load_u32(info + 4)),
                     rows = core ? load_u16(info + 6) : std::int32_t(load_u32(info + 8));
  check_sides("a BMP file", width, rows < 0 ? -rows : rows);
  Header header{.size = {int(width), int(rows < 0 ? -rows : rows)},
                .lowest_first = rows > 0,
                .bits = load_u16(info + (core ? 10 : 14)),
                .palette_at = file_header_bytes + length,
                .palette_entry_bytes = core ? std::size_t(3) : 4,
                .pixels_at = load_u32(bytes.data() + 10)};
  const auto coding = core ? Coding::none : Coding(load_u32(info + 16));
  const bool has_masks = coding == Coding::bit_fields || coding == Coding::alpha_bit_fields;
  const int bits = header.bits;
  const bool known = bits == 1 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32;
  if (!known || (coding != Coding::none && (!has_masks || (bits != 16 && bits != 32))))
    fail_unsupported("a BMP file of ", bits, " bits with the compression ", std::uint32_t(coding),
                     " is not supported; 1, 4, 8, 16, 24 and 32 bits without compression are");
  if (bits == 16) header.masks[0] = 0x7c00, header.masks[1] = 0x3e0, header.masks[2] = 0x1f;
  if (has_masks) {
    if (most < info_bytes + 12) fail_damaged("its bit masks are cut off");
    for (std::size_t c = 0; c < 3; ++c) header.masks[c] = load_u32(info + info_bytes + 4 * c);
    for (const std::uint32_t mask : header.masks)
      if (mask == 0 || !std::has_single_bit((mask >> std::countr_zero(mask)) + 1ull))
        fail_damaged("one of its bit masks is ", mask);
  }
  return header;
}

/// Colors of the palette, as red, green and blue.
struct Palette {
  std::uint8_t colors[256][3] = {};
  int count = 0;
  bool gray = true;
};

Palette read_palette(ByteSpan bytes, const Header& header) {
  Palette palette;
  // Its length is what fits before the pixels: the header's number of used colors is often wrong.
  const std::size_t room = header.pixels_at - std::min(header.pixels_at, header.palette_at);
  palette.count = int(std::min(room / header.palette_entry_bytes, std::size_t(1) << header.bits));
  for (int i = 0; i < palette.count; ++i) {
    const std::uint8_t* const entry = &bytes[header.palette_at + std::size_t(i) * header.palette_entry_bytes];
    for (int c = 0; c < 3; ++c) palette.colors[i][c] = entry[2 - c];
    palette.gray = palette.gray && entry[0] == entry[1] && entry[0] == entry[2];
  }
  return palette;
}

/// A color value of `mask`, scaled to 0..255.
std::uint8_t scaled(std::uint32_t pixel, std::uint32_t mask) {
  const int shift = std::countr_zero(mask);
  const std::uint64_t largest = mask >> shift;
  return std::uint8_t((((pixel & mask) >> shift) * std::uint64_t(255) + largest / 2) / largest);
}

}  // namespace

bool is_bmp(ByteSpan bytes) {
  if (bytes.size() < file_header_bytes + 4 || !starts_with(bytes, "BM")) return false;
  const std::uint32_t length = load_u32(&bytes[file_header_bytes]);
  return length == core_bytes || (length >= info_bytes && length <= 124);
}

FrameBuffer decode_bmp(ByteSpan bytes) {
  if (bytes.size() < file_header_bytes + core_bytes) fail_damaged("its header is cut off");
  const Header header = read_header(bytes);
  const std::uint64_t needed = std::uint64_t(header.row_bytes()) * std::uint64_t(header.size.height),
                      left = bytes.size() - std::min<std::uint64_t>(header.pixels_at, bytes.size());
  if (header.pixels_at < header.palette_at || left < needed)
    fail_damaged(header.size, " pixels of ", header.bits, " bits need ", needed, " bytes, the file has ",
                 left, " after its headers");
  check_pixels("a BMP file", header.size.width, header.size.height);
  Palette palette;
  if (header.bits <= 8) palette = read_palette(bytes, header);
  const bool gray = header.bits <= 8 && palette.gray;
  FrameBuffer frame(header.size, gray ? PixelFormat::gray_u8 : PixelFormat::rgb_u8);
  for (int y = 0; y < header.size.height; ++y) {
    const int stored = header.lowest_first ? header.size.height - 1 - y : y;
    const std::uint8_t* const row = &bytes[header.pixels_at + std::size_t(stored) * header.row_bytes()];
    auto* to = static_cast<std::uint8_t*>(frame.row(y));
    for (std::size_t x = 0; x < std::size_t(header.size.width); ++x) {
      if (header.bits <= 8) {
        const std::size_t bit = x * std::size_t(header.bits);
        const int index = row[bit / 8] >> (8 - header.bits - int(bit % 8)) & ((1 << header.bits) - 1);
        if (index >= palette.count)
          fail_damaged("pixel (", x, ", ", y, ") has the color ", index, " of ", palette.count);
        const std::uint8_t* const color = palette.colors[index];
        for (int c = 0; c < (gray ? 1 : 3); ++c) *to++ = color[c];
      } else if (header.bits == 24) {
        for (int c = 2; c >= 0; --c) *to++ = row[3 * x + std::size_t(c)];
      } else {
        const std::uint32_t pixel = header.bits == 16 ? load_u16(row + 2 * x) : load_u32(row + 4 * x);
        for (const std::uint32_t mask : header.masks) *to++ = scaled(pixel, mask);
      }
    }
  }
  return frame;
}

}  // namespace parafield::io
