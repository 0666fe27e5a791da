// SPDX-License-Identifier: MIT
// YUV4MPEG2 (yuv4mpeg(5) of MJPEG tools): a line with the size of the frames, then for each frame a line
// FRAME and its planes Y, Cb and Cr, row by row. Values of more than 8 bits take two bytes, little-endian.
#include "io/y4m.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/arithmetic.hpp"
#include "io/pixels.hpp"
#include "parafield/detail/text.hpp"

namespace parafield::io {
namespace {

/// Reads the rest of a line, without its end.
std::string rest_of_line(ByteStream& stream, const char* what) {
  constexpr std::size_t longest = 1000;
  const std::uint64_t start = stream.position();
  std::string line;
  for (int c = stream.look(); c != '\n'; c = stream.look()) {
    if (c < 0) fail_format("ends at byte ", stream.position(), ", within the ", what);
    if (line.size() == longest)
      fail_format("the ", what, " at byte ", start, " has no end in ", longest, " bytes");
    line += char(c);
    stream.advance();
  }
  stream.advance();
  return line;
}

int number(std::string_view word) {
  int value = 0;
  if (!read_number(word.substr(1), value))
    fail_format("damaged header: ", detail::value_text(word), " is no number");
  return value;
}

/// Parses "F30000:1001"; 0 if it is not a ratio.
double ratio(std::string_view word) {
  const std::size_t colon = word.find(':');
  if (colon == word.npos) return 0;
  int a = 0, b = 0;
  std::from_chars(word.data() + 1, word.data() + colon, a);
  std::from_chars(word.data() + colon + 1, word.data() + word.size(), b);
  return a > 0 && b > 0 ? double(a) / b : 0;
}

/// How to interpolate the value at position i of a plane from two values of a plane of half its size.
struct Taps {
  int a, b;
  float weight_of_b;
};
/// `first`: the half-size value is at the first of its two positions; otherwise it is between them.
Taps taps_at(int i, int count, bool first) {
  const int at = i / 2;
  if (first) return {at, smaller(at + i % 2, count - 1), 0.5f * float(i % 2)};
  return {at, i % 2 ? smaller(at + 1, count - 1) : larger(at - 1, 0), 0.25f};
}

/// Upsamples one row of chroma to the size of luma and subtracts `zero`. `line` and `to` must have room for
/// two values more than a row of luma.
template <class T>
void upsample(View<const T> plane, Size size, int y, bool left, bool top, float zero, float* line,
              float* to) {
  const int count = plane.width;
  const Taps taps = plane.height == size.height ? Taps{y, y, 0} : taps_at(y, plane.height, top);
  const T *a = plane.row(taps.a), *b = plane.row(taps.b);
  const float of_b = taps.weight_of_b, of_a = 1 - of_b;
  if (count == size.width) line = to;
  for (int i = 0; i < count; ++i) line[i] = of_a * float(a[i]) + of_b * float(b[i]) - zero;
  if (count == size.width) return;
  line[count] = line[count - 1];
  if (left) {
    for (int i = 0; i < count; ++i) {
      to[2 * i] = line[i];
      to[2 * i + 1] = 0.5f * (line[i] + line[i + 1]);
    }
    return;
  }
  to[0] = line[0];
  for (int i = 0; i < count; ++i) {
    to[2 * i + 1] = 0.75f * line[i] + 0.25f * line[i + 1];
    to[2 * i + 2] = 0.25f * line[i] + 0.75f * line[i + 1];
  }
}

/// Converts the values of the three planes to RGB, by BT.601.
struct Conversion {
  float black, luma, zero, chroma, full;

  Conversion(int depth, bool full_range)
      : black(full_range ? 0 : std::ldexp(16.f, depth - 8)),
        zero(std::ldexp(128.f, depth - 8)),
        full(depth > 8 ? 65535 : 255) {
    const float largest = std::ldexp(1.f, depth) - 1;
    luma = full / (full_range ? largest : std::ldexp(219.f, depth - 8));
    chroma = full / (full_range ? largest : std::ldexp(224.f, depth - 8));
  }

