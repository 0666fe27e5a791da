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

/// Replaces a pixel's flow by the candidate if this lowers the sum of |frame1(p + flow(p)) - frame0(p)| over
/// the 5x5 pixels p around it. Pixels outside the frame are ignored. `gain`: scratch image.
template <class Backend>
void keep_better(Backend& backend, View<const float> frame0, View<const float> frame1, FlowPlanes candidate,
                 View<float> gain, FlowPlanes flow);

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

/// Mean differences over the windows around many pixels on the CPU. Pixel i is at (x_of(i), y_of(i)) and
/// moves by (u[i], v[i]). The inner loop runs over pixels, so that it vectorizes.
template <class X, class Y>
PF_HD void window_differences(const ColorTest& test, int count, X x_of, Y y_of, const float* __restrict u,
                              const float* __restrict v, float* __restrict differences) {
  const ColorPlanes frame0 = planes_of(test.frame0), frame1 = planes_of(test.frame1);
  const int window = test.window, radius = window / 2;
  for (int i = 0; i < count; ++i) differences[i] = 0;
  for (int dy = -radius; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx) {
#pragma GCC ivdep
      for (int i = 0; i < count; ++i)
        differences[i] += moved_difference(frame0, frame1, x_of(i) + dx, y_of(i) + dy, {u[i], v[i]});
    }
  for (int i = 0; i < count; ++i)
    differences[i] = window_mean(frame0, differences[i], window, x_of(i), y_of(i), {u[i], v[i]});
}

/// On CUDA: mean difference over the window around (x, y), moved by the flow; NaN if (x, y) moves outside.
PF_HD float window_difference(const ColorTest& test, int x, int y, Motion flow) {
  const View<Color>&frame0 = test.frame0.pixels, &frame1 = test.frame1.pixels;
  const int radius = test.window / 2;
  float sum = 0;
  for (int dy = -radius; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx) sum += moved_difference(frame0, frame1, x + dx, y + dy, flow);
  return window_mean(frame0, sum, test.window, x, y, flow);
}

/// Tests a pixel on CUDA. `flow` becomes the rotation's if only that passes. If neither passes, NaN becomes
/// 0.
PF_HD bool passes_test(const ColorTest& test, int x, int y, Motion& flow) {
  const auto passes = [&](Motion hypothesis) {
    return window_difference(test, x, y, hypothesis) < test.threshold;
  };
  if (passes(flow)) return true;
  if (test.rotation) {
    const Motion rotated = test.rotation->flow(float(x), float(y));
    if (passes(rotated)) {
      flow = rotated;
      return true;
    }
  }
  flow = {known(flow.u), known(flow.v)};
  return false;
}

constexpr int better_reach = 2;

/// By how much the candidate lowers a pixel's difference; 0 if this is not finite or the candidate leaves the
/// frame.
PF_HD float gain_of(float luma, const float* frame1, int stride, int width, int height, float x, float y,
                    Motion flow, Motion candidate) {
  const Match before = locate(x + flow.u, y + flow.v, width, height),
              after = locate(x + candidate.u, y + candidate.v, width, height);
  const float gain = magnitude(sample(frame1, stride, width, height, before) - luma) -
                     magnitude(sample(frame1, stride, width, height, after) - luma);
  return (is_finite(gain) & after.inside) ? gain : 0.0f;
}

}  // namespace parafield
