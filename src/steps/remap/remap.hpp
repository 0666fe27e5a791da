// SPDX-License-Identifier: MIT
#pragma once
#include "steps/convert/convert.hpp"
#include "steps/warp/warp.hpp"

namespace parafield {

/// A frame, and for each pixel of the result its position in that frame. All of it must be in memory that the
/// backend can read; on CUDA they are inputs that a replay reads again.
struct RemappedFrame {
  Frame frame;
  View<const float> x, y;  ///< position in the frame, px; outside it or NaN, the result is NaN
  View<float> values;      ///< result: 1 value per pixel (gray) or 3 (red, green, blue)
};

/// Samples a frame at other positions by linear interpolation. Values keep their scale. The result is NaN
/// outside the frame.
template <class Backend>
void remap(Backend& backend, const RemappedFrame& remapped);

/// Four neighbors of a position in a frame: the index of the first and the offsets of the others, in samples.
struct Neighborhood {
  std::ptrdiff_t first;
  int right, below;
};
/// `stride`: samples from one row to the next.
PF_HD Neighborhood neighborhood(const Match& at, int width, int height, int channels, std::ptrdiff_t stride) {
  return {at.y * stride + at.x * channels, width > 1 ? channels : 0, height > 1 ? int(stride) : 0};
}

/// Interpolated value of four neighbors; NaN outside the frame.
PF_HD float remapped_value(float first, float right, float below, float last, float share_x, float share_y,
                           bool inside) {
  const float value =
      interpolate(interpolate(first, right, share_x), interpolate(below, last, share_x), share_y);
  return inside ? value : __builtin_nanf("");
}

/// Index in the frame of one of the result's channels. `red`: index of the frame's red channel, 0 or 2.
PF_HD int channel_in_frame(int channel, int red) {
  return channel == 1 || red == 0 ? channel : red - channel;
}

}  // namespace parafield
