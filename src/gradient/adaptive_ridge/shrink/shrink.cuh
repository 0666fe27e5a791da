// SPDX-License-Identifier: MIT
#pragma once
#include "gradient/adaptive_ridge/cells.cuh"
#include "gradient/adaptive_ridge/shrink/shrink.hpp"
#include "steps/median/median.cuh"

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
        const CellNeighborhood mean = neighborhood(all, middle.u, middle.v);
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
  __device__ CellNeighborhood mean_between(int row, int column, const CellWeights& weights) const {
    const auto mean = [&](int y, int x) -> CellNeighborhood {
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

/// Values of a pixel, loaded before the cells' means are computed.
struct RidgePixel {
  NormalSums sum;
  float luma;
};

/// Loads pixels of one column of a level, `Step` rows apart. Beyond the level, the nearest pixel is loaded.
template <int Step, int Count>
__device__ void load_column(const ShrinkInput& in, int x, int y, RidgePixel (&pixels)[Count]) {
  const auto luma_pitch = unsigned(in.luma.stride());  // the plane has fewer than 2^32 values
  const int column = clamp(x, 0, in.luma.width - 1);
  PF_UNROLL
  for (int i = 0; i < Count; ++i) {
    const int row = clamp(y + i * Step, 0, in.luma.height - 1);
    pixels[i] = {in.normal.at(column, row), in.luma.data[unsigned(row) * luma_pitch + unsigned(column)]};
  }
}

__device__ inline Motion shrunk_toward(const CellNeighborhood& mean, const RidgePixel& pixel,
                                       const ShrinkInput& in) {
  return shrunk(pixel.sum, mean, in.p.gain, float(in.luma.width), float(in.luma.height));
}

/// A block's work on a tile. Each thread has `PixelsEach` pixels of one column, a row of cells apart. First
/// the means of the cells under and around the tile go to shared memory; then the threads shrink their
/// pixels.
template <int Columns, int ThreadsY, int PixelsEach>
struct ShrinkTile {
  static constexpr int columns = Columns, threads_y = ThreadsY, threads = columns * threads_y;
  static constexpr int rows = threads_y * PixelsEach, width = columns, height = rows;
  static_assert(threads_y == cell_side || PixelsEach == 1);

  CellMeans<columns, rows, threads> cells;

  __device__ static int thread() { return int(threadIdx.y) * columns + int(threadIdx.x); }

  /// Shrinks the tile whose first pixel is (x0, y0). Calls take(row, flow) for each of a thread's pixels.
  /// Beyond the level, the flow is undefined.
  template <class Take>
  __device__ void make(const ShrinkInput& in, int x0, int y0, Take take) {
    const int x = x0 + int(threadIdx.x), y = y0 + int(threadIdx.y);
    const Cell cell = cells.read(in.cells, x0, y0, thread());
    RidgePixel pixels[PixelsEach];
    load_column<threads_y>(in, x, y, pixels);
    cells.keep(cell, thread());
    __syncthreads();
    cells.make_means(in.cells, in.p.likeness2, x0, y0, thread());
    const float share_x = share_after(x), share_y = share_after(y);  // for all of the thread's pixels
    const int column = cell_before(x) - cell_before(x0), row = cell_before(y) - cell_before(y0);
    CellWeights weights[PixelsEach];  // computed here because some warps have no means to compute
    PF_UNROLL
    for (int i = 0; i < PixelsEach; ++i)
      weights[i] = cells.weights(row + i, column, share_x, share_y, pixels[i].luma, in.p.likeness2);
    __syncthreads();
    PF_UNROLL
    for (int i = 0; i < PixelsEach; ++i)
      take(int(threadIdx.y) + i * threads_y,
           shrunk_toward(cells.mean_between(row + i, column, weights[i]), pixels[i], in));
  }
};

/// Largest number of rows that any warp works on if warps take `each` rows at once.
constexpr int rows_in_turn(int rows, int each, int warps) { return (rows / each + warps - 1) / warps * each; }

/// A tile whose shrunk flow gets a median over Side x Side pixels before it leaves the block. Side 1: no
/// median.
template <int Side, int Columns, int ThreadsY, int PixelsEach>
struct SmoothedTile {
  using Tile = ShrinkTile<Columns, ThreadsY, PixelsEach>;
  static constexpr int columns = Columns, threads_y = ThreadsY, threads = Tile::threads, warps = threads / 32;
  static constexpr int rows = Tile::rows, radius = Side / 2, width = columns - 2 * radius,
                       height = rows - 2 * radius;

  /// Planes for which a warp takes medians at once. Taking both at once is faster than one after the other.
  static constexpr int planes = columns == 32 && height <= warps && 2 * height > warps ? 2 : 1;
  static_assert(planes == 2 || warps % 2 == 0);  // or each plane gets half of the warps
  /// Rows for which a warp takes medians at once. Two at once take less work, but only pay off if the busiest
  /// warp gets no more rows because of it.
  static constexpr int rows_each =
      Side == 5 && columns == 64 && rows_in_turn(2 * height, 2, warps) <= rows_in_turn(2 * height, 1, warps)
          ? 2
          : 1;
  using Medians = WarpMedian<Side, columns / 32, rows_each>;

  Tile tile;
  alignas(16) float flow[2][rows][columns];

  /// Computes the flow of the tile whose first pixel is (left, top).
  __device__ void make(const ShrinkInput& in, int left, int top, FlowPlanes out) {
    const int x0 = left - radius, y0 = top - radius;
    tile.make(in, x0, y0, [&](int row, const Motion& motion) {
      flow[0][row][threadIdx.x] = unsigned_zero(motion.u);
      flow[1][row][threadIdx.x] = unsigned_zero(motion.v);
    });
    if (x0 < 0 || y0 < 0 || x0 + columns > in.luma.width || y0 + rows > in.luma.height)
      extend(in.size(), x0, y0);
    __syncthreads();
    take_medians(left, top, out);
  }

 private:
  /// Sets pixels beyond the level to the flow of the nearest pixel.
  __device__ void extend(Size level, int x0, int y0) {
    __syncthreads();
    const int column = int(threadIdx.x), from_column = clamp(x0 + column, 0, level.width - 1) - x0;
    PF_UNROLL
    for (int i = 0; i < PixelsEach; ++i) {
      const int row = int(threadIdx.y) + i * threads_y, from_row = clamp(y0 + row, 0, level.height - 1) - y0;
      if (row == from_row && column == from_column) continue;
      flow[0][row][column] = flow[0][from_row][from_column];
      flow[1][row][column] = flow[1][from_row][from_column];
    }
  }

  __device__ void take_medians(int left, int top, FlowPlanes out) const {
    const int warp = Tile::thread() / 32, lane = Tile::thread() % 32;
    const int first = planes == 2 ? 0 : warp & 1, last = smaller(height, out.u.height - top);
    const View<float> to[] = {first == 0 ? out.u : out.v, out.v};
    for (int row = (warp * planes / 2) * rows_each; row < last; row += warps * planes / 2 * rows_each)
      Medians::template make<planes>(
          lane,
          [&](int plane, int column, int j) {
            return *reinterpret_cast<const typename Medians::Values*>(&flow[first + plane][row + j][column]);
          },
          [&](int plane, int column, int i, float median) {
            if (left + column < out.u.width && row + i < last)
              to[plane](left + column, top + row + i) = median;
          });
  }
};

template <int Columns, int ThreadsY, int PixelsEach>
struct SmoothedTile<1, Columns, ThreadsY, PixelsEach> {
  using Tile = ShrinkTile<Columns, ThreadsY, PixelsEach>;
  static constexpr int columns = Columns, threads_y = ThreadsY, threads = Tile::threads;
  static constexpr int rows = Tile::rows, width = columns, height = rows;

  Tile tile;

  __device__ void make(const ShrinkInput& in, int left, int top, FlowPlanes out) {
    tile.make(in, left, top, [&](int row, const Motion& motion) {
      const int x = left + int(threadIdx.x), y = top + row;
      if (x < in.luma.width && y < in.luma.height) out.set(x, y, motion);
    });
  }
};

/// A block's work on Columns pixels of CellRows rows of cells. Only the cells' statistics of the shrunk flow
/// are kept. Each thread has one column of a cell.
template <int Columns, int CellRows>
struct ShrunkCellsTile {
  static constexpr int columns = Columns, threads_y = CellRows, threads = columns * threads_y;
  static constexpr int rows = CellRows * cell_side, width = columns, height = rows;

  CellMeans<columns, rows, threads> cells;

  /// Computes the statistics of the tile whose first pixel is (x0, y0), which must be the first pixel of a
  /// cell.
  __device__ void make(const ShrinkInput& in, int x0, int y0, const Cells& out) {
    const Size level = in.size();
    const int x = x0 + int(threadIdx.x), y = y0 + int(threadIdx.y) * cell_side;
    const int cell_x = x / cell_side, cell_y = y / cell_side;
    const bool has_cell = x < level.width && y < level.height;
    const int thread = int(threadIdx.y) * columns + int(threadIdx.x);
    const Cell cell = cells.read(in.cells, x0, y0, thread);
    RidgePixel pixels[cell_side];
    load_column<1>(in, x, y, pixels);
    Motion from{0, 0};  // the flow that the cell's sums are relative to
    if (has_cell) from = {in.cells.u(cell_x, cell_y), in.cells.v(cell_x, cell_y)};
    cells.keep(cell, thread);
    __syncthreads();
    cells.make_means(in.cells, in.p.likeness2, x0, y0, thread);
    __syncthreads();
    const int column = cell_before(x) - cell_before(x0);
    CellSums sums;
    PF_UNROLL
    for (int i = 0; i < cell_side; ++i) {
      const int row = int(threadIdx.y) + (i < cell_side / 2 ? 0 : 1);  // first row of cells around the pixel
      const RidgePixel& pixel = pixels[i];
      const CellWeights weights =
          cells.weights(row, column, share_after(x), share_after(i), pixel.luma, in.p.likeness2);
      const Motion flow = shrunk_toward(cells.mean_between(row, column, weights), pixel, in);
      const float weight = determination(pixel.sum.xx, pixel.sum.xy, pixel.sum.yy);
      const bool exists = has_cell && y + i < level.height;
      sums.add(exists ? flow.u - from.u : 0.0f, exists ? flow.v - from.v : 0.0f, exists ? weight : 0.0f);
    }
    sums = sum_over_cell(sums);
    if (has_cell && x % cell_side == 0)
      store_flow(out, cell_x, cell_y, sums, from.u, from.v,
                 smaller(cell_side, level.width - x) * smaller(cell_side, level.height - y));
  }
};

}  // namespace parafield
