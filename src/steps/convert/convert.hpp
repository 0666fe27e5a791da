// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"
#include "core/views.hpp"

namespace parafield {

/// Luma of one or two frames, 0..255. Here pixels enter the library. The frames must have the same size and
/// may have any format and range; color becomes BT.601 luma. Their memory must be readable by the backend. On
/// CUDA they are inputs, which a replay reads again.
template <class Backend>
void convert(Backend& backend, const Frame* frames, const View<float>* luma, int count);

/// Red, green and blue of a frame as one plane each, 0..255; a gray frame gives the same plane three times.
template <class Backend>
void convert_color(Backend& backend, const Frame& frame, const View<float>* red_green_blue);

/// Wraps an image as a frame of floats.
inline Frame frame_of(View<float> plane) {
  return {plane.data, plane.width, plane.height, plane.pitch, PixelFormat::gray_f32};
}

/// A row of a frame's interleaved samples.
template <class Sample>
PF_HD const Sample* row_of(const Frame& frame, int y) {
  return reinterpret_cast<const Sample*>(static_cast<const char*>(frame.data) + y * frame.pitch);
}

/// Scales a frame's values to 0..255. Finite values of frames with a range are clamped to one width of the
/// range beyond it, so that outliers do not outweigh their neighbors.
struct Scale {
  float black, gain, lowest, highest;
  PF_HD float operator()(float value) const {
    constexpr float most = 3.4028235e38f;
    const float scaled = (value - black) * gain;
    const float raised = scaled < lowest && scaled >= -most ? lowest : scaled;
    return raised > highest && raised <= most ? highest : raised;
  }
};
PF_HD Scale scale_of(const Frame& frame) {
  constexpr float infinite = __builtin_inff();
  const bool named = frame.range.black != 0 || frame.range.white != 0;
  const auto [black, white] = range_of(frame);
  return {black, 255 / (white - black), named ? -255.0f : -infinite, named ? 2 * 255.0f : infinite};
}

/// Luma of a color.
PF_HD float luma_of(float red, float green, float blue, Scale scaled) {
  return scaled(fma(0.114f, blue, fma(0.587f, green, 0.299f * red)));
}
/// Luma of pixel x of a row. `red`: index of the red channel, 0 or 2.
template <class Sample>
PF_HD float luma_of(const Sample* row, int x, int channels, int red, Scale scaled) {
  const Sample* pixel = row + x * channels;
  if (channels == 1) return scaled(float(pixel[0]));
  return luma_of(float(pixel[red]), float(pixel[1]), float(pixel[2 - red]), scaled);
}

/// One channel of pixel x of a row; channel 0 is red.
template <class Sample>
PF_HD float channel_of(const Sample* row, int x, int channel, int channels, int red, Scale scaled) {
  return scaled(float(row[x * channels + (channels == 1 ? 0 : red == 0 ? channel : 2 - channel)]));
}

/// Calls f.template operator()<Sample, channels, red>(scale) with the properties of the frame's pixel format.
template <class F>
PF_HD auto with_format(const Frame& frame, F f) {
  using enum PixelFormat;
  const Scale scale = scale_of(frame);
  switch (frame.format) {
    case gray_u16:
      return f.template operator()<unsigned short, 1, 0>(scale);
    case gray_f32:
      return f.template operator()<float, 1, 0>(scale);
    case rgb_u8:
      return f.template operator()<unsigned char, 3, 0>(scale);
    case rgb_u16:
      return f.template operator()<unsigned short, 3, 0>(scale);
    case rgb_f32:
      return f.template operator()<float, 3, 0>(scale);
    case bgr_u8:
      return f.template operator()<unsigned char, 3, 2>(scale);
    case rgba_u8:
      return f.template operator()<unsigned char, 4, 0>(scale);
    case bgra_u8:
      return f.template operator()<unsigned char, 4, 2>(scale);
    default:
      return f.template operator()<unsigned char, 1, 0>(scale);
  }
}

}  // namespace parafield
