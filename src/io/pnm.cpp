// PGM and PPM (netpbm): plain (P2, P3: numbers as text) and raw (P5, P6: bytes; 16-bit numbers, big-endian,
// if the maximum is above 255).
#include <cstring>
#include <utility>

#include "core/fail.hpp"
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
    if (!is_space(*here())) fail(ErrorCode::format, "damaged header: no white space after the maximum");
    ++at_;
  }

  /// The next number, at most `max`. `what` names it in errors.
  int number(const char* what, int max) {
    skip_space();
    if (at_end()) fail(ErrorCode::format, "the file ends at byte ", at_, ", before the ", what);
    if (!is_digit(*here()))
      fail(ErrorCode::format, "the ", what, " is missing: there is no number at byte ", at_);
    std::int64_t value = 0;
    for (; !at_end() && is_digit(*here()); ++at_) {
      value = 10 * value + (*here() - '0');
      if (value > max) fail(ErrorCode::format, "the ", what, " at byte ", at_, " is above ", max);
    }
    if (!at_end() && !is_space(*here()) && *here() != '#')
      fail(ErrorCode::format, "the ", what, " is not a number, at byte ", at_);
    return int(value);
  }

 private:
  void skip_comment() {
    while (at_ + 1 < bytes_.size() && *here() != '\n' && *here() != '\r') ++at_;
  }

  ByteSpan bytes_;
  std::size_t at_;
};

/// Scales values of a file, 0..maximum, to those of a frame, 0..full.
struct Scale {
  std::uint32_t maximum, full;

  std::uint32_t operator()(std::uint32_t value) const {
    return maximum == full ? value : (value * full + maximum / 2) / maximum;
  }
};

[[noreturn]] void fail_above(std::uint32_t value, int x, int y, std::uint32_t maximum) {
  fail(ErrorCode::format, "value ", value, " at pixel (", x, ", ", y, ") is above the file's maximum ",
       maximum);
}

template <class T>
void read_plain(Scanner& scan, FrameBuffer& frame, int channels, Scale scale) {
  for (int y = 0; y < frame.size().height; ++y) {
    T* values = static_cast<T*>(frame.row(y));
    for (int i = 0; i < frame.size().width * channels; ++i)
      values[i] = T(scale(std::uint32_t(scan.number("value of a pixel", int(scale.maximum)))));
  }
}

template <class T>
void read_raw(const std::uint8_t* bytes, FrameBuffer& frame, int channels, Scale scale) {
  for (int y = 0; y < frame.size().height; ++y) {
    T* values = static_cast<T*>(frame.row(y));
    for (int i = 0; i < frame.size().width * channels; ++i, bytes += sizeof(T)) {
      const std::uint32_t value = sizeof(T) == 1 ? bytes[0] : bytes[0] * 256u + bytes[1];
      if (value > scale.maximum) fail_above(value, i / channels, y, scale.maximum);
      values[i] = T(scale(value));
    }
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
  if (width < 1 || height < 1) fail(ErrorCode::format, "a frame cannot have ", width, "x", height, " pixels");
  if (maximum < 1) fail(ErrorCode::format, "the maximum is 0; it should be 1 to 65535");
  if (raw) scan.skip_one_space();

  // A plain value is at least a digit, and white space unless it is the last one.
  const bool wide = maximum > 255;
  const std::uint64_t values = std::uint64_t(width) * std::uint64_t(height) * (rgb ? 3 : 1);
  const std::uint64_t needed = raw ? values * (wide ? 2 : 1) : 2 * values - 1;
  if (scan.left() < needed)
    fail(ErrorCode::format, width, "x", height, " pixels need ", raw ? "" : "at least ", needed,
         " bytes after the header, the file has ", scan.left());
  // One line end after raw pixels is common. More bytes are another image, or the size in the header is
  // wrong.
  const bool line_end = scan.left() == needed + 1 && scan.here()[needed] == '\n';
  if (raw && scan.left() > needed && !line_end)
    fail(ErrorCode::format, width, "x", height, " pixels need ", needed,
         " bytes after the header, the file has ", scan.left(), "; a file of several images is not read");

  const PixelFormat format = wide ? (rgb ? PixelFormat::rgb_u16 : PixelFormat::gray_u16)
                                  : (rgb ? PixelFormat::rgb_u8 : PixelFormat::gray_u8);
  FrameBuffer frame({width, height}, format);
  const Scale scale{std::uint32_t(maximum), wide ? 65535u : 255u};
  if (raw)
    wide ? read_raw<std::uint16_t>(scan.here(), frame, channels(format), scale)
         : read_raw<std::uint8_t>(scan.here(), frame, channels(format), scale);
  else
    wide ? read_plain<std::uint16_t>(scan, frame, channels(format), scale)
         : read_plain<std::uint8_t>(scan, frame, channels(format), scale);
  if (!raw) {
    scan.skip_space();
    if (!scan.at_end())
      fail(ErrorCode::format, scan.left(), " bytes follow the last of ", width, "x", height, " pixels");
  }
  return frame;
}

Bytes encode_pnm(const Frame& frame) {
  const int count = channels(frame.format);
  const bool wide = bytes_per_pixel(frame.format) == 2 * count;
  const std::string header =
      text(count == 3 ? "P6" : "P5", "\n", frame.width, " ", frame.height, "\n", wide ? 65535 : 255, "\n");
  const std::size_t row_bytes = std::size_t(frame.width) * std::size_t(bytes_per_pixel(frame.format));
  auto [bytes, to] = start_file(header, row_bytes * std::size_t(frame.height));
  for (int y = 0; y < frame.height; ++y, to += row_bytes) {
    const auto* row = static_cast<const std::uint8_t*>(frame.data) + y * frame.pitch;
    std::memcpy(to, row, row_bytes);
    if (!wide) continue;
    for (std::size_t i = 0; i < row_bytes; i += 2) {
      std::uint16_t value;
      std::memcpy(&value, row + i, 2);
      to[i] = std::uint8_t(value >> 8);
      to[i + 1] = std::uint8_t(value);
    }
  }
  return std::move(bytes);
}

}  // namespace parafield::io
