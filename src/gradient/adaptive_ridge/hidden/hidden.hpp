// SPDX-License-Identifier: MIT
#pragma once
#include "core/workspace.hpp"
#include "steps/matches/patch_match.hpp"
#include "steps/warp/warp.hpp"

/// Hidden (occluded) pixels: the second frame does not show them because an object in front covers them or
/// because they have left the frame. They are found where the flow from the second frame, `back`, does not
/// lead back to them. Where `back` is NaN, nothing is known and the pixel counts as visible.
namespace parafield {

/// Gives each seed the flow at its pixel and marks it valid unless the pixel is hidden.
template <class Backend>
void take_visible(Backend& backend, FlowPlanes flow, FlowPlanes back, const Matches& matches);

/// Replaces the flow of hidden pixels by `filled`, except where `filled` is NaN.
template <class Backend>
void fill_hidden(Backend& backend, FlowPlanes flow, FlowPlanes back, FlowPlanes filled);

// Both backends compute these.

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

}  // namespace parafield
