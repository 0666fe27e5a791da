// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "guided/features/outliers.hpp"

namespace parafield {

template <class Backend>
void drop_outliers(Backend& cpu, const Track* tracks, const FeatureGrid& grid, float outliers, Track* kept) {
  cpu.rows(grid.rows, [=](int row) {
    for (int column = 0; column < grid.columns; ++column)
      kept[row * grid.columns + column] = without_outlier(tracks, grid, column, row, outliers);
  });
}

PF_STEP(drop_outliers<Cpu>);

}  // namespace parafield
