// SPDX-License-Identifier: MIT
#pragma once
#include "gradient/adaptive_ridge/cells.cuh"
#include "gradient/adaptive_ridge/shrink/shrink.hpp"
#include "steps/median/median.cuh"

namespace parafield {

/// Most cells along a side of so many pixels whose means the pixels read: centers lie up to a cell before the
/// first pixel and behind the last.
PF_HD constexpr int cells_under(int pixels) { return (pixels + cell_side - 2) / cell_side + 2; }

/// A block's work on a tile, `PixelsEach` pixels of a thread below each other. First the means of the cells
/// under the tile and around it go to shared memory, eight lanes a cell, five of which sum a row of cells
/// each. Then the threads shrink their pixels.
template <int Columns, int ThreadsY, int PixelsEach>
struct ShrinkTile {
  static constexpr int columns = Columns, threads_y = ThreadsY, threads = columns * threads_y;
  static constexpr int rows = threads_y * PixelsEach, width = columns, height = rows;

  CellAround cell[cells_under(rows)][cells_under(columns)];

  /// Values of a pixel, loaded while the cells' means are made.
  struct Pixel {
    float xx, xy, yy, xt, yt, residual, luma;
  };
  using Pixels = Pixel[PixelsEach];

  __device__ static int thread() { return int(threadIdx.y) * columns + int(threadIdx.x); }

  /// Loads a thread's pixels of the tile at (x0, y0); beyond the level the nearest pixel.
  __device__ static void load(const NormalPlanes& normal, View<const float> luma, int x0, int y0,
                              Pixels& pixels) {
    const int x = clamp(x0 + int(threadIdx.x), 0, luma.width - 1);
    const auto pitch = unsigned(normal.xx.stride());  // of all planes, which have less than 2^32 values
    PF_UNROLL
    for (int i = 0; i < PixelsEach; ++i) {
      const int y = clamp(y0 + int(threadIdx.y) + i * threads_y, 0, luma.height - 1);
      const unsigned at = unsigned(y) * pitch + unsigned(x);
      pixels[i] = {normal.xx.data[at], normal.xy.data[at],       normal.yy.data[at], normal.xt.data[at],
                   normal.yt.data[at], normal.residual.data[at], luma(x, y)};
    }
  }

  /// Makes the means of the cells: five lanes a cell, six cells a warp.
  __device__ void fill(const Cells& cells, float likeness2, int x0, int y0) {
    constexpr int lanes = 2 * cells_reach + 1, together = 32 / lanes, across = cells_under(columns),
                  count = across * cells_under(rows);
    const int lane = thread() % 32, part = lane % lanes;
    for (int first = thread() / 32 * together; first < count; first += threads / 32 * together) {
      const int number = smaller(first + lane / lanes, count - 1);
      const int row = number / across, column = number - row * across;
      const int x = clamp(cell_before(x0) + column, 0, cells.u.width - 1),
                y = clamp(cell_before(y0) + row, 0, cells.u.height - 1);
            const NeighborSums sums = row_of_cells(cells, x, y, part - cells_reach, likeness2);
      const auto joined = [](float a) {  // in the first lane of a cell, in the order of total()
        const float two = a + __shfl_down_sync(~0u, a, 1);
        const float four = two + __shfl_down_sync(~0u, two, 2);
        return four + __shfl_down_sync(~0u, a, 4);
      };
      const NeighborSums all{joined(sums.weight), joined(sums.u), joined(sums.v), joined(sums.squares)};
      if (part == 0 && lane < together * lanes && first + lane / lanes < count) {
        const unsigned at = cells.at(x, y);
        cell[row][column] = {neighborhood(all, cells.u.data[at], cells.v.data[at]), cells.luma.data[at]};
      }
    }
  }

