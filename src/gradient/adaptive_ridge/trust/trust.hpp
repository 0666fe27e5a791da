// SPDX-License-Identifier: MIT
#pragma once
#include "gradient/adaptive_ridge/tensors/tensors.hpp"
#include "steps/gradient/gradient.hpp"
#include "steps/matches/patch_match.hpp"

/// Validity and confidence of the flow, and hidden (occluded) pixels: the second frame does not show them
/// because an object in front covers them or because they have left the frame. They are found where the flow
/// from the second frame, `back`, does not lead back to them. Where `back` is NaN, nothing is known and the
/// pixel counts as visible.
namespace parafield {

/// Sets `valid` where the match is inside the next frame and its brightness differs by at most `max_residual`
/// (0..255), and `confidence` to the smaller eigenvalue of the normal equations, 0..1. Pixels below
/// `out.least` are not valid. If `flow.coarser` is set, the flow is first enlarged from it, and the normal
/// equations are on its coarser grid.
template <class Backend>
void judge_flow(Backend& backend, View<const float> frame, View<const float> next, const NormalPlanes& normal,
                StartingFlow flow, float max_residual, Trust out);

/// Gives each seed the flow at its pixel and marks it valid unless the pixel is hidden.
template <class Backend>
void take_visible(Backend& backend, FlowPlanes flow, FlowPlanes back, const Matches& matches);

/// Replaces the flow of hidden pixels by `filled`, except where `filled` is NaN.
template <class Backend>
void fill_hidden(Backend& backend, FlowPlanes flow, FlowPlanes back, FlowPlanes filled);

// Both backends compute these.

PF_HD float confidence_of(const NormalSums& sum) { return smaller_eigenvalue(sum.xx, sum.xy, sum.yy); }

/// Whether the match at (x, y) is inside the frame and similar in brightness. `luma`: brightness of the
/// pixel.
PF_HD bool is_match(const float* next, int pitch, int width, int height, float x, float y, float luma,
                    float max_residual) {
  const Match match = locate(x, y, width, height);
  return match.inside & (magnitude(sample(next, pitch, width, height, match) - luma) <= max_residual);
}

/// Whether a pixel with flow (u, v) is hidden. A visible pixel returns to within 1.5 px plus a twentieth of
/// its motion. `pitch`: floats from one row of `back` to the next.
PF_HD bool is_hidden(float u, float v, const float* back_u, const float* back_v, int pitch, int width,
                     int height, int x, int y) {
  const Match match = locate(float(x) + u, float(y) + v, width, height);
  const float to_u = sample(back_u, pitch, width, height, match),
              to_v = sample(back_v, pitch, width, height, match);
  const float du = u + to_u, dv = v + to_v;
  const float tolerance = fma(0.05f, __builtin_sqrtf(fma(u, u, v * v)), 1.5f);
  const bool known = (to_u == to_u) & (to_v == to_v), returns = fma(du, du, dv * dv) <= tolerance * tolerance;
  return known & !(match.inside & returns);
}
PF_HD bool is_hidden(const FlowPlanes& flow, const FlowPlanes& back, int x, int y) {
  return is_hidden(flow.u(x, y), flow.v(x, y), back.u.data, back.v.data, int(back.u.stride()), flow.u.width,
                   flow.u.height, x, y);
}

/// take_visible for one seed.
PF_HD void take_visible_seed(FlowPlanes flow, FlowPlanes back, const Matches& matches, int column, int row) {
  const int x = matches.grid.x(column), y = matches.grid.y(row);
  matches.set(column, row, flow.at(x, y));
  matches.valid(column, row) = !is_hidden(flow, back, x, y);
}

}  // namespace parafield
