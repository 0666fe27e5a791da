// SPDX-License-Identifier: MIT
// PFM (Debevec): "PF" (three channels) or "Pf" (one), width, height and scale as text, one white space after
// each, then 32-bit floats, the lowest row first. A scale below 0 means little-endian. Flow has u and v in
// the first two channels (FlyingThings3D: Mayer et al. 2016).
#include <charconv>
#include <cmath>

#include "io/floats.hpp"

namespace parafield::io {
namespace {

/// Reads the next number of the header and the white space after it. `what` names it in errors.
template <class T>
T next_number(ByteSpan bytes, std::size_t& at, const char* what) {
  while (at < bytes.size() && is_space(bytes[at])) ++at;
  const std::size_t start = at;
  while (at < bytes.size() && !is_space(bytes[at])) ++at;
  // No number is that long.
  if (at == bytes.size() || at == start || at - start > 40)
    fail_format("damaged header: no ", what, " at byte ", start);
  const char *const word = text_of(bytes).data() + start, *const word_end = text_of(bytes).data() + at;
  ++at;
  T value = {};
  const auto [end, error] = std::from_chars(word, word_end, value);
  if (error != std::errc{} || end != word_end)
    fail_format("damaged header: the ", what, " is not a number, at byte ", start);
  return value;
}

}  // namespace

bool is_pfm(ByteSpan bytes) {
  return bytes.size() >= 3 && bytes[0] == 'P' && (bytes[1] == 'F' || bytes[1] == 'f') && is_space(bytes[2]);
}

bool is_pfm_of_flow(ByteSpan bytes) { return is_pfm(bytes) && bytes[1] == 'F'; }

Floats open_pfm(ByteSpan bytes) {
  const int channels = bytes[1] == 'F' ? 3 : 1;
  std::size_t at = 2;
  const int width = next_number<int>(bytes, at, "width"), height = next_number<int>(bytes, at, "height");
  // Its sign is the byte order. Its absolute value, a unit of the values, is used by nobody.
  const auto scale = next_number<float>(bytes, at, "scale");
  if (!std::isfinite(scale) || scale == 0)
    fail_format("the scale is ", scale, "; below 0 it means little-endian, above 0 big-endian");
  check_sides("a PFM file", width, height);
  const std::uint64_t needed = std::uint64_t(width) * std::uint64_t(height) * std::uint64_t(channels) * 4;
  if (bytes.size() - at != needed)
    fail_format(width, "x", height, " pixels need ", needed, " bytes after the header, the file has ",
                bytes.size() - at);
  return {.size = {width, height},
          .channels = channels,
          .values = bytes.data() + at,
          .order = scale < 0 ? std::endian::little : std::endian::big,
          .lowest_first = true};
}

std::string pfm_header(Size size, int channels) {
  return text(channels == 3 ? "PF" : "Pf", "\n", size.width, " ", size.height, "\n-1.0\n");
}

}  // namespace parafield::io
