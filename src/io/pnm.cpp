// SPDX-License-Identifier: MIT
// PGM and PPM (netpbm): plain (P2, P3: numbers as text) and raw (P5, P6: bytes; 16-bit numbers, big-endian,
// if the maximum is above 255).
#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "io/bytes.hpp"
#include "io/formats.hpp"

namespace parafield::io {
namespace {

bool is_digit(std::uint8_t c) { return c >= '0' && c <= '9'; }

/// Reads numbers that are separated by white space and comments (# to the end of the line).
class Scanner {
 public:
  Scanner(ByteSpan bytes, std::size_t at) : bytes_(bytes), at_(at) {}

  std::size_t left() const { return bytes_.size() - at_; }
  bool at_end() const { return left() == 0; }
  const std::uint8_t* here() const { return bytes_.data() + at_; }

  void skip_space() {
    for (; !at_end(); ++at_)
      if (*here() == '#')
        skip_comment();
      else if (!is_space(*here()))
        break;
  }

  /// Skips the one white space between the header and raw pixels, and a comment before it.
  void skip_one_space() {
    if (!at_end() && *here() == '#') skip_comment();
    if (at_end()) return;
    if (!is_space(*here())) fail_format("damaged header: no white space after the maximum");
    ++at_;
  }

  /// The next number, at most `max`. `what` names it in errors.
  int number(const char* what, int max) {
    skip_space();
    if (at_end()) fail_format("the file ends at byte ", at_, ", before the ", what);
    if (!is_digit(*here())) fail_format("the ", what, " is missing: there is no number at byte ", at_);
    std::int64_t value = 0;
    for (; !at_end() && is_digit(*here()); ++at_) {
      value = 10 * value + (*here() - '0');
      if (value > max) fail_format("the ", what, " at byte ", at_, " is above ", max);
    }
    if (!at_end() && !is_space(*here()) && *here() != '#')
      fail_format("the ", what, " is not a number, at byte ", at_);
    return int(value);
  }

  /// The next number of one byte, or of two, big-endian. The caller has checked the size of the file.
  std::uint32_t raw_number(std::size_t size) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8 | bytes_[at_++];
    return value;
  }

 private:
  void skip_comment() {
    while (at_ + 1 < bytes_.size() && *here() != '\n' && *here() != '\r') ++at_;
  }

  ByteSpan bytes_;
  std::size_t at_;
};

/// Reads the pixels and scales their values, 0..maximum, to those of a frame, 0..full.
template <class T>
void read_pixels(Scanner& scan, bool raw, std::uint32_t maximum, FrameBuffer& frame) {
  constexpr std::uint32_t full = std::numeric_limits<T>::max();
  const View<T> values = values_of<T>(frame);
  for (int y = 0; y < values.height; ++y)
    for (int i = 0; i < values.width; ++i) {
      const std::uint32_t value =
          raw ? scan.raw_number(sizeof(T)) : std::uint32_t(scan.number("value of a pixel", int(maximum)));
      if (value > maximum)
        fail_format("value ", value, " at pixel (", i / channels(frame.format()), ", ", y,
                    ") is above the file's maximum ", maximum);
      values(i, y) = T(maximum == full ? value : (value * full + maximum / 2) / maximum);
    }
}

}  // namespace

bool is_pnm(ByteSpan bytes) {
  return bytes.size() >= 3 && bytes[0] == 'P' &&
         (bytes[1] == '2' || bytes[1] == '3' || bytes[1] == '5' || bytes[1] == '6') &&
         (is_space(bytes[2]) || bytes[2] == '#');
}

FrameBuffer decode_pnm(ByteSpan bytes) {
  const bool raw = bytes[1] >= '5', rgb = bytes[1] == '3' || bytes[1] == '6';
  Scanner scan(bytes, 2);
  const int width = scan.number("width", max_side), height = scan.number("height", max_side);
  const int maximum = scan.number("maximum", 65535);
  if (width < 1 || height < 1) fail_format("a frame cannot have ", width, "x", height, " pixels");
  if (maximum < 1) fail_format("the maximum is 0; it should be 1 to 65535");
  if (raw) scan.skip_one_space();

  // A plain value is at least a digit, and white space unless it is the last one.
  const bool wide = maximum > 255;
  const std::uint64_t values = std::uint64_t(width) * std::uint64_t(height) * (rgb ? 3 : 1);
  const std::uint64_t needed = raw ? values * (wide ? 2 : 1) : 2 * values - 1;
  if (scan.left() < needed)
    fail_format(width, "x", height, " pixels need ", raw ? "" : "at least ", needed,
                " bytes after the header, the file has ", scan.left());
  // One line end after raw pixels is common. More bytes are another image, or the size in the header is
  // wrong.
  const bool line_end = scan.left() == needed + 1 && scan.here()[needed] == '\n';
  if (raw && scan.left() > needed && !line_end)
    fail_format(width, "x", height, " pixels need ", needed, " bytes after the header, the file has ",
                scan.left(), "; a file of several images is not read");

  FrameBuffer frame({width, height}, integer_format(rgb, wide));
  wide ? read_pixels<std::uint16_t>(scan, raw, std::uint32_t(maximum), frame)
       : read_pixels<std::uint8_t>(scan, raw, std::uint32_t(maximum), frame);
  if (!raw) {
    scan.skip_space();
    if (!scan.at_end()) fail_format(scan.left(), " bytes follow the last of ", width, "x", height, " pixels");
  }
  return frame;
}

Bytes encode_pnm(const Frame& frame) {
  const bool wide = bytes_per_pixel(frame.format) == 2 * channels(frame.format);
  const std::string header = text(channels(frame.format) == 3 ? "P6" : "P5", "\n", frame.width, " ",
                                  frame.height, "\n", wide ? 65535 : 255, "\n");
  const auto row_size = std::size_t(row_bytes(frame));
  Bytes bytes(header.size() + row_size * std::size_t(frame.height));
  std::uint8_t* to = std::ranges::copy(header, bytes.data()).out;
  for (int y = 0; y < frame.height; ++y, to += row_size) {
    std::memcpy(to, static_cast<const char*>(frame.data) + y * frame.pitch, row_size);
    if (wide && std::endian::native == std::endian::little)
      for (std::size_t i = 0; i < row_size; i += 2) std::swap(to[i], to[i + 1]);
  }
  return bytes;
}

}  // namespace parafield::io
