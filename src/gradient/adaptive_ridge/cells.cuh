#pragma once
#include "gradient/adaptive_ridge/cells.hpp"

namespace parafield {

/// Stores the statistics of rows of cells whose flow lies in shared memory, each row `pitch` floats: du, dv and weight of
/// pixel (column, row) of a tile at (x0, y0), `columns` x `rows`. near(cell_x, cell_y): the flow that it is relative to. Eight
/// lanes beside each other take a cell.
template <class Near>
__device__ void store_cells(const Cells& cells, const float* du, const float* dv, const float* weight,
                            int pitch, View<const float> luma, int x0, int y0, int columns, int rows,
                            int thread, int threads, Near near) {
  const int lanes = rows / cell_side * columns;  // one for each column of each row of cells
  for (int i = thread; i < (lanes + 31) / 32 * 32; i += threads) {  // whole warps
    const bool asked = i < lanes;
    const int cell_row = asked ? i / columns : 0, column = asked ? i - cell_row * columns : 0;
    const int x = x0 + column, top = y0 + cell_row * cell_side,
              bottom = smaller(top + cell_side, luma.height);
    CellSums sums;
    if (asked && x < luma.width)
      for (int y = top; y < bottom; ++y) {
        const int at = (y - y0) * pitch + column;
        sums.add(du[at], dv[at], weight[at], luma(x, y));
      }
    PF_UNROLL
    for (int step = 1; step < cell_side; step *= 2) {
      const auto join = [=](float& value) { value += __shfl_xor_sync(~0u, value, step); };
      join(sums.weight), join(sums.u), join(sums.v), join(sums.squares), join(sums.luma);
    }
    if (asked && column % cell_side == 0 && x < luma.width && top < luma.height) {
      const int cell_x = x / cell_side, cell_y = top / cell_side;
      const auto from = near(cell_x, cell_y);
      store(cells, cell_x, cell_y, sums, from.u, from.v, smaller(cell_side, luma.width - x) * (bottom - top));
    }
  }
}

}  // namespace parafield
