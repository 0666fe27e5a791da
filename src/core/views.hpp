// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>

#include "core/fail.hpp"
#include "parafield/fields.hpp"

/// Pixels of the frames and fields that users hand in.
namespace parafield {

/// Largest number of pixels of a frame, for estimators and readers of files.
inline constexpr std::int64_t most_pixels = std::int64_t(1) << 29;

/// False for what flow files call unknown: |u| or |v| above 1e9, infinite or NaN.
inline bool has_value(float u, float v) { return std::abs(u) <= 1e9f && std::abs(v) <= 1e9f; }
/// False for what disparity files call unknown: infinite or NaN.
inline bool has_value(float d) { return std::isfinite(d); }

/// Whether a pixel of a mask or a valid plane is not 0. A plane without data is set everywhere.
inline bool is_set(View<const std::uint8_t> plane, int x, int y) { return !plane || plane(x, y) != 0; }

inline std::ptrdiff_t row_bytes(const Frame& frame) {
  return std::ptrdiff_t(frame.width) * bytes_per_pixel(frame.format);
}
/// The range of a frame's values; that of its format if it names none.
PF_HD ValueRange range_of(const Frame& frame) {
  if (frame.range.black != 0 || frame.range.white != 0) return frame.range;
  const bool is_u16 = frame.format == PixelFormat::gray_u16 || frame.format == PixelFormat::rgb_u16;
  return {0, is_u16 ? 65535.0f : 255.0f};
}
/// Throws Error(invalid_argument) for a range that is empty, reversed or not finite; `what` names the frame.
inline void check_range(const Frame& frame, const char* what) {
  const auto [black, white] = range_of(frame);
  if (!(black < white) || !std::isnormal(255 / (white - black)))
    fail(ErrorCode::invalid_argument, what, " has values from ", black, " (black) to ", white,
         " (white); black should be below white");
}
/// Bytes from one row to the next. A pitch of 0 means that rows touch.
inline std::ptrdiff_t pitch_of(const Frame& frame) { return frame.pitch ? frame.pitch : row_bytes(frame); }

/// Values of a frame of that type, `channels` to a pixel.
template <class T>
View<const T> values_of(const Frame& frame) {
  return {static_cast<const T*>(frame.data), frame.width * channels(frame.format), frame.height,
          pitch_of(frame)};
}
template <class T>
View<T> values_of(FrameBuffer& frame) {
  const View<const T> values = values_of<T>(frame.frame());
  return {static_cast<T*>(frame.row(0)), values.width, values.height, values.pitch};
}

/// Throws Error(invalid_argument) for a field without pixels or whose planes differ in size; `what` names it.
inline void check_flow(const FlowView& flow, const char* what) {
  const auto& [u, v, valid, confidence] = flow;
  if (!u || !v || u.width < 1 || u.height < 1) fail(ErrorCode::invalid_argument, what, " has no pixels");
  if (v.size() != u.size())
    fail(ErrorCode::invalid_argument, "u of ", what, " has ", u.width, "x", u.height, " pixels, v has ",
         v.width, "x", v.height);
  if (valid && valid.size() != u.size())
    fail(ErrorCode::invalid_argument, what, " has ", u.width, "x", u.height, " pixels, its valid plane has ",
         valid.width, "x", valid.height);
  if (confidence && confidence.size() != u.size())
    fail(ErrorCode::invalid_argument, what, " has ", u.width, "x", u.height,
         " pixels, its confidence plane has ", confidence.width, "x", confidence.height);
}
inline void check_disparity(const DisparityView& disparity, const char* what) {
  check_flow({disparity.d, disparity.d, disparity.valid, disparity.confidence}, what);
}

}  // namespace parafield
