// SPDX-License-Identifier: MIT
#pragma once
#include "guided/features/grid.hpp"
#include "steps/matches/patch_match.hpp"

/// Tracks of a grid's cells: from matches, from dense flow, and without outliers.
namespace parafield {

/// Makes a track for each cell from matches, using the valid seed nearest to the cell's center; the first in
/// row order wins ties. A cell without a valid seed has a track of NaN.
template <class Backend>
void take_matches(Backend& backend, const Matches& matches, const FeatureGrid& grid, Track* tracks);

/// Makes a track for each cell from dense flow, using the valid pixel nearest to the cell's center; the first
/// in row order wins ties. A cell without a valid pixel has a track of NaN.
template <class Backend>
void resample_tracks(Backend& backend, FlowPlanes flow, View<const std::uint8_t> valid,
                     const FeatureGrid& grid, Track* tracks);

/// Drops each track (u = v = NaN) whose flow is `outliers` * max(MAD, 0.7 px) or more away from the median
/// flow (the medians of u and of v) of the valid tracks in the 3x3 cells around it, including itself. MAD is
/// the median distance of these tracks from the median flow. The median of an even number of values is the
/// lower of the two in the middle. A track is kept if fewer than 3 are valid. `kept` must not overlap
/// `tracks`, because every track is compared with the input.
template <class Backend>
void drop_outliers(Backend& backend, const Track* tracks, const FeatureGrid& grid, float outliers,
                   Track* kept);

/// Squared distance of a pixel from the center of a cell, px^2.
PF_HD float distance_from(float center_x, float center_y, int x, int y) {
  const float dx = float(x) - center_x, dy = float(y) - center_y;
  return fma(dx, dx, dy * dy);
}

/// Track of a cell from its nearest valid pixel (x, y). `any`: whether there is one.
PF_HD Track track_of(FlowPlanes flow, int x, int y, bool any) {
  const float none = __builtin_nanf("");
  return any ? Track{float(x), float(y), flow.u(x, y), flow.v(x, y)} : Track{none, none, none, none};
}

/// First seed at or after pixel `x`, for seeds every `stride` px.
PF_HD int first_seed(int x, int stride, int seeds) {
  return clamp((x - stride / 2 + stride - 1) / stride, 0, seeds);
}

PF_HD Track matched_track(const Matches& matches, const FeatureGrid& grid, int column, int row) {
  const SeedGrid& seeds = matches.grid;
  const float center_x = grid.center_x(column), center_y = grid.center_y(row), none = __builtin_nanf("");
  const bool small_x = seeds.columns == 1, small_y = seeds.rows == 1;  // a single seed may be further left
  const int x0 = small_x ? 0 : first_seed(grid.first_x(column), seeds.stride, seeds.columns),
            x1 = small_x ? 1 : first_seed(grid.first_x(column + 1), seeds.stride, seeds.columns),
            y0 = small_y ? 0 : first_seed(grid.first_y(row), seeds.stride, seeds.rows),
            y1 = small_y ? 1 : first_seed(grid.first_y(row + 1), seeds.stride, seeds.rows);
  float nearest = 1e30f;
  Track track{none, none, none, none};
  for (int j = y0; j < y1; ++j)
    for (int i = x0; i < x1; ++i) {
      const int x = seeds.x(i), y = seeds.y(j);
      const bool inside = (x >= grid.first_x(column)) & (x < grid.first_x(column + 1)) &
                          (y >= grid.first_y(row)) & (y < grid.first_y(row + 1));
      const float distance = distance_from(center_x, center_y, x, y);
      if (!inside || !matches.valid(i, j) || distance >= nearest) continue;
      nearest = distance;
      track = {float(x), float(y), matches.u(i, j), matches.v(i, j)};
    }
  return track;
}

constexpr float least_spread2 = 0.7f * 0.7f;  ///< px^2

/// Values of the surrounding cells; `none` where there is no valid track.
struct Neighbors {
  static constexpr int most = 9;
  static constexpr float none = 3e38f;
  float value[most];

  /// The value of a rank, 0 = smallest.
  PF_HD float ranked(int rank) const {
    float found = none;
    PF_UNROLL
    for (int i = 0; i < most; ++i) {
      int before = 0;
      PF_UNROLL
      for (int j = 0; j < most; ++j) before += (value[j] < value[i]) | ((value[j] == value[i]) & (j < i));
      found = before == rank ? value[i] : found;
    }
    return found;
  }
};

PF_HD bool is_valid(const Track& track) { return is_finite(track.u) & is_finite(track.v); }

/// The track in cell (column, row), dropped if it is an outlier.
PF_HD Track without_outlier(const Track* tracks, const FeatureGrid& grid, int column, int row,
                            float outliers) {
  Track own = tracks[row * grid.columns + column];
  if (!is_valid(own)) return own;
  Neighbors u, v, distance;
  int count = 0;
  PF_UNROLL
  for (int i = 0; i < Neighbors::most; ++i) {
    const int x = column + i % 3 - 1, y = row + i / 3 - 1;
    u.value[i] = v.value[i] = Neighbors::none;
    if ((x < 0) | (x >= grid.columns) | (y < 0) | (y >= grid.rows)) continue;
    const Track near = tracks[y * grid.columns + x];
    if (!is_valid(near)) continue;
    u.value[i] = near.u;
    v.value[i] = near.v;
    ++count;
  }
  if (count < 3) return own;
  const int middle = (count - 1) / 2;
  const float median_u = u.ranked(middle), median_v = v.ranked(middle);
  const auto distance2 = [=](float other_u, float other_v) {
    const float du = other_u - median_u, dv = other_v - median_v;
    return fma(du, du, dv * dv);
  };
  PF_UNROLL
  for (int i = 0; i < Neighbors::most; ++i)
    distance.value[i] = u.value[i] < Neighbors::none ? distance2(u.value[i], v.value[i]) : Neighbors::none;
  const float spread2 = larger(distance.ranked(middle), least_spread2);
  if (distance2(own.u, own.v) >= outliers * outliers * spread2) own.u = own.v = __builtin_nanf("");
  return own;
}

}  // namespace parafield
