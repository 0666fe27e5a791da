// SPDX-License-Identifier: MIT
#pragma once
#include "steps/affine/models.hpp"

/// Matches near motion boundaries: a patch that straddles a boundary has the motion of one side, but its seed
/// may be on the other.
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

constexpr int settle_side = 5, settle_points = settle_side * settle_side, settle_spacing = 2;
constexpr int settle_neighbors = 2 * seed_neighbors;
constexpr float distinct_motion = 2;  ///< px: flows closer than this are not compared

// Both backends compute these. Weights and costs are integers, so the order of their sums does not matter.

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
