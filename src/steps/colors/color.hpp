// SPDX-License-Identifier: MIT
#pragma once
#include "core/workspace.hpp"
#include "steps/warp/warp.hpp"

/// Colors of frames: three planes on the CPU, interleaved channels on CUDA.
namespace parafield {

/// A pixel's channels, 0..255, in 16 bytes, which CUDA loads in one instruction.
struct alignas(16) Color {
  float red, green, blue, none;
};

/// The channels of a frame.
struct Colors {
  View<float> plane[3];  ///< on the CPU; all with the same pitch
  View<Color> pixels;    ///< on CUDA
};

/// The channels in the form that the CPU reads.
struct ColorPlanes {
  const float *red, *green, *blue;
  int stride, width, height;
};
PF_HD ColorPlanes planes_of(const Colors& colors) {
  const View<float>& red = colors.plane[0];
  return {red.data, colors.plane[1].data, colors.plane[2].data, int(red.stride()), red.width, red.height};
}

PF_HD Color color_at(const ColorPlanes& colors, int x, int y) {
  const int at = y * colors.stride + x;
  return {colors.red[at], colors.green[at], colors.blue[at], 0};
}

/// Bilinear color at a match.
PF_HD Color color_at(const ColorPlanes& colors, const Match& match) {
  const int stride = colors.stride, width = colors.width, height = colors.height;
  return {sample(colors.red, stride, width, height, match),
          sample(colors.green, stride, width, height, match),
          sample(colors.blue, stride, width, height, match), 0};
}

/// Mean absolute difference of the channels.
PF_HD float mean_difference(const Color& a, const Color& b) {
  return mean_magnitude(a.red - b.red, a.green - b.green, a.blue - b.blue);
}

#ifdef __CUDACC__
PF_HD Color load(const Color* pixel) {
  const float4 value = *reinterpret_cast<const float4*>(pixel);
  return {value.x, value.y, value.z, 0};
}
#else
PF_HD Color load(const Color* pixel) { return {pixel->red, pixel->green, pixel->blue, 0}; }
#endif

PF_HD Color color_at(const View<Color>& pixels, int x, int y) { return load(&pixels(x, y)); }

/// Bilinear color from four pixels.
PF_HD Color interpolate(const Color& a, const Color& b, const Color& c, const Color& d, const Match& match) {
  const auto channel = [&](float a, float b, float c, float d) {
    return interpolate(interpolate(a, b, match.share_x), interpolate(c, d, match.share_x), match.share_y);
  };
  return {channel(a.red, b.red, c.red, d.red), channel(a.green, b.green, c.green, d.green),
          channel(a.blue, b.blue, c.blue, d.blue), 0};
}

/// Bilinear color at a match.
PF_HD Color color_at(const View<Color>& pixels, const Match& match) {
  const int stride = int(pixels.stride());
  const Color* const top = pixels.data + match.y * stride + match.x;
  const int right = pixels.width > 1 ? 1 : 0, down = pixels.height > 1 ? stride : 0;
  return interpolate(load(top), load(top + right), load(top + down), load(top + down + right), match);
}

}  // namespace parafield
