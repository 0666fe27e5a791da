#include "core/cpu/backend.hpp"
#include "guided/features/outliers.hpp"

namespace parafield {

template <>
void drop_outliers(Cpu& cpu, const Track* tracks, const FeatureGrid& grid, float outliers, Track* kept) {
  cpu.rows(grid.rows, [=](int row) {
    for (int column = 0; column < grid.columns; ++column)
      kept[row * grid.columns + column] = without_outlier(tracks, grid, column, row, outliers);
  });
}

}  // namespace parafield