  /// Calls take(row, x, y, pixel, flow) for each of a thread's pixels. (x, y): the pixel of the level, the
  /// nearest one beyond it.
  template <class Take>
  __device__ void shrink(const Pixels& pixels, const Shrinkage& p, Size level, int x0, int y0,
                         Take take) const {
    const int x = clamp(x0 + int(threadIdx.x), 0, level.width - 1), cell_x = cell_before(x) - cell_before(x0);
    PF_UNROLL
    for (int i = 0; i < PixelsEach; ++i) {
      const int row = int(threadIdx.y) + i * threads_y, y = clamp(y0 + row, 0, level.height - 1),
                cell_y = cell_before(y) - cell_before(y0);
      const Pixel& pixel = pixels[i];
      const Neighborhood mean =
          interpolated(cell[cell_y][cell_x], cell[cell_y][cell_x + 1], cell[cell_y + 1][cell_x],
                       cell[cell_y + 1][cell_x + 1], share_after(x), share_after(y), pixel.luma, p.likeness2);
      take(row, x, y, pixel,
           shrunk(pixel.xx, pixel.xy, pixel.yy, pixel.xt, pixel.yt, pixel.residual, mean, p.gain,
                  float(level.width), float(level.height)));
    }
  }
};

/// A tile whose shrunk flow gets a median of Side x Side pixels before it leaves the block. Side 1: no
/// median.
template <int Side, int Columns, int ThreadsY, int PixelsEach>
struct SmoothedTile {
  using Tile = ShrinkTile<Columns, ThreadsY, PixelsEach>;
  static constexpr int columns = Columns, threads_y = ThreadsY, threads = Tile::threads, warps = threads / 32;
  static constexpr int rows = Tile::rows, radius = Side / 2, width = columns - 2 * radius,
                       height = rows - 2 * radius;

  /// Planes whose medians a warp takes at once. Both take less time at once than one after the other.
  static constexpr int planes = columns == 32 && height <= warps && 2 * height > warps ? 2 : 1;

  Tile cells;
  float flow[2][rows][columns];

  /// Makes the flow of the tile whose first pixel is (left, top).
  __device__ void make(const NormalPlanes& normal, View<const float> luma, const Cells& statistics,
                       const Shrinkage& p, int left, int top, FlowPlanes out) {
    const int x0 = left - radius, y0 = top - radius;
    typename Tile::Pixels pixels;
    Tile::load(normal, luma, x0, y0, pixels);
    cells.fill(statistics, p.likeness2, x0, y0);
    __syncthreads();
    cells.shrink(pixels, p, {luma.width, luma.height}, x0, y0,
                 [&](int row, int, int, const auto&, const Motion& motion) {
                   flow[0][row][threadIdx.x] = unsigned_zero(motion.u);
                   flow[1][row][threadIdx.x] = unsigned_zero(motion.v);
                 });
    __syncthreads();
    const int warp = Tile::thread() / 32, lane = Tile::thread() % 32;
    const int last = smaller(height, luma.height - top);
    for (int i = warp; i < 2 / planes * last; i += warps) {
      const int row = planes == 2 ? i : i >> 1, only = planes == 2 ? 0 : i & 1;
      WarpMedian<Side, columns / 32>::template make<planes>(
          lane, [&](int plane, int column, int j) { return flow[only + plane][row + j][column]; },
          [&](int plane, int column, float median) {
            const View<float> to = only + plane == 0 ? out.u : out.v;
            if (left + column < to.width) to(left + column, top + row) = median;
          });
    }
  }
};

template <int Columns, int ThreadsY, int PixelsEach>
struct SmoothedTile<1, Columns, ThreadsY, PixelsEach> {
  using Tile = ShrinkTile<Columns, ThreadsY, PixelsEach>;
  static constexpr int columns = Columns, threads_y = ThreadsY, threads = Tile::threads;
  static constexpr int rows = Tile::rows, width = columns, height = rows;

  Tile cells;

  __device__ void make(const NormalPlanes& normal, View<const float> luma, const Cells& statistics,
                       const Shrinkage& p, int left, int top, FlowPlanes out) {
    typename Tile::Pixels pixels;
    Tile::load(normal, luma, left, top, pixels);
    cells.fill(statistics, p.likeness2, left, top);
    __syncthreads();
    cells.shrink(pixels, p, {luma.width, luma.height}, left, top,
                 [&](int, int x, int y, const auto&, const Motion& motion) {
                   out.u(x, y) = motion.u, out.v(x, y) = motion.v;  // beyond the level: the nearest pixel's
                 });
  }
};

}  // namespace parafield
