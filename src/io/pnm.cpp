// SPDX-License-Identifier: MIT
// PGM and PPM (netpbm): plain (P2, P3: numbers as text) and raw (P5, P6: bytes; 16-bit numbers, big-endian,
// if the maximum is above 255).
#include <algorithm>
#include <cstring>

#include "io/pixels.hpp"

namespace parafield::io {
namespace {

bool is_digit(int c) { return c >= '0' && c <= '9'; }
bool is_space_or_end(int c) { return c < 0 || is_space(std::uint8_t(c)); }

/// Reads numbers that are separated by white space and comments (# to the end of the line).
class Scanner {
 public:
  explicit Scanner(ByteStream& stream) : stream_(stream) {}

  void skip_comment() {
    for (int c = stream_.look(); c >= 0 && c != '\n' && c != '\r'; c = stream_.look()) advance();
  }

  /// Skips the single white space between the header and raw pixels, and a comment before it.
  void skip_one_space() {
    gap_ = 0;
    if (stream_.look() == '#') skip_comment();
    if (stream_.look() < 0) return;
    if (!is_space_or_end(stream_.look())) fail_format("damaged header: no white space after the maximum");
    stream_.advance();
  }

  /// Reads the next number, at most `max`. `what` names the number in errors.
  int number(const char* what, int max) {
    gap_ = 0;
    for (int c = stream_.look(); c == '#' || (c >= 0 && is_space(std::uint8_t(c))); c = stream_.look())
      c == '#' ? skip_comment() : advance();
    const std::uint64_t start = stream_.position();
    if (stream_.look() < 0)
      fail_format("the ", stream_.what(), " ends at byte ", start, ", before the ", what);
    if (!is_digit(stream_.look()))
      fail_format("the ", what, " is missing: there is no number at byte ", start);
    std::int64_t value = 0;
    for (int c = stream_.look(); is_digit(c); c = stream_.look()) {
      value = 10 * value + (c - '0');
      if (value > max) fail_format("the ", what, " at byte ", start, " is above ", max);
      advance();
    }
    if (!is_space_or_end(stream_.look()) && stream_.look() != '#')
      fail_format("the ", what, " is not a number, at byte ", start);
    return int(value);
  }

 private:
  /// Limits a gap, because a stream may continue forever with comments, white space or zeros.
  void advance() {
    constexpr int most = 1 << 16;
    if (++gap_ > most) fail_format("no number in the ", most, " bytes before byte ", stream_.position());
    stream_.advance();
  }

  ByteStream& stream_;
  int gap_ = 0;
};

/// Scales the values of raw pixels, 0..maximum, to the frame's range.
template <class T>
void scale(FrameBuffer& frame, std::uint32_t maximum) {
  const std::vector<T> scaled = full_range<T>(maximum);
  const View<T> values = values_of<T>(frame);
  for (int y = 0; y < values.height; ++y)
    for (int i = 0; i < values.width; ++i) {
      T& value = values(i, y);
      if (value > maximum)
        fail_format("value ", int(value), " at pixel (", i / channels(frame.format()), ", ", y,
                    ") is above the file's maximum ", maximum);
      value = scaled[value];
    }
}

template <class T>
void read_raw(ByteStream& stream, FrameBuffer& frame, std::uint32_t maximum) {
  read_rows(stream, rows_of(frame));
  if constexpr (sizeof(T) == 2 && std::endian::native == std::endian::little) swap_bytes<T>(rows_of(frame));
  if (maximum != std::numeric_limits<T>::max()) scale<T>(frame, maximum);
}

template <class T>
void read_plain(Scanner& scan, FrameBuffer& frame, std::uint32_t maximum) {
  const std::vector<T> scaled = full_range<T>(maximum);
  const View<T> values = values_of<T>(frame);
  for (int y = 0; y < values.height; ++y)
    for (int i = 0; i < values.width; ++i)
      values(i, y) = scaled[std::size_t(scan.number("value of a pixel", int(maximum)))];
}

}  // namespace

bool is_pnm(ByteSpan bytes) {
  return bytes.size() >= 3 && bytes[0] == 'P' &&
         (bytes[1] == '2' || bytes[1] == '3' || bytes[1] == '5' || bytes[1] == '6') &&
         (is_space(bytes[2]) || bytes[2] == '#');
}

FrameBuffer read_pnm(ByteStream& stream) {
  const ByteSpan magic = stream.peek(4);
  const bool raw = magic[1] >= '5', rgb = magic[1] == '3' || magic[1] == '6';
  // Programs on Windows may end the header's lines with CR LF.
  const bool two_ends = text_of(magic).ends_with("\r\n");
  for (int i = 0; i < 2; ++i) stream.advance();
  Scanner scan(stream);
  const int width = scan.number("width", max_side), height = scan.number("height", max_side);
  const int maximum = scan.number("maximum", 65535);
  if (width < 1 || height < 1) fail_format("a frame cannot have ", width, "x", height, " pixels");
  if (maximum < 1) fail_format("the maximum is 0; it should be 1 to 65535");
  if (raw) scan.skip_one_space();
  if (raw && two_ends && stream.look() == '\n') stream.advance();

  // A plain value takes at least one digit, and white space unless it is the last one.
  const bool wide = maximum > 255;
  const std::uint64_t values = std::uint64_t(width) * std::uint64_t(height) * (rgb ? 3 : 1);
  if (raw)
    check_follow(stream, {width, height}, values * (wide ? 2 : 1));
  else
    check_follow(stream, {width, height}, 2 * values - 1, "at least ");
  check_pixels("a frame", width, height);
  FrameBuffer frame({width, height}, integer_format(rgb, wide));
  const auto fill = [&]<class T>(T) {
    raw ? read_raw<T>(stream, frame, std::uint32_t(maximum))
        : read_plain<T>(scan, frame, std::uint32_t(maximum));
  };
  wide ? fill(std::uint16_t()) : fill(std::uint8_t());
  return frame;
}

Bytes encode_pnm(const Frame& frame) {
  const bool wide = bytes_per_value(frame.format) == 2;
  const std::string header = text(channels(frame.format) == 3 ? "P6" : "P5", "\n", frame.width, " ",
                                  frame.height, "\n", wide ? 65535 : 255, "\n");
  const auto row_size = std::size_t(row_bytes(frame));
  Bytes bytes(header.size() + row_size * std::size_t(frame.height));
  std::uint8_t* to = std::ranges::copy(header, bytes.data()).out;
  for (int y = 0; y < frame.height; ++y, to += row_size) {
    std::memcpy(to, static_cast<const char*>(frame.data) + y * frame.pitch, row_size);
    if (wide && std::endian::native == std::endian::little) swap_bytes<std::uint16_t>({to, row_size, 1, 0});
  }
  return bytes;
}

}  // namespace parafield::io
