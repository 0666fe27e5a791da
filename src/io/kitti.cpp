// KITTI's flow: an RGB PNG of 16 bit; u, v = (value - 32768) / 64, the third channel is 1 where the flow is
// known (Menze and Geiger 2015, development kit).
#include <cmath>

#include "core/flow_view.hpp"
#include "io/formats.hpp"

namespace parafield::io {
namespace {

/// The 16-bit value of a component of the flow, rounded to 1/64 px. (x, y) is named in errors.
std::uint16_t to_value(float component, int x, int y) {
  const float value = std::round(component * 64) + 32768;
  if (!(value >= 0 && value <= 65535))
    fail(ErrorCode::invalid_argument, "flow ", component, " px at pixel (", x, ", ", y,
         "); KITTI's format holds -512 to 511.98 px; write a .flo file");
  return std::uint16_t(value);
}

}  // namespace

FlowField decode_kitti(ByteSpan bytes) {
  if (const PngHeader header = png_header(bytes); !header.is_flow()) {
    static constexpr const char* kinds[] = {"gray",           "?", "RGB",          "palette",
                                            "gray and alpha", "?", "RGB and alpha"};
    fail(ErrorCode::format, "a PNG image of ", header.bit_depth, " bit, ",
         kinds[header.color_type <= 6 ? header.color_type : 1],
         ": not flow; KITTI's flow is a PNG of 16 bit, RGB");
  }
  // An EXIF orientation is ignored: a flow field is no photograph, and its vectors would have to be turned,
  // too.
  const FrameBuffer frame = decode_png(bytes, Orientation::stored);
  FlowField flow(frame.size(), {}, false);
  for (int y = 0; y < flow.size().height; ++y) {
    const auto* values = static_cast<const std::uint16_t*>(frame.row(y));
    for (int x = 0; x < flow.size().width; ++x, values += 3) {
      flow.u(x, y) = (float(values[0]) - 32768) / 64;
      flow.v(x, y) = (float(values[1]) - 32768) / 64;
      flow.valid(x, y) = values[2] != 0;
    }
  }
  return flow;
}

Bytes encode_kitti(const FlowView& flow) {
  FrameBuffer frame(flow.size(), PixelFormat::rgb_u16);
  for (int y = 0; y < flow.size().height; ++y) {
    auto* values = static_cast<std::uint16_t*>(frame.row(y));
    for (int x = 0; x < flow.size().width; ++x, values += 3) {
      const float u = flow.u(x, y), v = flow.v(x, y);
      const bool valid = has_value(u, v) && (!flow.valid || flow.valid(x, y));
      // Flow that is not valid may be anything; if it does not fit, it becomes 0, as in KITTI's own files.
      const bool fits = std::abs(u) < 511.98f && std::abs(v) < 511.98f;
      values[0] = to_value(valid || fits ? u : 0, x, y);
      values[1] = to_value(valid || fits ? v : 0, x, y);
      values[2] = valid;
    }
  }
  return encode_png(frame);
}

}  // namespace parafield::io
