// SPDX-License-Identifier: MIT
// BMP (Microsoft: Bitmap Storage): a header of 14 bytes, an information header, a palette, and rows that are
// padded to 4 bytes, the lowest first unless the height is negative. Rows of 4 and 8 bits may be compressed
// by run lengths.
#include <bit>

#include "io/pixels.hpp"

namespace parafield::io {
namespace {

/// Pixels for each byte of run lengths, at most: rows of 2048 px may be empty. A tiny file cannot be huge.
constexpr std::uint64_t most_run_pixels = 1024;
constexpr std::size_t file_header_bytes = 14, core_bytes = 12, info_bytes = 40;

enum class Coding : std::uint32_t { none = 0, runs_8 = 1, runs_4 = 2, bit_fields = 3, alpha_bit_fields = 6 };

struct Header {
  Size size;
  bool lowest_first = true;
  int bits = 0;
  bool has_runs = false;  // compressed by run lengths
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
  header.has_runs = (coding == Coding::runs_8 && bits == 8) || (coding == Coding::runs_4 && bits == 4);
  if (!known || (coding != Coding::none && !header.has_runs && (!has_masks || (bits != 16 && bits != 32))))
    fail_unsupported("a BMP file of ", bits, " bits with the compression ", std::uint32_t(coding),
                     " is not supported; 1, 4, 8, 16, 24 and 32 bits without compression, and 4 and 8 bits "
                     "with run lengths are");
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
  const std::size_t end = std::min(header.pixels_at, bytes.size());
  const std::size_t room = end - std::min(end, header.palette_at);
  palette.count = int(std::min(room / header.palette_entry_bytes, std::size_t(1) << header.bits));
  for (int i = 0; i < palette.count; ++i) {
    const std::uint8_t* const entry = &bytes[header.palette_at + std::size_t(i) * header.palette_entry_bytes];
    for (int c = 0; c < 3; ++c) palette.colors[i][c] = entry[2 - c];
    palette.gray = palette.gray && entry[0] == entry[1] && entry[0] == entry[2];
  }
  return palette;
}

/// Returns the rows of a file with run lengths as a file of 8 bits stores them. A pixel that the runs pass
/// over has the color 0.
Bytes expanded_runs(ByteSpan bytes, const Header& header) {
  const int width = header.size.width, height = header.size.height;
  const std::size_t pitch = (std::size_t(width) + 3) / 4 * 4;
  Bytes rows(pitch * std::size_t(height));
  std::size_t at = header.pixels_at;
  const auto next = [&]() -> std::uint8_t {
    if (at >= bytes.size()) fail_damaged("its run lengths are cut off");
    return bytes[at++];
  };
  int x = 0, y = 0;
  const auto put = [&](int index) {
    if (x >= width || y >= height)
      fail_damaged("its run lengths leave the ", header.size, " pixels");
    rows[std::size_t(y) * pitch + std::size_t(x++)] = std::uint8_t(index);
  };
  const auto put_pair = [&](int two, int count) {  // of 4 bits
    put(two >> 4);
    if (count > 1) put(two & 15);
  };
  constexpr int end_of_row = 0, end_of_file = 1, jump = 2;
  while (y < height) {
    if (y == height - 1 && x == width && at >= bytes.size()) break;  // some files lack the end
    const int count = next(), value = next();
    if (count > 0) {
      for (int i = 0; i < count; i += header.bits == 8 ? 1 : 2)
        header.bits == 8 ? put(value) : put_pair(value, count - i);
    } else if (value == end_of_row) {
      x = 0;
      ++y;
    } else if (value == end_of_file) {
      break;
    } else if (value == jump) {
      x += next();
      y += next();
      if (x > width || y > height) fail_damaged("its run lengths leave the ", header.size, " pixels");
    } else {
      const std::size_t first = at;
      for (int i = 0; i < value; i += header.bits == 8 ? 1 : 2)
        header.bits == 8 ? put(next()) : put_pair(next(), value - i);
      at += (at - first) % 2;
    }
  }
  return rows;
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
  Header header = read_header(bytes);
  const std::uint64_t pixels = std::uint64_t(header.size.width) * std::uint64_t(header.size.height),
                      left = bytes.size() - std::min<std::uint64_t>(header.pixels_at, bytes.size()),
                      needed = header.has_runs ? pixels / most_run_pixels
                                               : header.row_bytes() * std::uint64_t(header.size.height);
  if (header.pixels_at < header.palette_at || left < needed)
    fail_damaged(header.size, " pixels of ", header.bits, " bits need ", needed, " bytes, the file has ",
                 left, " after its headers");
  check_pixels("a BMP file", header.size.width, header.size.height);
  Palette palette;
  if (header.bits <= 8) palette = read_palette(bytes, header);
  Bytes rows;
  if (header.has_runs) {
    rows = expanded_runs(bytes, header);
    bytes = rows;
    header.bits = 8;
    header.pixels_at = 0;
  }
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
