// SPDX-License-Identifier: MIT
// Fields in 16-bit PNG files (KITTI: Menze and Geiger 2015, development kit).
//
// Flow is RGB: u, v = (value - 32768) / 64; the third channel is 1 where the flow is known. Three zeros are
// this library's extension: no flow at all, not even an unreliable one.
//
// Disparities are gray: value / scale, 0 = unknown; they may also have 8 bits (Middlebury: Scharstein and
// Szeliski 2002).
#include <cmath>
#include <limits>

#include "io/floats.hpp"

namespace parafield::io {
namespace {

/// The 16-bit value of a flow component, rounded to 1/64 px. Errors name the pixel (x, y).
std::uint16_t to_value(float component, int x, int y) {
  const float value = std::round(component * 64) + 32768;
  if (!(value >= 0 && value <= 65535))
    fail_value("flow ", component, " px at pixel (", x, ", ", y,
               "); KITTI's format holds -512 to 511.98 px; write a .flo file");
  return std::uint16_t(value);
}

}  // namespace

FlowField decode_kitti(ByteSpan bytes) {
  if (const PngHeader header = png_header(bytes); !header.is_flow()) {
    static constexpr const char* kinds[] = {"gray",           "?", "RGB",          "palette",
                                            "gray and alpha", "?", "RGB and alpha"};
    fail_format("a PNG image of ", header.bit_depth, " bits, ",
                kinds[header.color_type <= 6 ? header.color_type : 1],
                ": not flow; KITTI's flow is a PNG of 16 bits, RGB");
  }
  // An EXIF orientation is ignored: a flow field is not a photograph, and its vectors would have to be
  // rotated too.
  const FrameBuffer frame = decode_png(bytes, Orientation::stored);
  const View<const std::uint16_t> values = values_of<std::uint16_t>(frame);
  FlowField flow(frame.size(), {}, false);
  for_each_pixel(flow.size(), [&](int x, int y) {
    flow.u(x, y) = (float(values(3 * x, y)) - 32768) / 64;
    flow.v(x, y) = (float(values(3 * x + 1, y)) - 32768) / 64;
    flow.valid(x, y) = values(3 * x + 2, y) != 0;
    if (!values(3 * x, y) && !values(3 * x + 1, y) && !values(3 * x + 2, y))
      flow.u(x, y) = flow.v(x, y) = std::numeric_limits<float>::quiet_NaN();
  });
  return flow;
}

Bytes encode_kitti(const FlowView& flow) {
  FrameBuffer frame(flow.size(), PixelFormat::rgb_u16);
  const View<std::uint16_t> values = values_of<std::uint16_t>(frame);
  for_each_pixel(flow.size(), [&](int x, int y) {
    const float u = flow.u(x, y), v = flow.v(x, y);
    const bool valid = has_value(u, v) && is_set(flow.valid, x, y);
    if (!has_value(u, v)) return;  // three zeros: unknown
    // Flow that is not valid may have any value. If it does not fit, it becomes 0, as in KITTI's own files.
    const bool fits = std::abs(u) < 511.98f && std::abs(v) < 511.98f;
    values(3 * x, y) = to_value(valid || fits ? u : 0, x, y);
    values(3 * x + 1, y) = to_value(valid || fits ? v : 0, x, y);
    values(3 * x + 2, y) = valid;
  });
  return encode_png(frame);
}

DisparityField decode_png_disparity(ByteSpan bytes, float scale) {
  constexpr float kitti_scale = 256, infinity = std::numeric_limits<float>::infinity();
  const PngHeader header = png_header(bytes);
  const bool gray = header.color_type == 0 || header.color_type == 4;
  if (!gray || header.bit_depth < 8)
    fail_format("a PNG image of ", header.bit_depth, " bits, ", gray ? "gray" : "colored",
                ": not disparities, which are a gray PNG of 8 or 16 bits");
  if (scale == 0 && header.bit_depth == 8)
    fail_value("disparities in a PNG of 8 bits need a scale, the file's value of 1 px ",
               "(Middlebury: tsukuba 16, venus 8, cones 4)");
  if (scale == 0) scale = kitti_scale;
  const FrameBuffer frame = decode_png(bytes, Orientation::stored);
  const View<const std::uint8_t> narrow = values_of<std::uint8_t>(frame);
  const View<const std::uint16_t> wide = values_of<std::uint16_t>(frame);
  return disparity_of(frame.size(), [&](int x, int y) {
    const int value = header.bit_depth == 8 ? narrow(x, y) : wide(x, y);
    return value ? float(value) / scale : infinity;
  });
}

Bytes encode_png_disparity(const DisparityView& disparity, float scale) {
  FrameBuffer frame(disparity.size(), PixelFormat::gray_u16);
  const View<std::uint16_t> values = values_of<std::uint16_t>(frame);
  for_each_pixel(values.size(), [&](int x, int y) {
    const float d = disparity.d(x, y);
    if (!is_set(disparity.valid, x, y) || !has_value(d)) return;  // 0 = unknown
    const float value = std::round(d * scale);
    if (!(d >= 0 && value <= 65535))
      fail_value("disparity ", d, " px at pixel (", x, ", ", y, "); a PNG of scale ", scale, " holds 0 to ",
                 65535 / scale, " px; use a smaller scale or write a .pfm file");
    // 0 means unknown. As in KITTI's development kit, a disparity that rounds to 0 is stored as 1.
    values(x, y) = value < 1 ? 1 : std::uint16_t(value);
  });
  return encode_png(frame);
}

Bytes encode_png_depth(View<const float> depth, float scale, DepthLoss& loss) {
  FrameBuffer frame(depth.size(), PixelFormat::gray_u16);
  const View<std::uint16_t> values = values_of<std::uint16_t>(frame);
  for_each_pixel(depth.size(), [&](int x, int y) {
    const float value = std::round(depth(x, y) * scale);
    const bool fits = value >= 1 && value <= 65535;
    values(x, y) = fits ? std::uint16_t(value) : std::uint16_t(0);
    if (!std::isfinite(depth(x, y))) return;
    ++loss.known;
    loss.lost += !fits;
    loss.coarse += fits && value < 100;
  });
  return encode_png(frame);
}

}  // namespace parafield::io
