// SPDX-License-Identifier: MIT
#pragma once
#include "core/views.hpp"
#include "steps/warp/warp.hpp"

namespace parafield {

/// A frame and the places in it that the pixels of another one show. They lie in memory that the backend
/// reads; on CUDA they are inputs that a replay reads anew.
struct RemappedFrame {
  Frame frame;
  View<const float> x, y;  ///< px; a place outside the frame, or NaN, shows nothing
  View<float> values;      ///< result: 1 or 3 values a pixel, gray or red, green and blue
};

/// Reads a frame at other places by linear interpolation. Values keep their scale; nothing is NaN.
template <class Backend>
void remap(Backend& backend, const RemappedFrame& remapped);

/// Four neighbors of a place in a frame: where the first one lies, and how far the others are, in samples.
struct Neighborhood {
  std::ptrdiff_t first;
  int right, below;
};
/// `stride`: samples from one row to the next.
PF_HD Neighborhood neighborhood(const Match& at, int width, int height, int channels, std::ptrdiff_t stride) {
  return {at.y * stride + at.x * channels, width > 1 ? channels : 0, height > 1 ? int(stride) : 0};
}

/// Value between four neighbors; NaN outside the frame.
PF_HD float remapped_value(float first, float right, float below, float last, float share_x, float share_y,
                           bool inside) {
  const float value =
      interpolate(interpolate(first, right, share_x), interpolate(below, last, share_x), share_y);
  return inside ? value : __builtin_nanf("");
}

/// Index of a channel of the result in the frame. `red`: index of the frame's red channel, 0 or 2.
PF_HD int channel_in_frame(int channel, int red) {
  return channel == 1 || red == 0 ? channel : red - channel;
}

/// Calls f.template operator()<Sample, channels, red>() for the format of a frame.
template <class F>
PF_HD void with_samples(PixelFormat format, F f) {
  using enum PixelFormat;
  switch (format) {
    case gray_u16:
      return f.template operator()<unsigned short, 1, 0>();
    case gray_f32:
      return f.template operator()<float, 1, 0>();
    case rgb_u8:
      return f.template operator()<unsigned char, 3, 0>();
    case rgb_u16:
      return f.template operator()<unsigned short, 3, 0>();
    case rgb_f32:
      return f.template operator()<float, 3, 0>();
    case bgr_u8:
      return f.template operator()<unsigned char, 3, 2>();
    case rgba_u8:
      return f.template operator()<unsigned char, 4, 0>();
    case bgra_u8:
      return f.template operator()<unsigned char, 4, 2>();
    default:
      return f.template operator()<unsigned char, 1, 0>();
  }
}

}  // namespace parafield
