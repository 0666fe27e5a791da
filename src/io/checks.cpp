#include <cmath>

#include "core/fail.hpp"
#include "io/formats.hpp"

namespace parafield::io {

Frame check_frame(const Frame& frame) {
  if (!frame.memory.on_host())
    fail(ErrorCode::invalid_argument, "the frame is in the memory of CUDA device ", frame.memory.device,
         "; files are written from host memory");
  if (!frame.data || frame.width < 1 || frame.height < 1)
    fail(ErrorCode::invalid_argument, "a frame of ", frame.width, "x", frame.height, " pixels",
         frame.data ? "" : " without data", " cannot be written");
  switch (frame.format) {
    case PixelFormat::gray_u8:
    case PixelFormat::gray_u16:
    case PixelFormat::gray_f32:
    case PixelFormat::rgb_u8:
    case PixelFormat::rgb_u16:
    case PixelFormat::rgb_f32:
      break;
    default:
      fail(ErrorCode::invalid_argument, "a frame of ", to_string(frame.format),
           " cannot be written; it should be gray or rgb, of u8, u16 or f32");
  }
  Frame checked = frame;
  const std::ptrdiff_t row_bytes = std::ptrdiff_t(frame.width) * bytes_per_pixel(frame.format);
  if (checked.pitch == 0) checked.pitch = row_bytes;
  if (checked.pitch < row_bytes)
    fail(ErrorCode::invalid_argument, "a pitch of ", frame.pitch, " bytes is less than a row of ", row_bytes);
  return checked;
}

void check_flow(const FlowView& flow) {
  const auto check = [size = flow.size()](const auto& plane, const char* name, std::size_t value_bytes) {
    if (plane.size() != size)
      fail(ErrorCode::invalid_argument, "the flow's u has ", size.width, "x", size.height, " pixels, ", name,
           " has ", plane.width, "x", plane.height);
    if (plane.pitch < std::ptrdiff_t(value_bytes) * size.width)
      fail(ErrorCode::invalid_argument, "the pitch of the flow's ", name, ", ", plane.pitch,
           " bytes, is less than a row of ", value_bytes * std::size_t(size.width));
  };
  if (!flow.u || !flow.v || flow.u.width < 1 || flow.u.height < 1)
    fail(ErrorCode::invalid_argument, "a flow field of ", flow.u.width, "x", flow.u.height, " pixels",
         flow.u && flow.v ? "" : " without data", " cannot be written");
  check(flow.u, "u", sizeof(float));
  check(flow.v, "v", sizeof(float));
  if (flow.valid) check(flow.valid, "valid", 1);
}

void check_disparity(const DisparityView& disparity) {
  const auto& [d, valid] = disparity;
  if (!d || d.width < 1 || d.height < 1)
    fail(ErrorCode::invalid_argument, "a disparity field of ", d.width, "x", d.height, " pixels",
         d ? "" : " without data", " cannot be written");
  if (d.pitch < std::ptrdiff_t(sizeof(float)) * d.width)
    fail(ErrorCode::invalid_argument, "the pitch of the disparity field, ", d.pitch,
         " bytes, is less than a row of ", sizeof(float) * std::size_t(d.width));
  if (!valid) return;
  if (valid.size() != d.size())
    fail(ErrorCode::invalid_argument, "the disparity field has ", d.width, "x", d.height,
         " pixels, valid has ", valid.width, "x", valid.height);
  if (valid.pitch < valid.width)
    fail(ErrorCode::invalid_argument, "the pitch of the disparity field's valid, ", valid.pitch,
         " bytes, is less than a row of ", valid.width);
}

void check_scale(float scale, bool may_be_0) {
  if ((scale > 0 && std::isfinite(scale)) || (may_be_0 && scale == 0)) return;
  fail(ErrorCode::invalid_argument, "a scale cannot be ", scale,
       "; it is the file's value of 1 px, above 0 (KITTI: 256)");
}

}  // namespace parafield::io