  /// `cb` and `cr` must have their zero subtracted. `red`, `green` and `blue` are scratch rows.
  template <class T>
  void row(const T* y, const float* cb, const float* cr, int width, T* red, T* green, T* blue, T* rgb) const {
    const auto [from_black, gain, from_zero, chroma_gain, most] = *this;
    const float r_of_cr = 1.402f * chroma_gain, b_of_cb = 1.772f * chroma_gain,
                g_of_cb = -0.344136f * chroma_gain, g_of_cr = -0.714136f * chroma_gain;
    const auto value = [most = most](float v) {
      v += 0.5f;
      return T(int(v < 0 ? 0 : v > most ? most : v));
    };
    for (int x = 0; x < width; ++x) {
      const float bright = gain * (float(y[x]) - from_black);
      red[x] = value(bright + r_of_cr * cr[x]);
      green[x] = value(bright + g_of_cb * cb[x] + g_of_cr * cr[x]);
      blue[x] = value(bright + b_of_cb * cb[x]);
    }
    for (int x = 0; x < width; ++x) {
      rgb[3 * x] = red[x];
      rgb[3 * x + 1] = green[x];
      rgb[3 * x + 2] = blue[x];
    }
  }
};

/// Scales values of `depth` bits to 16 bits.
void stretch(FrameBuffer& frame, int depth) {
  const std::uint32_t largest = (1u << depth) - 1;
  const std::vector<std::uint16_t> scaled = full_range<std::uint16_t>(largest);
  const View<std::uint16_t> values = values_of<std::uint16_t>(frame);
  for (int y = 0; y < values.height; ++y)
    for (int x = 0; x < values.width; ++x)
      values(x, y) = scaled[smaller<std::uint32_t>(values(x, y), largest)];
}

}  // namespace

Y4mReader::Y4mReader(ByteStream& stream, bool gray) : stream_(stream), gray_(gray) {
  const std::string line = rest_of_line(stream, "header");
  std::string kind = "420";
  std::string_view words = line;
  for (words.remove_prefix(std::min(words.find(' '), words.size())); !words.empty();) {
    words.remove_prefix(1);
    const std::string_view word = words.substr(0, words.find(' '));
    words.remove_prefix(word.size());
    if (word.starts_with('W')) size_.width = number(word);
    if (word.starts_with('H')) size_.height = number(word);
    if (word.starts_with('C')) kind = word.substr(1);
    if (word.starts_with('F')) rate_ = ratio(word);
    if (word == "It" || word == "Ib" || word == "Im") interlaced_ = true;
    if (word == "XCOLORRANGE=FULL") full_range_ = true;
  }
  if (size_.width == 0 || size_.height == 0)
    fail_format("damaged header: it gives no ", size_.width == 0 ? "width (W)" : "height (H)");
  check_sides("a Y4M stream", size_.width, size_.height);
  io::check_pixels("a Y4M stream", size_.width, size_.height);

  const auto unsupported = [&] {
    fail_unsupported("planes of the kind ", detail::value_text(kind),
                     " are not supported; mono, 420, 422 and 444 of 8 to 16 bits are");
  };
  std::string_view variant = kind;
  const auto accept = [&](std::string_view name) {
    if (!variant.starts_with(name)) return false;
    variant.remove_prefix(name.size());
    return true;
  };
  const auto [width, height] = size_;
  const Size half = {(width + 1) / 2, (height + 1) / 2};
  const bool mono = accept("mono"), is_420 = !mono && accept("420");
  if (is_420)
    chroma_ = half;
  else if (accept("422"))
    chroma_ = {half.width, height};
  else if (accept("444"))
    chroma_ = size_;
  else if (!mono)
    unsupported();
  left_ = !(is_420 && (variant.empty() || variant == "jpeg"));
  top_ = variant == "paldv";
  if (is_420 && (variant == "jpeg" || variant == "mpeg2" || variant == "paldv")) variant = {};
  if (accept("p") || (mono && !variant.empty())) {
    if (!read_number(variant, depth_) || depth_ < 8 || depth_ > 16) unsupported();
  } else if (!variant.empty()) {
    unsupported();
  }
}

bool Y4mReader::has_next() {
  const ByteSpan start = stream_.peek(5);
  if (start.empty() || starts_with(start, "FRAME")) return !start.empty();
  fail_format("no FRAME at byte ", stream_.position());
}

void Y4mReader::next(FrameBuffer& frame) {
  rest_of_line(stream_, "line FRAME");
  const int value_bytes = depth_ > 8 ? 2 : 1;
  const auto bytes_in = [&](Size plane) {
    return std::size_t(plane.width) * std::size_t(plane.height) * std::size_t(value_bytes);
  };
  const std::size_t all = bytes_in(size_) + 2 * bytes_in(chroma_);
  if (const std::uint64_t coming = stream_.coming(all); coming < all) fail_ended(coming, "", all);
  const bool mono = chroma_ == Size{}, gray = mono || gray_;
  reserve(frame, size_, integer_format(!gray, value_bytes == 2));
  // The standards of color videos define black and white; mono of many bits may hold sensor data.
  frame.set_range(value_bytes == 2 && !mono ? ValueRange{0, 65535} : ValueRange{});
  Rows rows = rows_of(frame);
  if (!mono) {
    planes_.resize(all);
    rows = {planes_.data(), all, 1, 0};
  }
  read_rows(stream_, rows);
  if constexpr (std::endian::native == std::endian::big)
    if (value_bytes == 2) swap_bytes<std::uint16_t>(rows);
  if (!mono)
    value_bytes == 2 ? convert<std::uint16_t>(frame) : convert<std::uint8_t>(frame);
  else if (value_bytes == 2 && depth_ < 16)
    stretch(frame, depth_);
}

template <class T>
void Y4mReader::convert(FrameBuffer& frame) const {
  const auto plane = [](const std::uint8_t* data, Size size) {
    return View<const T>{reinterpret_cast<const T*>(data), size.width, size.height,
                         std::ptrdiff_t(sizeof(T)) * size.width};
  };
  const std::size_t luma = sizeof(T) * std::size_t(size_.width) * std::size_t(size_.height),
                    chroma = sizeof(T) * std::size_t(chroma_.width) * std::size_t(chroma_.height);
  const View<const T> y_plane = plane(planes_.data(), size_),
                      cb_plane = plane(planes_.data() + luma, chroma_),
                      cr_plane = plane(planes_.data() + luma + chroma, chroma_);
  const View<T> values = values_of<T>(frame);
  if (gray_) {
    for (int y = 0; y < size_.height; ++y)
      expand(y_plane.row(y), size_.width, depth_, full_range_, values.row(y));
    return;
  }
  const auto room = std::size_t(size_.width) + 2;
  std::vector<float> line(room), cb(room), cr(room);
  std::vector<T> red(room), green(room), blue(room);
  const Conversion conversion(depth_, full_range_);
  for (int y = 0; y < size_.height; ++y) {
    upsample(cb_plane, size_, y, left_, top_, conversion.zero, line.data(), cb.data());
    upsample(cr_plane, size_, y, left_, top_, conversion.zero, line.data(), cr.data());
    conversion.row(y_plane.row(y), cb.data(), cr.data(), size_.width, red.data(), green.data(), blue.data(),
                   values.row(y));
  }
}

}  // namespace parafield::io
