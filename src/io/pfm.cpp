// SPDX-License-Identifier: MIT
// PFM (Debevec): "PF" (three channels) or "Pf" (one), width, height and scale as text, each followed by one
// white space, then 32-bit floats, the lowest row first. A scale below 0 means little-endian. Flow has u and
// v in the first two channels (FlyingThings3D: Mayer et al. 2016). If the first line ends in CR LF, as
// written by programs on Windows, so do the others.
#include <cmath>

#include "io/floats.hpp"
#include "io/pixels.hpp"

namespace parafield::io {
namespace {

/// Reads the next number of the header and the white space after it. `what` names the number in errors.
template <class T>
T next_number(ByteStream& stream, const char* what) {
  constexpr std::size_t longest = 40;  // no number and no gap is longer
  std::string word;
  std::size_t gap = 0;
  for (; stream.look() >= 0 && is_space(std::uint8_t(stream.look())) && gap <= longest; ++gap)
    stream.advance();
  const std::uint64_t start = stream.position();
  for (int c = stream.look(); c >= 0 && !is_space(std::uint8_t(c)) && word.size() <= longest;
       c = stream.look()) {
    word += char(c);
    stream.advance();
  }
  if (stream.look() < 0 || word.empty() || word.size() > longest || gap > longest)
    fail_format("damaged header: no ", what, " at byte ", start);
  stream.advance();
  T value = {};
  if (!read_number(word, value))
    fail_format("damaged header: the ", what, " is not a number, at byte ", start);
  return value;
}

/// The header, as an array without values.
Floats read_header(ByteStream& stream) {
  const ByteSpan start = stream.peek(4);
  const int channels = start[1] == 'F' ? 3 : 1;
  const bool two_ends = text_of(start).ends_with("\r\n");
  for (int i = 0; i < 2; ++i) stream.advance();
  const int width = next_number<int>(stream, "width"), height = next_number<int>(stream, "height");
  // The sign is the byte order. The absolute value, a unit of the values, is ignored in practice.
  const auto scale = next_number<float>(stream, "scale");
  if (two_ends && stream.look() == '\n') stream.advance();
  if (!std::isfinite(scale) || scale == 0)
    fail_format("the scale is ", scale, "; below 0 it means little-endian, above 0 big-endian");
  check_sides("a PFM file", width, height);
  return {.size = {width, height},
          .channels = channels,
          .order = scale < 0 ? std::endian::little : std::endian::big,
          .lowest_first = true};
}

}  // namespace

bool is_pfm(ByteSpan bytes) {
  return bytes.size() >= 3 && bytes[0] == 'P' && (bytes[1] == 'F' || bytes[1] == 'f') && is_space(bytes[2]);
}

bool is_pfm_of_flow(ByteSpan bytes) { return is_pfm(bytes) && bytes[1] == 'F'; }

Floats open_pfm(ByteSpan bytes) {
  ByteStream stream(bytes);
  Floats floats = read_header(stream);
  if (stream.left() != floats.bytes())
    fail_format(floats.size, " pixels need ", floats.bytes(), " bytes after the header, the file has ",
                stream.left().value());
  floats.values = bytes.data() + stream.position();
  return floats;
}

FrameBuffer read_pfm(ByteStream& stream) {
  const Floats header = read_header(stream);
  check_follow(stream, header.size, header.bytes());
  check_pixels("a frame", header.size.width, header.size.height);
  FrameBuffer frame(header.size, header.channels == 3 ? PixelFormat::rgb_f32 : PixelFormat::gray_f32);
  Rows rows = rows_of(frame);
  rows.first += rows.step * (rows.count - 1);
  rows.step = -rows.step;
  read_rows(stream, rows);
  if (header.order != std::endian::native) swap_bytes<std::uint32_t>(rows_of(frame));
  return frame;
}

std::string pfm_header(Size size, int channels) {
  return text(channels == 3 ? "PF" : "Pf", "\n", size.width, " ", size.height, "\n-1.0\n");
}

}  // namespace parafield::io
