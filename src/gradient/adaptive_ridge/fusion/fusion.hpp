// SPDX-License-Identifier: MIT
#pragma once
#include "gradient/adaptive_ridge/hidden/hidden.hpp"
#include "gradient/adaptive_ridge/trust/trust.hpp"
#include "steps/matches/patch_match.hpp"

/// Steps that combine flow and matches. Flow is defined on frame 0, in px, and may be NaN.
namespace parafield {

/// Matches within `snap_distance` of the flow at their seed take that flow, which is more accurate.
template <class Backend>
void snap_matches(Backend& backend, FlowPlanes flow, const Matches& matches);

/// Replaces interpolated flow by `flow` where the two are within `fuse_distance` or the interpolated flow is
/// NaN.
template <class Backend>
void fuse_flow(Backend& backend, FlowPlanes flow, FlowPlanes interpolated);

/// The inputs of finish_matched.
struct RefinedMatches {
  FlowPlanes fused, refined;  ///< flow before and after refinement
  FlowPlanes back;            ///< flow of the second frame
  FlowPlanes plain_back;      ///< the same without matches, or empty; `back` replaces it where fuse_flow would
  View<const float> frame, next;
  NormalPlanes normal;  ///< of the refinement
  float max_residual;   ///< 0..255
  const int* wanted;    ///< on CUDA: nothing is written if *wanted is 0; null = always write
};

/// Writes the refined flow, or `fused` where the refined flow is NaN or further than `refine_distance` away.
/// Then judges it as judge_flow does, unless `trust` is empty. Hidden pixels are invalid and have confidence
/// 0.
template <class Backend>
void finish_matched(Backend& backend, const RefinedMatches& matched, FlowPlanes flow, Trust trust);

constexpr float snap_distance = 1.5f;    // px: matches have whole-pixel motions, fitted to sub-pixel accuracy
constexpr float fuse_distance = 2.5f;    // px: closer flows show the same motion
constexpr float refine_distance = 1.0f;  // px: further away, least squares found another motion

// Both backends compute these.

/// Whether two flows are at most `distance` apart; false if either is NaN.
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
