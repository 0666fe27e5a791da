// SPDX-License-Identifier: MIT
#pragma once
#include "gradient/adaptive_ridge/hidden/hidden.hpp"
#include "gradient/adaptive_ridge/trust/trust.hpp"
#include "steps/matches/patch_match.hpp"

/// Steps that bring flow and matches together. Flow is that of frame 0, px, and may be NaN.
namespace parafield {

/// Matches that the flow at their seed agrees with take it: within `snap_distance` it is more accurate.
template <class Backend>
void snap_matches(Backend& backend, FlowPlanes flow, const Matches& matches);

/// Replaces interpolated flow by `flow` where the two are within `fuse_distance`, or where it is NaN.
template <class Backend>
void fuse_flow(Backend& backend, FlowPlanes flow, FlowPlanes interpolated);

/// What flow with matches is made of at the end.
struct RefinedMatches {
  FlowPlanes fused, refined;  ///< flow before and after it was refined
  FlowPlanes back;            ///< flow of the second frame
  View<const float> frame, next;
  NormalPlanes normal;  ///< of the refinement
  float max_residual;   ///< 0..255
  const int* wanted;    ///< on CUDA: nothing is written where *wanted is 0; null = always written
};

/// Writes the refined flow, or `fused` where it went further than `refine_distance` or is NaN, and judges it
/// like judge_flow unless there is no `trust`. Hidden pixels are not valid and have confidence 0.
template <class Backend>
void finish_matched(Backend& backend, const RefinedMatches& matched, FlowPlanes flow, Trust trust);

constexpr float snap_distance = 1.5f;    // px: matches are whole px, fitted to less
constexpr float fuse_distance = 2.5f;    // px: closer, least squares see the same motion
constexpr float refine_distance = 1.0f;  // px: further, least squares have found another motion

// Both backends compute these.

/// Whether two flows are at most `distance` apart; not if one is NaN.
PF_HD bool is_within(float u0, float v0, float u1, float v1, float distance) {
  const float u = u1 - u0, v = v1 - v0;
  return fma(u, u, v * v) <= distance * distance;
}

PF_HD Motion snapped(const Matches& matches, const FlowPlanes& flow, int column, int row) {
  const int x = matches.grid.x(column), y = matches.grid.y(row);
  const Motion match{matches.u(column, row), matches.v(column, row)}, own{flow.u(x, y), flow.v(x, y)};
  return is_within(own.u, own.v, match.u, match.v, snap_distance) ? own : match;
}

PF_HD Motion fused(float u, float v, float interpolated_u, float interpolated_v) {
  const bool known = bool((interpolated_u == interpolated_u) & (interpolated_v == interpolated_v));
  const bool other = known & !is_within(u, v, interpolated_u, interpolated_v, fuse_distance);
  return {other ? interpolated_u : u, other ? interpolated_v : v};
}

PF_HD Motion kept_near(float u, float v, float refined_u, float refined_v) {
  const bool near = is_within(u, v, refined_u, refined_v, refine_distance);
  return {near ? refined_u : u, near ? refined_v : v};
}

}  // namespace parafield
