// SPDX-License-Identifier: MIT
#pragma once
#include "core/views.hpp"
#include "steps/warp/warp.hpp"

namespace parafield {

/// A frame and the places in it that the pixels of another one show. They lie in memory that the backend reads;
/// on CUDA they are inputs that a replay reads anew.
struct RemappedFrame {
  Frame frame;
  View<const float> x, y;  ///< px; a place outside the frame, or NaN, shows nothing
  View<float> values;      ///< result: 1 or 3 values a pixel, gray or red, green and blue
};

/// Reads a frame at other places by linear interpolation. Values keep their scale; nothing is NaN.
template <class Backend>
void remap(Backend& backend, const RemappedFrame& remapped);

/// One pixel of the result. `red`: index of the frame's red channel, 0 or 2.
template <class Sample>
PF_HD void remap_pixel(const Frame& frame, int channels, int red, float x, float y, float* values) {
  const int count = channels == 1 ? 1 : 3;
  const Match at = locate(x, y, frame.width, frame.height);
  const Sample* const top =
      reinterpret_cast<const Sample*>(static_cast<const char*>(frame.data) + at.y * frame.pitch) +
      at.x * channels;
  const Sample* const below = reinterpret_cast<const Sample*>(reinterpret_cast<const char*>(top) +
                                                              (frame.height > 1 ? frame.pitch : 0));
  const int right = frame.width > 1 ? channels : 0;
  for (int i = 0; i < count; ++i) {
    const int channel = i == 1 || red == 0 ? i : red - i;
    const float value = interpolate(
        interpolate(float(top[channel]), float(top[channel + right]), at.share_x),
        interpolate(float(below[channel]), float(below[channel + right]), at.share_x), at.share_y);
    values[i] = at.inside ? value : __builtin_nanf("");
  }
}

/// Calls f.template operator()<Sample>(channels, red) for the format of a frame.
template <class F>
PF_HD void with_samples(PixelFormat format, F f) {
  using enum PixelFormat;
  switch (format) {
    case gray_u16:
    case rgb_u16:
      return f.template operator()<unsigned short>(format == gray_u16 ? 1 : 3, 0);
    case gray_f32:
    case rgb_f32:
      return f.template operator()<float>(format == gray_f32 ? 1 : 3, 0);
    default:
      return f.template operator()<unsigned char>(format == gray_u8                        ? 1
                                                  : format == rgba_u8 || format == bgra_u8 ? 4
                                                                                           : 3,
                                                  format == bgr_u8 || format == bgra_u8 ? 2 : 0);
  }
}

}  // namespace parafield
