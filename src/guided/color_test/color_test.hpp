// SPDX-License-Identifier: MIT
#pragma once
#include "steps/colors/color.hpp"

/// Tests whether the second frame shows a pixel's color at the match given by a flow hypothesis.
namespace parafield {

/// A camera's rotation: the image of a distant point moves from pixel p to H p.
struct Homography {
  float h[9];

  PF_HD Motion flow(float x, float y) const {
    const float w = fma(h[6], x, fma(h[7], y, h[8]));
    const float right = fma(h[0], x, fma(h[1], y, h[2])), down = fma(h[3], x, fma(h[4], y, h[5]));
    const float behind = w > 0 ? 0.0f : __builtin_nanf("");
    return {right / w - x + behind, down / w - y + behind};
  }
};

/// Frames, limit and result of a color test.
struct ColorTest {
  Colors frame0, frame1;
  float threshold;             ///< colors with a smaller mean difference count as equal; 0..255
  int window;                  ///< side of the square over which differences are averaged, px; odd
  const Homography* rotation;  ///< second hypothesis, in the backend's memory; null = none
  View<std::uint8_t> valid;    ///< result; empty = no test
};

/// Tests each pixel's flow. A pixel is valid if the window around it, moved by the flow, differs by less than
/// the threshold and the pixel ends inside the second frame. Where only the rotation's flow passes, it
/// replaces the pixel's flow. NaN flow becomes 0.
template <class Backend>
void test_colors(Backend& backend, const ColorTest& test, FlowPlanes flow);

PF_HD float known(float flow) { return flow == flow ? flow : 0.0f; }

/// Color difference between pixel (x, y) and its match under the flow. Beyond the borders of either frame,
/// the nearest pixel is used. `Frame`: ColorPlanes or View<Color>.
template <class Frame>
PF_HD float moved_difference(const Frame& frame0, const Frame& frame1, int x, int y, Motion flow) {
  const int width = frame0.width, height = frame0.height;
  const int column = clamp(x, 0, width - 1), row = clamp(y, 0, height - 1);
  const Match match = locate(float(column) + flow.u, float(row) + flow.v, width, height);
  // Frame 0 is read first: the opposite order makes multi-hypothesis 6 % slower on a CPU.
  const Color here = color_at(frame0, column, row), there = color_at(frame1, match);
  return mean_difference(here, there);
}

/// Mean difference over the window around (x, y), from the sum over its pixels; NaN if (x, y) moves outside.
template <class Frame>
PF_HD float window_mean(const Frame& frame, float sum, int window, int x, int y, Motion flow) {
  const bool inside = locate(float(x) + flow.u, float(y) + flow.v, frame.width, frame.height).inside;
  return inside ? sum * (1 / float(window * window)) : __builtin_nanf("");
}

}  // namespace parafield
