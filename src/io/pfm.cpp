// PFM (Debevec): "PF" (three channels) or "Pf" (one), width, height and scale as text, one white space after
// each, then 32-bit floats, the lowest row first. A scale below 0 means little-endian. Flow has u and v in
// the first two channels (FlyingThings3D: Mayer et al. 2016).
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

#include "core/fail.hpp"
#include "io/bytes.hpp"
#include "io/formats.hpp"

namespace parafield::io {
namespace {

struct Pfm {
  int channels = 0;
  Size size;
  std::endian order = std::endian::little;
  const std::uint8_t* pixels = nullptr;

  /// Values of a row; y = 0 is the top row.
  const std::uint8_t* row(int y) const {
    return pixels + std::size_t(size.height - 1 - y) * std::size_t(size.width) * std::size_t(channels) * 4;
  }
};

/// Reads the next word of the header and the white space after it.
std::string_view next_word(ByteSpan bytes, std::size_t& at, const char* what) {
  while (at < bytes.size() && is_space(bytes[at])) ++at;
  const std::size_t start = at;
  while (at < bytes.size() && !is_space(bytes[at])) ++at;
  // No number is that long.
  if (at == bytes.size() || at == start || at - start > 40)
    fail(ErrorCode::format, "damaged header: no ", what, " at byte ", start);
  ++at;
  return {reinterpret_cast<const char*>(&bytes[start]), at - 1 - start};
}

template <class T>
T next_number(ByteSpan bytes, std::size_t& at, const char* what) {
  const std::string_view word = next_word(bytes, at, what);
  T value = {};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc{} || end != word.data() + word.size())
    fail(ErrorCode::format, "damaged header: the ", what, " is not a number, at byte ", at - 1 - word.size());
  return value;
}

/// Reads the header and checks the number of bytes after it.
Pfm open_pfm(ByteSpan bytes) {
  Pfm file;
  file.channels = bytes[1] == 'F' ? 3 : 1;
  std::size_t at = 2;
  file.size.width = next_number<int>(bytes, at, "width");
  file.size.height = next_number<int>(bytes, at, "height");
  // Its sign is the byte order. Its absolute value, a unit of the values, is used by nobody.
  const auto scale = next_number<float>(bytes, at, "scale");
  if (!std::isfinite(scale) || scale == 0)
    fail(ErrorCode::format, "the scale is ", scale, "; below 0 it means little-endian, above 0 big-endian");
  file.order = scale < 0 ? std::endian::little : std::endian::big;
  const auto [width, height] = file.size;
  if (width < 1 || height < 1 || width > max_side || height > max_side)
    fail(ErrorCode::format, "a PFM file of ", width, "x", height, " pixels; each side is 1 to ", max_side);
  const std::uint64_t needed =
      std::uint64_t(width) * std::uint64_t(height) * std::uint64_t(file.channels) * 4;
  if (bytes.size() - at != needed)
    fail(ErrorCode::format, width, "x", height, " pixels need ", needed,
         " bytes after the header, the file has ", bytes.size() - at);
  file.pixels = bytes.data() + at;
  return file;
}

/// A little-endian file.
StartedFile start_pfm(int channels, Size size) {
  const std::string header =
      text(channels == 3 ? "PF" : "Pf", "\n", size.width, " ", size.height, "\n-1.0\n");
  return start_file(header, 4 * std::size_t(channels) * std::size_t(size.width) * std::size_t(size.height));
}

}  // namespace

bool is_pfm(ByteSpan bytes) {
  return bytes.size() >= 3 && bytes[0] == 'P' && (bytes[1] == 'F' || bytes[1] == 'f') && is_space(bytes[2]);
}

bool is_pfm_of_flow(ByteSpan bytes) { return is_pfm(bytes) && bytes[1] == 'F'; }

FrameBuffer decode_pfm_frame(ByteSpan bytes) {
  const Pfm file = open_pfm(bytes);
  FrameBuffer frame(file.size, file.channels == 3 ? PixelFormat::rgb_f32 : PixelFormat::gray_f32);
  for (int y = 0; y < file.size.height; ++y) {
    auto* values = static_cast<float*>(frame.row(y));
    const std::uint8_t* from = file.row(y);
    for (int i = 0; i < file.size.width * file.channels; ++i, from += 4)
      values[i] = load_float(from, file.order);
  }
  return frame;
}

FlowField decode_pfm_flow(ByteSpan bytes) {
  const Pfm file = open_pfm(bytes);
  if (file.channels != 3)
    fail(ErrorCode::format,
         "a PFM file of one channel (Pf), not flow; flow has three (PF): u, v and one that is ignored");
  FlowField flow(file.size, {}, false);
  for (int y = 0; y < file.size.height; ++y) {
    const std::uint8_t* from = file.row(y);
    for (int x = 0; x < file.size.width; ++x, from += 12)
      set_flow(flow, x, y, load_float(from, file.order), load_float(from + 4, file.order));
  }
  return flow;
}

Bytes encode_pfm_frame(const Frame& frame) {
  const int row_values = frame.width * channels(frame.format);
  auto [bytes, p] = start_pfm(channels(frame.format), {frame.width, frame.height});
  for (int y = frame.height - 1; y >= 0; --y) {
    const auto* from = static_cast<const std::uint8_t*>(frame.data) + y * frame.pitch;
    for (int i = 0; i < row_values; ++i, from += 4) {
      float value;
      std::memcpy(&value, from, 4);  // the pitch need not be a multiple of 4
      p = store_float(p, value);
    }
  }
  return std::move(bytes);
}

Bytes encode_pfm_flow(const FlowView& flow, bool mark_invalid) {
  auto [bytes, p] = start_pfm(3, flow.size());
  for (int y = flow.size().height - 1; y >= 0; --y)
    for (int x = 0; x < flow.size().width; ++x) {
      const auto [u, v] = written_flow(flow, x, y, mark_invalid);
      p = store_float(store_float(store_float(p, u), v), 0);
    }
  return std::move(bytes);
}

}  // namespace parafield::io
