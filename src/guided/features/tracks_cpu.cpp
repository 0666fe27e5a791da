// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "guided/features/tracks.hpp"

namespace parafield {

template <class Backend>
void take_matches(Backend& cpu, const Matches& matches, const FeatureGrid& grid, Track* tracks) {
  cpu.pixels(grid.cells(), [=](int column, int row) {
    tracks[grid.cell(column, row)] = matched_track(matches, grid, column, row);
  });
}

template <class Backend>
void resample_tracks(Backend& cpu, FlowPlanes flow, View<const std::uint8_t> valid, const FeatureGrid& grid,
                     Track* tracks) {
  cpu.pixels(grid.cells(), [=](int column, int row) {
    const float center_x = grid.center_x(column), center_y = grid.center_y(row);
    float nearest = 1e30f;
    int nearest_x = 0, nearest_y = 0;
    for (int y = grid.first_y(row); y < grid.first_y(row + 1); ++y)
      for (int x = grid.first_x(column); x < grid.first_x(column + 1); ++x) {
        const float distance = distance_from(center_x, center_y, x, y);
        if (!valid(x, y) || distance >= nearest) continue;
        nearest = distance;
        nearest_x = x, nearest_y = y;
      }
    tracks[grid.cell(column, row)] = track_of(flow, nearest_x, nearest_y, nearest < 1e30f);
  });
}

template <class Backend>
void drop_outliers(Backend& cpu, const Track* tracks, const FeatureGrid& grid, float outliers, Track* kept) {
  cpu.pixels(grid.cells(), [=](int column, int row) {
    kept[grid.cell(column, row)] = without_outlier(tracks, grid, column, row, outliers);
  });
}

PF_STEP(take_matches<Cpu>);
PF_STEP(resample_tracks<Cpu>);
PF_STEP(drop_outliers<Cpu>);

}  // namespace parafield
