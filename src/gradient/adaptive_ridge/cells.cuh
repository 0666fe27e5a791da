// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>

#include "core/cuda/backend.hpp"
#include "gradient/adaptive_ridge/cells.hpp"

/// Tiles of levels. A tile is a struct in a block's shared memory that produces `width` x `height` pixels. To
/// do so, it processes `rows` rows of `columns` pixels.
namespace parafield {

template <class Tile>
dim3 tiles_over(Size level) {
  return {blocks_for(level.width, Tile::width), blocks_for(level.height, Tile::height)};
}

/// Estimated time of one multiprocessor for its share of the tiles, measured in processed pixels. Two tiles
/// at once take hardly longer than one. If a tile does not fit into shared memory, the result is larger than
/// for any level.
template <class Tile>
double pixels_in_turn(Cuda& cuda, Size level) {
  constexpr double beginning = 100;  // latency of a tile, in pixels
  const dim3 tiles = tiles_over<Tile>(level);
  const double each = blocks_for(int(tiles.x * tiles.y), cuda.multiprocessors());
  if (sizeof(Tile) > cuda.shared_memory()) return 1e30;
  return std::max(each, 1.75) * (Tile::columns * Tile::rows + beginning);
}

/// Calls launch(tile) with a null pointer whose type is the fastest of `Tiles`, or the first of them in a
/// tie.
template <class... Tiles, class Launch>
void with_fastest_tile(Cuda& cuda, Size level, Launch launch) {
  double least = 1e31;
  (..., (least = std::min(least, pixels_in_turn<Tiles>(cuda, level))));
  (... || (pixels_in_turn<Tiles>(cuda, level) == least && (launch(static_cast<Tiles*>(nullptr)), true)));
}

/// Sums a value over the eight neighboring lanes that share a cell. Each of them gets the sum.
__device__ inline float sum_over_cell(float value) {
  PF_UNROLL
  for (int step = 1; step < cell_side; step *= 2) value += __shfl_xor_sync(~0u, value, step);
  return value;
}
/// The same for each of the sums.
__device__ inline CellSums sum_over_cell(const CellSums& sums) {
  return {sum_over_cell(sums.weight), sum_over_cell(sums.u), sum_over_cell(sums.v),
          sum_over_cell(sums.squares)};
}

/// Stores the statistics of the cells of a tile: the `columns` x `rows` pixels at (x0, y0) of a level of
/// width x height. du, dv, weight: flow and weight of its pixels in shared memory, with `pitch` floats per
/// row; 0 at pixels of the tile outside the level. near(cell_x, cell_y): the flow that du and dv are relative
/// to. Eight neighboring lanes add up a cell.
template <class Near>
__device__ void store_cells(const Cells& cells, const float* du, const float* dv, const float* weight,
                            int pitch, int width, int height, int x0, int y0, int columns, int rows,
                            int thread, int threads, Near near) {
  const int lanes = rows / cell_side * columns;  // one lane for each column of each row of cells
  for (int i = thread; i < (lanes + 31) / 32 * 32; i += threads) {  // whole warps
    const int cell_row = i / columns, column = i - cell_row * columns;
    const int x = x0 + column, top = y0 + cell_row * cell_side;
    const bool counts = i < lanes && x < width;
    CellSums sums;
    if (counts) {
      PF_UNROLL
      for (int k = 0; k < cell_side; ++k) {
        const int at = (cell_row * cell_side + k) * pitch + column;
        sums.add(du[at], dv[at], weight[at]);
      }
    }
    sums = sum_over_cell(sums);
    if (counts && column % cell_side == 0 && top < height) {
      const int cell_x = x / cell_side, cell_y = top / cell_side;
      const auto from = near(cell_x, cell_y);
      store_flow(cells, cell_x, cell_y, sums, from.u, from.v,
                 smaller(cell_side, width - x) * smaller(cell_side, height - top));
    }
  }
}

/// Stores the mean brightness of the cells of a tile in the same way.
__device__ inline void store_lumas(const Cells& cells, View<const float> luma, int x0, int y0, int columns,
                                   int rows, int thread, int threads) {
  const int lanes = rows / cell_side * columns, width = luma.width, height = luma.height;
  for (int i = thread; i < (lanes + 31) / 32 * 32; i += threads) {
    const int cell_row = i / columns, column = i - cell_row * columns;
    const int x = x0 + column, top = y0 + cell_row * cell_side;
    const bool counts = i < lanes && x < width && top < height;
    float sum = 0;
    PF_UNROLL
    for (int k = 0; k < cell_side; ++k)
      if (counts && top + k < height) sum += luma(x, top + k);
    sum = sum_over_cell(sum);
    if (counts && column % cell_side == 0)
      store_luma(cells, x / cell_side, top / cell_side, sum,
                 smaller(cell_side, width - x) * smaller(cell_side, height - top));
  }
}

}  // namespace parafield
