// Disparities as floats (PFM, .npy) or in a gray PNG: value / scale, 0 = unknown (Middlebury: Scharstein and
// Szeliski 2002; KITTI: Menze and Geiger 2015, development kit).
#include <cmath>
#include <limits>

#include "core/fail.hpp"
#include "io/formats.hpp"

namespace parafield::io {
namespace {

constexpr float kitti_scale = 256, infinity = std::numeric_limits<float>::infinity();

/// A field without confidence. value(x, y) is the disparity of a pixel; infinity and NaN are unknown.
template <class Value>
DisparityField field_of(Size size, Value value) {
  DisparityField field(size, {}, false);
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) {
      field.d(x, y) = value(x, y);
      field.valid(x, y) = std::isfinite(field.d(x, y));
    }
  return field;
}

template <class T>
DisparityField field_of_frame(const FrameBuffer& frame, float scale) {
  return field_of(frame.size(), [&](int x, int y) {
    const T value = static_cast<const T*>(frame.row(y))[x];
    return value ? float(value) / scale : infinity;
  });
}

DisparityField field_of_floats(const FrameBuffer& plane) {
  return field_of(plane.size(), [&](int x, int y) { return static_cast<const float*>(plane.row(y))[x]; });
}

bool is_valid(const DisparityView& disparity, int x, int y) {
  return !disparity.valid || disparity.valid(x, y) != 0;
}

/// The disparities as a frame of gray_f32.
FrameBuffer floats_of(const DisparityView& disparity, bool mark_invalid) {
  FrameBuffer plane(disparity.size(), PixelFormat::gray_f32);
  for (int y = 0; y < plane.size().height; ++y) {
    auto* row = static_cast<float*>(plane.row(y));
    for (int x = 0; x < plane.size().width; ++x)
      row[x] = mark_invalid && !is_valid(disparity, x, y) ? infinity : disparity.d(x, y);
  }
  return plane;
}

}  // namespace

DisparityField decode_png_disparity(ByteSpan bytes, float scale) {
  const PngHeader header = png_header(bytes);
  const bool gray = header.color_type == 0 || header.color_type == 4;
  if (!gray || header.bit_depth < 8)
    fail(ErrorCode::format, "a PNG image of ", header.bit_depth, " bit, ", gray ? "gray" : "colored",
         ": not disparities, which are a gray PNG of 8 or 16 bit");
  if (scale == 0 && header.bit_depth == 8)
    fail(ErrorCode::invalid_argument, "disparities in a PNG of 8 bit need a scale, the file's value of 1 px ",
         "(Middlebury: tsukuba 16, venus 8, cones 4)");
  if (scale == 0) scale = kitti_scale;
  const FrameBuffer frame = decode_png(bytes, Orientation::stored);
  return header.bit_depth == 8 ? field_of_frame<std::uint8_t>(frame, scale)
                               : field_of_frame<std::uint16_t>(frame, scale);
}

DisparityField decode_pfm_disparity(ByteSpan bytes) {
  const FrameBuffer plane = decode_pfm_frame(bytes);
  if (plane.format() != PixelFormat::gray_f32)
    fail(ErrorCode::format, "a PFM file of three channels (PF), not disparities, which have one (Pf)");
  return field_of_floats(plane);
}

DisparityField decode_npy_disparity(ByteSpan bytes) { return field_of_floats(decode_npy_plane(bytes)); }

Bytes encode_png_disparity(const DisparityView& disparity, float scale) {
  FrameBuffer frame(disparity.size(), PixelFormat::gray_u16);
  for (int y = 0; y < frame.size().height; ++y) {
    auto* row = static_cast<std::uint16_t*>(frame.row(y));
    for (int x = 0; x < frame.size().width; ++x) {
      const float d = disparity.d(x, y);
      if (!is_valid(disparity, x, y) || !std::isfinite(d)) continue;  // 0 = unknown
      const float value = std::round(d * scale);
      if (!(d >= 0 && value <= 65535))
        fail(ErrorCode::invalid_argument, "disparity ", d, " px at pixel (", x, ", ", y, "); a PNG of scale ",
             scale, " holds 0 to ", 65535 / scale, " px; take a smaller scale or write a .pfm file");
      // 0 means unknown. As in KITTI's development kit, a disparity of 0 becomes the smallest other value.
      row[x] = value < 1 ? 1 : std::uint16_t(value);
    }
  }
  return encode_png(frame);
}

Bytes encode_pfm_disparity(const DisparityView& disparity, bool mark_invalid) {
  return encode_pfm_frame(floats_of(disparity, mark_invalid).frame());
}

Bytes encode_npy_disparity(const DisparityView& disparity, bool mark_invalid) {
  return encode_npy_plane(floats_of(disparity, mark_invalid).frame());
}

}  // namespace parafield::io
