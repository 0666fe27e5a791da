// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "guided/features/resample.hpp"

namespace parafield {

template <class Backend>
void resample_tracks(Backend& cpu, FlowPlanes flow, View<const std::uint8_t> valid, const FeatureGrid& grid,
                     Track* tracks) {
  cpu.rows(grid.rows, [=](int row) {
    for (int column = 0; column < grid.columns; ++column) {
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
      tracks[row * grid.columns + column] = track_of(flow, nearest_x, nearest_y, nearest < 1e30f);
    }
  });
}

PF_STEP(resample_tracks<Cpu>);

}  // namespace parafield
