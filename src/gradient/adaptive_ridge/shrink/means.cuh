// SPDX-License-Identifier: MIT
#pragma once
#include "gradient/adaptive_ridge/cells.hpp"
#include "gradient/adaptive_ridge/shrink/shrink.hpp"

namespace parafield {

/// Most cells along a side of so many pixels whose means the pixels read: centers lie up to a cell before the
/// first pixel and behind the last.
PF_HD constexpr int cells_under(int pixels) { return (pixels + cell_side - 2) / cell_side + 2; }

/// Means of the cells under and around a tile of Columns x Rows pixels, in the shared memory of a block of `Threads`.
template <int Columns, int Rows, int Threads>
struct CellMeans {
  static constexpr int across = cells_under(Columns), down = cells_under(Rows);

  alignas(16) CellAround mean[down][across];

  /// Makes the means, for a tile whose first pixel is (x0, y0). Five lanes have a cell, each sums a row of five cells.
  __device__ void fill(const Cells& cells, float likeness2, int x0, int y0, int thread) {
    const int left = cell_before(x0) - cells_reach, top = cell_before(y0) - cells_reach;
    const int last_x = cells.u.width - 1, last_y = cells.u.height - 1;
#pragma unroll 1
    for (int i = thread; i < around_across * around_down; i += Threads) {
      const int row = i / around_across, column = i - row * around_across;
      const Cell cell = cells(clamp(left + column, 0, last_x), clamp(top + row, 0, last_y));
      flow[row][column] = {cell.u, cell.v, cell.spread, cell.weight};
      luma[row][column] = cell.luma;
    }
    __syncthreads();
    constexpr int lanes = 2 * cells_reach + 1, together = 32 / lanes, count = across * down;
    const int lane = thread % 32, part = lane % lanes;
    const float tap = cell_tap(part - cells_reach);
    for (int first = thread / 32 * together; first < count; first += Threads / 32 * together) {
      const int number = smaller(first + lane / lanes, count - 1);
      const int row = number / across, column = number - row * across;
      // Beyond the border the nearest cell stands in.
      const int x = clamp(left + cells_reach + column, 0, last_x) - left,
                y = clamp(top + cells_reach + row, 0, last_y) - top;
      const Cell middle = cell_at(x, y);
      NeighborSums sums;
      PF_UNROLL
      for (int i = -cells_reach; i <= cells_reach; ++i)
        sums.add(cell_at(x + i, y + part - cells_reach), middle, cell_tap(i) * tap, likeness2);
      const auto joined = [](float a) {  // in the first lane of a cell, in the order of total()
        const float two = a + __shfl_down_sync(~0u, a, 1);
        const float four = two + __shfl_down_sync(~0u, two, 2);
        return four + __shfl_down_sync(~0u, a, 4);
      };
      const NeighborSums all{joined(sums.weight), joined(sums.u), joined(sums.v), joined(sums.squares)};
      if (part == 0 && lane < together * lanes && first + lane / lanes < count)
        mean[row][column] = {neighborhood(all, middle.u, middle.v), middle.luma};
    }
  }

 private:
  static constexpr int around_across = across + 2 * cells_reach, around_down = down + 2 * cells_reach;

  struct alignas(16) Flow {
    float u, v, spread, weight;
  };
  __device__ Cell cell_at(int x, int y) const {
    const Flow& at = flow[y][x];
    return {at.u, at.v, at.spread, at.weight, luma[y][x]};
  }

  Flow flow[around_down][around_across];  // of the cells that the means are taken from
  float luma[around_down][around_across];
};

}  // namespace parafield
