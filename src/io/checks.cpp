// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "io/formats.hpp"

namespace parafield::io {

void check_sides(const char* file, std::int64_t width, std::int64_t height) {
  if (width < 1 || height < 1 || width > max_side || height > max_side)
    fail_format(file, " of ", width, "x", height, " pixels; each side is 1 to ", max_side);
}

void check_pixels(const char* file, std::int64_t width, std::int64_t height) {
  if (width * height > most_pixels)
    fail(ErrorCode::unsupported, file, " of ", width, "x", height, " pixels is too large: at most ",
         most_pixels, " in all");
}

Frame check_frame(const Frame& frame) {
  if (!frame.memory.on_host())
    fail_value("the frame is in the memory of CUDA device ", frame.memory.device,
               "; files are written from host memory");
  if (!frame.data || frame.width < 1 || frame.height < 1)
    fail_value("a frame of ", frame.size(), " pixels", frame.data ? "" : " without data",
               " cannot be written");
  static constexpr PixelFormat written[] = {PixelFormat::gray_u8,  PixelFormat::gray_u16,
                                            PixelFormat::gray_f32, PixelFormat::rgb_u8,
                                            PixelFormat::rgb_u16,  PixelFormat::rgb_f32};
  if (std::ranges::find(written, frame.format) == std::end(written))
    fail_value("a frame of ", to_string(frame.format),
               " cannot be written; its format should be gray or rgb, u8, u16 or f32");
  Frame checked = frame;
  checked.pitch = pitch_of(frame);
  if (checked.pitch < row_bytes(frame))
    fail_value("a pitch of ", frame.pitch, " bytes is less than a row of ", row_bytes(frame));
  return checked;
}

void check_flow(const FlowView& flow) { parafield::check_flow(flow, "the flow field"); }

void check_disparity(const DisparityView& disparity) {
  parafield::check_disparity(disparity, "the disparity field");
}

void check_scale(float scale, bool may_be_0) {
  if ((scale > 0 && std::isfinite(scale)) || (may_be_0 && scale == 0)) return;
  fail_value("the scale cannot be ", scale,
             "; it is the file's value of 1 px, finite and above 0 (KITTI: 256)");
}

}  // namespace parafield::io
