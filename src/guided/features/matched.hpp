// SPDX-License-Identifier: MIT
#pragma once
#include "guided/features/grid.hpp"
#include "steps/matches/patch_match.hpp"

namespace parafield {

/// Makes a track for each cell from matches, using the valid seed nearest to the cell's center; the first in
/// row order wins ties. A cell without a valid seed has a track of NaN.
template <class Backend>
void take_matches(Backend& backend, const Matches& matches, const FeatureGrid& grid, Track* tracks);

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
      const float dx = float(x) - center_x, dy = float(y) - center_y, distance = fma(dx, dx, dy * dy);
      if (!inside || !matches.valid(i, j) || distance >= nearest) continue;
      nearest = distance;
      track = {float(x), float(y), matches.u(i, j), matches.v(i, j)};
    }
  return track;
}

}  // namespace parafield
