// SPDX-License-Identifier: MIT
#pragma once
#include "gradient/adaptive_ridge/tensors/tensors.hpp"
#include "steps/gradient/gradient.hpp"
#include "steps/warp/warp.hpp"

/// Validity and confidence of the flow.
namespace parafield {

/// Sets `valid` where the match is inside the next frame and its brightness differs by at most `max_residual`
/// (0..255), and `confidence` to the smaller eigenvalue of the normal equations, 0..1. If `flow.coarser` is
/// set, the flow is first enlarged from it, and the normal equations are on its coarser grid.
template <class Backend>
void judge_flow(Backend& backend, View<const float> frame, View<const float> next, const NormalPlanes& normal,
                StartingFlow flow, float max_residual, Trust out);

/// Whether the match at (x, y) is inside the frame and similar in brightness. `luma`: brightness of the
/// pixel.
PF_HD bool is_match(const float* next, int pitch, int width, int height, float x, float y, float luma,
                    float max_residual) {
  const Match match = locate(x, y, width, height);
  return match.inside & (magnitude(sample(next, pitch, width, height, match) - luma) <= max_residual);
}

}  // namespace parafield
