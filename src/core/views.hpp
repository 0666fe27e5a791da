// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>
#include <ostream>
#include <string>

#include "core/fail.hpp"
#include "parafield/fields.hpp"

/// Access to the pixels of frames and fields that users pass in, and checks of them.
namespace parafield {

/// Writes a size as messages show it: 640x480.
inline std::ostream& operator<<(std::ostream& out, Size size) {
  return out << size.width << 'x' << size.height;
}

/// Calls f(x, y) for each pixel, row by row.
template <class F>
void for_each_pixel(Size size, F f) {
  for (int y = 0; y < size.height; ++y)
    for (int x = 0; x < size.width; ++x) f(x, y);
}

/// Largest number of pixels of a frame, for estimators and readers of files.
inline constexpr std::int64_t most_pixels = std::int64_t(1) << 29;

/// False for values that flow files define as unknown: |u| or |v| above 1e9, infinite or NaN.
inline bool has_value(float u, float v) { return std::abs(u) <= 1e9f && std::abs(v) <= 1e9f; }
/// False for values that disparity files define as unknown: infinite or NaN.
inline bool has_value(float d) { return std::isfinite(d); }

/// Whether a pixel of a mask or a valid plane is not 0. A plane without data is set everywhere.
inline bool is_set(View<const std::uint8_t> plane, int x, int y) { return !plane || plane(x, y) != 0; }

inline std::ptrdiff_t row_bytes(const Frame& frame) {
  return std::ptrdiff_t(frame.width) * bytes_per_pixel(frame.format);
}
/// The range of a frame's values; if the frame names none, the range of its format.
PF_HD ValueRange range_of(const Frame& frame) {
  if (frame.range.black != 0 || frame.range.white != 0) return frame.range;
  const bool is_u16 = frame.format == PixelFormat::gray_u16 || frame.format == PixelFormat::rgb_u16;
  return {0, is_u16 ? 65535.0f : 255.0f};
}
/// Throws Error(invalid_argument) for a range that is empty, reversed or not finite; `what` names the frame.
inline void check_range(const Frame& frame, const char* what) {
  const auto [black, white] = range_of(frame);
  if (!(black < white) || !std::isnormal(255 / (white - black)))
    fail_value(what, " has values from ", black, " (black) to ", white,
               " (white); black should be below white");
}
/// Bytes from one row to the next. A pitch of 0 means that there is no gap between rows.
inline std::ptrdiff_t pitch_of(const Frame& frame) { return frame.pitch ? frame.pitch : row_bytes(frame); }

/// A frame's values as type T, `channels` values per pixel.
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

/// Calls f with a value of the type of a pixel's values.
template <class F>
void with_value_type(PixelFormat format, F f) {
  const int bytes = bytes_per_value(format);
  bytes == 1 ? f(std::uint8_t()) : bytes == 2 ? f(std::uint16_t()) : f(float());
}

/// Throws Error(invalid_argument) for a plane whose rows overlap. `what` and `part` name it, for example "the
/// flow field" and "'s u".
template <class T>
void check_pitch(const View<T>& plane, const char* what, const char* part = "") {
  const std::ptrdiff_t row_bytes = std::ptrdiff_t(sizeof(T)) * plane.width;
  if (plane && plane.pitch < row_bytes)
    fail_value("the pitch of ", what, part, ", ", plane.pitch, " bytes, is less than a row of ", row_bytes);
}

/// Throws Error(invalid_argument) if two images, named by `what` and `other`, differ in size.
inline void check_same_size(const char* what, Size size, const char* other, Size other_size) {
  if (size != other_size) fail_value(what, " has ", size, " pixels, ", other, " ", other_size);
}

/// Throws Error(invalid_argument) for a frame without pixels or outside host memory; `what` names it.
inline void check_host_frame(const Frame& frame, const char* what) {
  if (!frame.data || frame.width < 1 || frame.height < 1) fail_value(what, " has no pixels");
  if (!frame.memory.on_host()) fail_value(what, " is not in host memory");
}

/// Checks an optional plane, which must have the field's size. `what` names the field, `name` the plane.
template <class T>
void check_plane(Size size, View<const T> plane, const char* what, const std::string& name) {
  if (plane) check_same_size(what, size, ("its " + name + " has").c_str(), plane.size());
  check_pitch(plane, what, ("'s " + name).c_str());
}
/// Checks the optional planes that flow and disparities share.
inline void check_optional_planes(const auto& field, const char* what) {
  const Size size = field.size();
  check_plane(size, field.valid, what, "valid plane");
  check_plane(size, field.confidence, what, "confidence plane");
  check_plane(size, field.outlier, what, "outlier plane");
  check_plane(size, field.outlier3, what, "outlier3 plane");
  check_plane(size, field.cause, what, "cause plane");
}

/// Throws Error(invalid_argument) for a field without pixels, with planes of different sizes, or with
/// overlapping rows; `what` names it.
inline void check_flow(const FlowView& flow, const char* what) {
  const auto& [xx, xy, yy] = flow.covariance;
  const View<const float> u = flow.u, v = flow.v;
  if (!u || !v || u.width < 1 || u.height < 1) fail_value(what, " has no pixels");
  if (v.size() != u.size()) fail_value("u of ", what, " has ", u.size(), " pixels, v has ", v.size());
  check_pitch(u, what, "'s u");
  check_pitch(v, what, "'s v");
  check_optional_planes(flow, what);
  if (bool(xx) != bool(xy) || bool(xx) != bool(yy)) fail_value("the covariance of ", what, " lacks a plane");
  for (const View<const float>& plane : {xx, xy, yy}) check_plane(u.size(), plane, what, "covariance plane");
}
inline void check_disparity(const DisparityView& disparity, const char* what) {
  if (!disparity.d || disparity.d.width < 1 || disparity.d.height < 1) fail_value(what, " has no pixels");
  check_pitch(disparity.d, what);
  check_optional_planes(disparity, what);
  check_plane(disparity.size(), disparity.sigma, what, "sigma plane");
}

}  // namespace parafield
