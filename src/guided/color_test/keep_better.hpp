// SPDX-License-Identifier: MIT
#pragma once
#include "core/workspace.hpp"
#include "steps/warp/warp.hpp"

namespace parafield {

/// Replaces a pixel's flow by the candidate if this lowers the sum of |frame1(p + flow(p)) - frame0(p)| over
/// the 5x5 pixels p around it. Pixels outside the frame are ignored. `gain`: scratch image.
template <class Backend>
void keep_better(Backend& backend, View<const float> frame0, View<const float> frame1, FlowPlanes candidate,
                 View<float> gain, FlowPlanes flow);

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
