// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"

namespace parafield {

/// Luma of one or two frames, 0..255: here pixels enter the library. The frames have one size and any format;
/// 16-bit values are divided by 257, color becomes BT.601 luma. They lie in memory that the backend reads; on
/// CUDA they are inputs that a replay reads anew.
template <class Backend>
void convert(Backend& backend, const Frame* frames, const View<float>* luma, int count);

/// Red, green and blue of a frame, 0..255, a plane each; a gray frame gives the same plane three times.
template <class Backend>
void convert_color(Backend& backend, const Frame& frame, const View<float>* red_green_blue);

/// A row of a frame's interleaved samples.
template <class Sample>
PF_HD const Sample* row_of(const Frame& frame, int y) {
  return reinterpret_cast<const Sample*>(static_cast<const char*>(frame.data) + y * frame.pitch);
}

/// Luma of pixel x of a row, times `scale`. `red`: index of the red channel, 0 or 2.
template <class Sample>
PF_HD float luma_of(const Sample* row, int x, int channels, int red, float scale) {
  const Sample* pixel = row + x * channels;
  if (channels == 1) return float(pixel[0]) * scale;
  const float sum =
      fma(0.114f, float(pixel[2 - red]), fma(0.587f, float(pixel[1]), 0.299f * float(pixel[red])));
  return sum * scale;
}

/// One channel of pixel x of a row, times `scale`; channel 0 is red.
template <class Sample>
PF_HD float channel_of(const Sample* row, int x, int channel, int channels, int red, float scale) {
  return float(row[x * channels + (channels == 1 ? 0 : red == 0 ? channel : 2 - channel)]) * scale;
}

/// Calls f.template operator()<Sample, channels, red>(scale) with the properties of a pixel format.
template <class F>
PF_HD auto with_format(PixelFormat format, F f) {
  using enum PixelFormat;
  constexpr float scale_u16 = 1.0f / 257;
  switch (format) {
    case gray_u16:
      return f.template operator()<unsigned short, 1, 0>(scale_u16);
    case gray_f32:
      return f.template operator()<float, 1, 0>(1.0f);
    case rgb_u8:
      return f.template operator()<unsigned char, 3, 0>(1.0f);
    case rgb_u16:
      return f.template operator()<unsigned short, 3, 0>(scale_u16);
    case rgb_f32:
      return f.template operator()<float, 3, 0>(1.0f);
    case bgr_u8:
      return f.template operator()<unsigned char, 3, 2>(1.0f);
    case rgba_u8:
      return f.template operator()<unsigned char, 4, 0>(1.0f);
    case bgra_u8:
      return f.template operator()<unsigned char, 4, 2>(1.0f);
    default:
      return f.template operator()<unsigned char, 1, 0>(1.0f);
  }
}

}  // namespace parafield
