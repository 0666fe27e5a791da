// SPDX-License-Identifier: MIT
#pragma once
#include "gradient/adaptive_ridge/trust/trust.hpp"
#include "steps/affine/models.hpp"
#include "steps/warp/warp.hpp"

/// Steps that combine flow and matches. Flow is defined on frame 0, in px, and may be NaN.
namespace parafield {

/// The data that flows are compared by. [0] is the frame of the seeds, [1] the frame they are matched with.
struct SettleFrames {
  Colors colors[2];  ///< smoothed
  View<const float> luma[2];
};

/// Sets each match of `settled` to the cheapest of several flows of `matches`: its own, and those found 2 and
/// 4 seeds away in each of eight directions. A flow other than its own must cost less than 4 / 5 of its own.
/// The cost of a flow is summed over 5x5 points around the seed, 2 px apart, weighted by their similarity to
/// the seed's color. `settled` must not share planes with `matches`.
template <class Backend>
void settle_matches(Backend& backend, const Matches& matches, const SettleFrames& frames,
                    const Matches& settled);

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

/// Replaces the second frame's flow `back` by `matched`, found with matches, where the two differ by more
/// than `fuse_distance` and `matched` ends nearer to its pixel after following `flow`. On CUDA, it does so
/// only if `wanted` is null or *wanted is not 0.
template <class Backend>
void choose_back(Backend& backend, FlowPlanes flow, FlowPlanes matched, const int* wanted, FlowPlanes back);

constexpr int settle_side = 5, settle_points = settle_side * settle_side, settle_spacing = 2;
constexpr int settle_neighbors = 2 * seed_neighbors;
constexpr float distinct_motion = 2;     ///< px: flows closer than this are not compared
constexpr float snap_distance = 1.5f;    // px: matches have whole-pixel motions, fitted to sub-pixel accuracy
constexpr float fuse_distance = 2.5f;    // px: closer flows show the same motion
constexpr float refine_distance = 1.0f;  // px: further away, least squares found another motion

// Both backends compute these.

/// Whether two flows are at most `distance` apart; false if either is NaN.
PF_HD bool is_within(const Motion& a, const Motion& b, float distance) {
  const float u = b.u - a.u, v = b.v - a.v;
  return fma(u, u, v * v) <= distance * distance;
}

PF_HD Motion snapped(const Matches& matches, const FlowPlanes& flow, int column, int row) {
  const int x = matches.grid.x(column), y = matches.grid.y(row);
  const Motion match = matches.flow(column, row), own = flow.at(x, y);
  return is_within(own, match, snap_distance) ? own : match;
}

PF_HD Motion fused(const Motion& flow, const Motion& interpolated) {
  const bool known = bool((interpolated.u == interpolated.u) & (interpolated.v == interpolated.v));
  const bool other = known & !is_within(flow, interpolated, fuse_distance);
  return {other ? interpolated.u : flow.u, other ? interpolated.v : flow.v};
}

PF_HD Motion kept_near(const Motion& flow, const Motion& refined) {
  const bool near = is_within(flow, refined, refine_distance);
  return {near ? refined.u : flow.u, near ? refined.v : flow.v};
}

/// The second frame's flow at a pixel: `own`, or `matched` if it agrees with `flow`, the first frame's flow.
PF_HD Motion chosen_back(const Motion& own, const Motion& matched, const FlowPlanes& flow, int x, int y) {
  const int pitch = int(flow.u.stride()), width = flow.u.width, height = flow.u.height;
  const auto miss = [&](const Motion& back) {
    const Match match = locate(float(x) + back.u, float(y) + back.v, width, height);
    return miss_of(back.u, back.v, flow.u.data, flow.v.data, pitch, width, height, match);
  };
  const Motion other = fused(own, matched);
  const bool better = miss(other) < miss(own);
  return {better ? other.u : own.u, better ? other.v : own.v};
}

// For settle_matches. Weights and costs are integers, so the order of their sums does not matter.

/// Index of the seed that is neighbor k, or -1 if there is none.
PF_HD int settle_neighbor(const SeedGrid& grid, int column, int row, int k) {
  return neighbor_of(grid, column, row, k < seed_neighbors ? 2 : 4, k % seed_neighbors);
}

/// Offset of point k from the seed along x. Its offset along y is settle_offset(k / settle_side).
PF_HD int settle_offset(int k) { return (k % settle_side - settle_side / 2) * settle_spacing; }

/// The pixel nearest to a position. If the position is NaN or very far away, a pixel far outside every frame.
PF_HD int nearest_pixel(float place) {
  constexpr float most = 1 << 24;
  return int(__builtin_floorf(clamp(place, -most, most) + 0.5f));
}

/// Weight of a point, 0 to 256. `a`: the point's color; `b`: the seed's.
PF_HD int settle_weight(const Color& a, const Color& b) {
  constexpr float half2 = 20 * 20;  // half^2: at a color distance of 20 the weight is a quarter
  const float distance = color_distance(a.red - b.red, a.green - b.green, a.blue - b.blue);
  const float share = half2 / fma(distance, distance, half2);
  return is_finite(distance) ? int(fma(256 * share, share, 0.5f)) : 0;
}

/// How much brighter a point is than the middle, as a smooth value from -1 to 1.
PF_HD float soft_census(float luma, float middle) {
  const float difference = luma - middle;
  return difference / __builtin_sqrtf(fma(difference, difference, 16.0f));
}

constexpr int most_settle_cost = 4096;
/// Cost of a point, 0 to most_settle_cost: half from color, half from soft_census.
PF_HD int settle_cost(const Color& a, const Color& b, float census_a, float census_b) {
  const float distance = color_distance(a.red - b.red, a.green - b.green, a.blue - b.blue);
  const float difference = census_a - census_b, square = difference * difference;
  const float by_color = smaller_number(distance, 60.0f) * (1.0f / 60), by_census = square / (square + 0.1f);
  const bool known = is_finite(distance) & is_finite(difference);
  return known ? int(fma(0.5f * most_settle_cost, by_color + by_census, 0.5f)) : most_settle_cost;
}

/// Whether a flow costs so much less than the seed's own that the seed takes it.
PF_HD bool is_much_better(int cost, int own) { return 5 * cost < 4 * own; }

}  // namespace parafield
