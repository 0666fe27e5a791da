// SPDX-License-Identifier: MIT
#pragma once
#include "steps/colors/color.hpp"

/// Whether a pixel has the same color in the second frame, at the place that a hypothesis of its flow names.
namespace parafield {

/// A camera's rotation: a pixel p of what is far away moves to H p.
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
  float threshold;             ///< colors of a smaller mean difference are the same; 0..255
  int window;                  ///< side of the square that differences are averaged over, px; odd
  const Homography* rotation;  ///< second hypothesis, in the backend's memory; null = none
  View<std::uint8_t> valid;    ///< result; no image = no test
};

/// Tests each pixel's flow. `valid`: its window, moved by the flow, differs by less than the threshold, and
/// it ends inside the second frame. Where the flow fails and the rotation's passes, that is taken. NaN
/// becomes 0.
template <class Backend>
void test_colors(Backend& backend, const ColorTest& test, FlowPlanes flow);

PF_HD float known(float flow) { return flow == flow ? flow : 0.0f; }

/// By how much the pixel (x, y) differs where the flow moves it. Beyond the borders of both frames the
/// nearest pixel stands in. `Frame`: ColorPlanes or View<Color>.
template <class Frame>
PF_HD float moved_difference(const Frame& frame0, const Frame& frame1, int x, int y, Motion flow) {
  const int width = frame0.width, height = frame0.height;
  const int column = clamp(x, 0, width - 1), row = clamp(y, 0, height - 1);
  const Match match = locate(float(column) + flow.u, float(row) + flow.v, width, height);
  // Frame 0 first: in the other order multi-hypothesis takes 6 % longer on a CPU.
  const Color here = color_at(frame0, column, row), there = color_at(frame1, match);
  return mean_difference(here, there);
}

/// Mean difference of the window around (x, y), from the sum over its pixels; NaN where (x, y) moves outside.
template <class Frame>
PF_HD float window_mean(const Frame& frame, float sum, int window, int x, int y, Motion flow) {
  const bool inside = locate(float(x) + flow.u, float(y) + flow.v, frame.width, frame.height).inside;
  return inside ? sum * (1 / float(window * window)) : __builtin_nanf("");
}

}  // namespace parafield
