#include <cmath>

#include "core/disparity_view.hpp"
#include "core/flow_view.hpp"
#include "io/formats.hpp"

namespace parafield::io {
namespace {

template <class T>
void check_pitch(const View<T>& plane, const char* name) {
  const std::ptrdiff_t row_bytes = std::ptrdiff_t(sizeof(T)) * plane.width;
  if (plane && plane.pitch < row_bytes)
    fail(ErrorCode::invalid_argument, "the pitch of ", name, ", ", plane.pitch,
         " bytes, is less than a row of ", row_bytes);
}

}  // namespace

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
           " cannot be written; its format should be gray or rgb, u8, u16 or f32");
  }
  Frame checked = frame;
  const std::ptrdiff_t row_bytes = std::ptrdiff_t(frame.width) * bytes_per_pixel(frame.format);
  if (checked.pitch == 0) checked.pitch = row_bytes;
  if (checked.pitch < row_bytes)
    fail(ErrorCode::invalid_argument, "a pitch of ", frame.pitch, " bytes is less than a row of ", row_bytes);
  return checked;
}

void check_flow(const FlowView& flow) {
  parafield::check_flow(flow, "the flow field");
  check_pitch(flow.u, "the flow's u");
  check_pitch(flow.v, "the flow's v");
  check_pitch(flow.valid, "the flow's valid");
}

void check_disparity(const DisparityView& disparity) {
  parafield::check_disparity(disparity, "the disparity field");
  check_pitch(disparity.d, "the disparity field");
  check_pitch(disparity.valid, "the disparity field's valid");
}

void check_scale(float scale, bool may_be_0) {
  if ((scale > 0 && std::isfinite(scale)) || (may_be_0 && scale == 0)) return;
  fail(ErrorCode::invalid_argument, "the scale cannot be ", scale,
       "; it is the file's value of 1 px, finite and above 0 (KITTI: 256)");
}

}  // namespace parafield::io
