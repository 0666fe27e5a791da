// SPDX-License-Identifier: MIT
#pragma once
#include "core/workspace.hpp"
#include "steps/warp/warp.hpp"

namespace parafield {

/// Takes a pixel's candidate flow where that lowers the sum over the 5x5 pixels p around of |frame1(p +
/// flow(p)) - frame0(p)|. Pixels beyond the border are left out. `gain` is scratch memory.
template <class Backend>
void keep_better(Backend& backend, View<const float> frame0, View<const float> frame1, FlowPlanes candidate,
                 View<float> gain, FlowPlanes flow);

constexpr int better_reach = 2;

/// By how much less a pixel differs with the candidate; 0 where not finite or where that leaves the frame.
PF_HD float gain_of(float luma, const float* frame1, int stride, int width, int height, float x, float y,
                    Motion flow, Motion candidate) {
  const Match before = locate(x + flow.u, y + flow.v, width, height),
              after = locate(x + candidate.u, y + candidate.v, width, height);
  const float gain = magnitude(sample(frame1, stride, width, height, before) - luma) -
                     magnitude(sample(frame1, stride, width, height, after) - luma);
  return (is_finite(gain) & after.inside) ? gain : 0.0f;
}

}  // namespace parafield
