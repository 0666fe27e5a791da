// SPDX-License-Identifier: MIT
#pragma once
#include "gradient/adaptive_ridge/cells.hpp"
#include "gradient/adaptive_ridge/shrink/shrink.hpp"

namespace parafield {

/// Largest number of cells whose means are read by `pixels` consecutive pixels of a row or column. The cells'
/// centers are up to one cell before the first pixel and after the last.
PF_HD constexpr int cells_under(int pixels) { return (pixels + cell_side - 2) / cell_side + 2; }

/// Cells under and around a tile of Columns x Rows pixels, and the means that its pixels read, in the shared
/// memory of a block of `Threads` threads. The block must synchronize after `keep` and again after
/// `make_means`.
template <int Columns, int Rows, int Threads>
struct CellMeans {
  static constexpr int across = cells_under(Columns), down = cells_under(Rows);

  /// Reads one cell per thread, for a tile whose first pixel is (x0, y0).
  __device__ static Cell read(const Cells& cells, int x0, int y0, int thread) {
    static_assert(around_across * around_down <= Threads);
    const int row = thread / around_across, column = thread - row * around_across;
    if (row >= around_down) return {};
    return cells(clamp(cell_before(x0) - cells_reach + column, 0, cells.u.width - 1),
                 clamp(cell_before(y0) - cells_reach + row, 0, cells.u.height - 1));
  }
  /// Stores the cell that a thread has read.
  __device__ void keep(const Cell& cell, int thread) {
    const int row = thread / around_across, column = thread - row * around_across;
    if (row >= around_down) return;
    flow_[row][column] = {cell.u, cell.v, cell.spread, cell.weight};
    luma_[row][column] = cell.luma;
  }

  /// Computes the means around the cells. Five lanes share a cell; each sums a row of five cells.
  __device__ void make_means(const Cells& cells, float likeness2, int x0, int y0, int thread) {
    const int left = cell_before(x0) - cells_reach, top = cell_before(y0) - cells_reach;
    const int last_x = cells.u.width - 1, last_y = cells.u.height - 1;
    constexpr int lanes = 2 * cells_reach + 1, together = 32 / lanes, count = across * down;
    const int lane = thread % 32, part = lane % lanes;
    const float tap = cell_tap(part - cells_reach);
    for (int first = thread / 32 * together; first < count; first += Threads / 32 * together) {
      const int number = smaller(first + lane / lanes, count - 1);
      const int row = number / across, column = number - row * across;
      // Beyond the border, the nearest cell is used.
      const int x = clamp(left + cells_reach + column, 0, last_x) - left,
                y = clamp(top + cells_reach + row, 0, last_y) - top;
      const Cell middle = cell_at(x, y);
      NeighborSums sums;
      PF_UNROLL
      for (int i = -cells_reach; i <= cells_reach; ++i)
        sums.add(cell_at(x + i, y + part - cells_reach), middle, cell_tap(i) * tap, likeness2);
      const auto joined = [](float a) {  // the sum, in the first lane of a cell, in the order of total()
        const float two = a + __shfl_down_sync(~0u, a, 1);
        const float four = two + __shfl_down_sync(~0u, two, 2);
        return four + __shfl_down_sync(~0u, a, 4);
      };
      const NeighborSums all{joined(sums.weight), joined(sums.u), joined(sums.v), joined(sums.squares)};
      if (part == 0 && lane < together * lanes && first + lane / lanes < count) {
        const Neighborhood mean = neighborhood(all, middle.u, middle.v);
        mean_[row][column] = {mean.u, mean.v, mean.spread, 0};
      }
    }
  }

  /// Weights of the four cells around a pixel. (row, column): the first of the four.
  __device__ CellWeights weights(int row, int column, float share_x, float share_y, float luma,
                                 float likeness2) const {
    const float* const above = &luma_[row + cells_reach][column + cells_reach];
    const float* const below = above + around_across;
    return cell_weights(above[0], above[1], below[0], below[1], share_x, share_y, luma, likeness2);
  }
  /// The mean around the pixel.
  __device__ Neighborhood mean_between(int row, int column, const CellWeights& weights) const {
    const auto mean = [&](int y, int x) -> Neighborhood {
      const Four& at = mean_[row + y][column + x];
      return {at.u, at.v, at.spread};
    };
    return interpolated(mean(0, 0), mean(0, 1), mean(1, 0), mean(1, 1), weights);
  }

 private:
  static constexpr int around_across = across + 2 * cells_reach, around_down = down + 2 * cells_reach;

  struct alignas(16) Four {
    float u, v, spread, weight;
  };
  __device__ Cell cell_at(int x, int y) const {
    const Four& at = flow_[y][x];
    return {at.u, at.v, at.spread, at.weight, luma_[y][x]};
  }

  Four flow_[around_down][around_across];  // the cells over which the means are taken
  float luma_[around_down][around_across];
  Four mean_[down][across];
};

}  // namespace parafield
