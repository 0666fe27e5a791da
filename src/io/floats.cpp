// SPDX-License-Identifier: MIT
#include "io/floats.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace parafield::io {
namespace {

/// Encodes a file of little-endian float32. value(x, y, channel) is one channel of a pixel. PFM stores the
/// lowest row first.
template <class Value>
Bytes encode_floats(Content format, Size size, int channels, Value value) {
  const std::string header = format == Content::flo   ? flo_header(size)
                             : format == Content::pfm ? pfm_header(size, channels)
                                                      : npy_header(size, channels);
  Bytes bytes(header.size() + 4 * std::size_t(channels) * std::size_t(size.width) * std::size_t(size.height));
  std::uint8_t* p = std::ranges::copy(header, bytes.data()).out;
  for (int row = 0; row < size.height; ++row)
    for (int x = 0; x < size.width; ++x)
      for (int channel = 0; channel < channels; ++channel)
        p = store_float(p, value(x, format == Content::pfm ? size.height - 1 - row : row, channel));
  return bytes;
}

}  // namespace

// Middlebury's .flo: the float 202021.25 ("PIEH"), width and height as 32-bit integers, then u and v of each
// pixel as floats, row by row; everything little-endian (Baker et al. 2011, flow-code). Writers that store in
// the order of a big-endian machine begin with "HEIP".

constexpr std::size_t flo_header_bytes = 12;

bool is_flo(ByteSpan bytes) { return starts_with(bytes, "PIEH") || starts_with(bytes, "HEIP"); }

Floats open_flo(ByteSpan bytes) {
  if (bytes.size() < flo_header_bytes)
    fail_format("the header of a .flo file has ", flo_header_bytes, " bytes, the file has ", bytes.size());
  const std::endian order = starts_with(bytes, "PIEH") ? std::endian::little : std::endian::big;
  const auto width = std::int32_t(load_u32(bytes.data() + 4, order)),
             height = std::int32_t(load_u32(bytes.data() + 8, order));
  check_sides("a .flo file", width, height);
  // A file that is too long is also damaged: its width or height is wrong.
  const std::uint64_t needed = flo_header_bytes + 8 * std::uint64_t(width) * std::uint64_t(height);
  if (bytes.size() != needed)
    fail_format(width, "x", height, " pixels need ", needed, " bytes, the file has ", bytes.size());
  return {{width, height}, 2, bytes.data() + flo_header_bytes, order};
}

std::string flo_header(Size size) {
  std::uint8_t header[flo_header_bytes];
  store_u32(store_u32(store_float(header, 202021.25f), std::uint32_t(size.width)),
            std::uint32_t(size.height));
  return {std::begin(header), std::end(header)};
}

FrameBuffer frame_of(const Floats& floats) {
  FrameBuffer frame(floats.size, floats.channels == 3 ? PixelFormat::rgb_f32 : PixelFormat::gray_f32);
  const View<float> values = values_of<float>(frame);
  for_each_pixel(floats.size, [&](int x, int y) {
    for (int channel = 0; channel < floats.channels; ++channel)
      values(x * floats.channels + channel, y) = floats(x, y, channel);
  });
  return frame;
}

FlowField flow_of(const Floats& floats) {
  FlowField flow(floats.size, {}, false);
  for_each_pixel(floats.size, [&](int x, int y) {
    flow.u(x, y) = floats(x, y, 0);
    flow.v(x, y) = floats(x, y, 1);
    flow.valid(x, y) = has_value(flow.u(x, y), flow.v(x, y));
  });
  return flow;
}

Bytes encode_pfm_frame(const Frame& frame) {
  const int count = channels(frame.format);
  return encode_floats(Content::pfm, frame.size(), count, [&](int x, int y, int channel) {
    float value;  // the pitch may not be a multiple of 4
    std::memcpy(&value, static_cast<const char*>(frame.data) + y * frame.pitch + 4 * (count * x + channel),
                4);
    return value;
  });
}

Bytes encode_flow(Content format, const FlowView& flow, bool mark_invalid) {
  const int channels = format == Content::pfm ? 3 : 2;
  return encode_floats(format, flow.size(), channels, [&](int x, int y, int channel) {
    if (channel == 2) return 0.0f;
    const float unknown = format == Content::flo ? 1e10f : std::numeric_limits<float>::quiet_NaN();
    const float u = flow.u(x, y), v = flow.v(x, y);
    if (mark_invalid && !is_set(flow.valid, x, y)) return unknown;
    if (format == Content::flo && (std::isnan(u) || std::isnan(v))) return unknown;  // like Middlebury's code
    return channel == 0 ? u : v;
  });
}

Bytes encode_disparity(Content format, const DisparityView& disparity, bool mark_invalid) {
  return encode_floats(format, disparity.size(), 1, [&](int x, int y, int) {
    const bool marked = mark_invalid && !is_set(disparity.valid, x, y);
    return marked ? std::numeric_limits<float>::infinity() : disparity.d(x, y);
  });
}

}  // namespace parafield::io
