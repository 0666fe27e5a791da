#pragma once
#include "blocks/warp/warp.hpp"
#include "guided/likelihood.hpp"

/// Whether a pixel has the same colour in the second frame, where a hypothesis of its flow says that it is there.
namespace parafield {

struct ChangeTest {
  float threshold;
  int window;  ///< side, odd
};

/// Where a turning camera moves what is far away: a pixel p to H p.
struct Homography {
  float of[9];

  PF_HD Motion flow(float x, float y) const {
    const float w = fma(of[6], x, fma(of[7], y, of[8]));
    const float right = fma(of[0], x, fma(of[1], y, of[2])), down = fma(of[3], x, fma(of[4], y, of[5]));
    const float behind = w > 0 ? 0.0f : __builtin_nanf("");
    return {right / w - x + behind, down / w - y + behind};
  }
};

/// What is tested and where it is said. `turn` is in the backend's memory; null = none. No `valid`, no test.
struct HypothesisTest {
  Colours frame0, frame1;
  ChangeTest change;
  const Homography* turn;
  View<std::uint8_t> valid;
};

/// valid: whether a pixel's flow passes, which is whether the window around it, moved by that flow, differs by less than the
/// threshold and its middle ends inside the second frame. Where it fails and `turn` passes, that is the flow. Flow that is NaN
/// fails, and becomes 0.
template <class Backend>
void test_change(Backend& backend, const HypothesisTest& test, FlowPlanes flow);

/// (All planes have one size and pitch.) The mean over the channels of |frame0(x, y) - frame1(x + u, y + v)|, frame 1 bilinear, beyond its border the nearest pixel;
/// NaN where a pixel is none.
PF_HD float colour_difference(const Colours& frame0, const Colours& frame1, int x, int y,
                              const Match& match) {
  const int width = frame1.plane[0].width, height = frame1.plane[0].height,
            pitch = int(frame1.plane[0].pitch / std::ptrdiff_t(sizeof(float)));
  const std::ptrdiff_t here = y * std::ptrdiff_t(pitch) + x;
  const auto channel = [&](int i) {
    return magnitude(frame0.plane[i].data[here] - sample(frame1.plane[i].data, pitch, width, height, match));
  };
  return ((channel(0) + channel(1)) + channel(2)) * (1.0f / 3);
}

/// The same over the window; beyond the border of frame 0 the nearest pixel stands in. NaN where (x, y) itself moves outside.
PF_HD float window_difference(const Colours& frame0, const Colours& frame1, int window, int x, int y,
                              Motion motion) {
  const int width = frame0.plane[0].width, height = frame0.plane[0].height, radius = window / 2;
  float sum = 0;
  for (int j = -radius; j <= radius; ++j)
    for (int i = -radius; i <= radius; ++i) {
      const int column = clamp(x + i, 0, width - 1), row = clamp(y + j, 0, height - 1);
      sum += colour_difference(frame0, frame1, column, row,
                               locate(float(column) + motion.u, float(row) + motion.v, width, height));
    }
  const bool inside = locate(float(x) + motion.u, float(y) + motion.v, width, height).inside;
  return inside ? sum * (1 / float(window * window)) : __builtin_nanf("");
}

PF_HD float known(float flow) { return flow == flow ? flow : 0.0f; }

/// One pixel's test; its motion becomes that which passes.
PF_HD bool passes(const HypothesisTest& test, int x, int y, Motion& motion) {
  const auto is_unchanged = [&](Motion hypothesis) {
    return window_difference(test.frame0, test.frame1, test.change.window, x, y, hypothesis) <
           test.change.threshold;
  };
  if (is_unchanged(motion)) return true;
  if (test.turn) {
    const Motion turned = test.turn->flow(float(x), float(y));
    if (is_unchanged(turned)) {
      motion = turned;
      return true;
    }
  }
  motion = {known(motion.u), known(motion.v)};
  return false;
}

}  // namespace parafield
