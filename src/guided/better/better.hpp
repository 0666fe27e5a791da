#pragma once
#include "steps/warp/warp.hpp"
#include "core/workspace.hpp"

namespace parafield {

/// Takes the candidate where it lowers the difference of brightness: the sum of |frame1(p + flow) - frame0(p)|, each pixel p at
/// its own flow, over the 5x5 pixels around; beyond the border none. `gain` is room for what each pixel gains.
template <class Backend>
void keep_better(Backend& backend, View<const float> frame0, View<const float> frame1, FlowPlanes candidate,
                 View<float> gain, FlowPlanes flow);

constexpr int better_reach = 2;

/// By how much less a pixel differs with the candidate; 0 where either is no number, and for candidates that leave the frame.
PF_HD float gain_of(float luma, const float* frame1, int pitch, int width, int height, float x, float y,
                    Motion flow, Motion candidate) {
  const Match before = locate(x + flow.u, y + flow.v, width, height),
              after = locate(x + candidate.u, y + candidate.v, width, height);
  const float gain = magnitude(sample(frame1, pitch, width, height, before) - luma) -
                     magnitude(sample(frame1, pitch, width, height, after) - luma);
  return (is_finite(gain) & after.inside) ? gain : 0.0f;
}

}  // namespace parafield
