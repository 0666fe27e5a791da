// SPDX-License-Identifier: MIT
#include "core/cuda/kernel.cuh"
#include "gradient/adaptive_ridge/cells.cuh"
#include "gradient/adaptive_ridge/spaced/spaced.hpp"

// One launch, with one tile of the grid per block. Lower bound for a pair: for each pixel of the frames, 10
// bytes are read (two frames, a quarter of u and v) and 6 written, which takes an H100 (3.0 TB/s) 1.6 us at
// 640x480.
namespace parafield {
namespace {

/// A block's work on a tile of Width x Height pixels of the grid. The instant's images of the surrounding
/// frame pixels go to shared memory, and each thread computes the products of a few grid pixels. These are
/// summed over the windows, the systems are solved, and the solutions are summed over cells.
template <int Width, int Height, int Threads>
struct GridTile {
  static constexpr int width = Width, height = Height, threads = Threads;
  static constexpr int product_columns = width + 2, product_rows = height + 2, planes = Products::count;
  static constexpr int columns = grid_spacing * product_columns + 1, rows = grid_spacing * product_rows + 1;
  static_assert(width % cell_side == 0 && height % cell_side == 0);

  float mean[rows][columns], difference[rows][columns];
  float products[planes][product_rows][product_columns];
  float du[height][width], dv[height][width], weight[height][width];

  /// Computes the normal equations and the cells of the tile whose first pixel of the grid is (x0, y0).
  __device__ void make(View<const float> frame, View<const float> next, View<const float> luma,
                       const StartingFlow& from, const TensorWeights& p, const TensorOutput& out, int x0,
                       int y0) {
    const int thread = int(threadIdx.x), frame_width = frame.width, frame_height = frame.height;
    const int grid_width = luma.width, grid_height = luma.height;
    const int pitch = int(frame.stride());  // of both frames
    const auto start = [&](int x, int y) -> Motion {
      if (from.coarser.u) return enlarged_flow(from.coarser, x, y);
      return from.flow.at(x, y);
    };
    /// Flow at a pixel of the frames, interpolated from the grid.
    const auto fine_start = [&](int x, int y) -> Motion {
      if (!from.coarser.u) return enlarged_flow(from.flow, x, y);
      const int left = x >> 1, right = smaller(left + 1, grid_width - 1);
      const int top = y >> 1, bottom = smaller(top + 1, grid_height - 1);
      const float share_x = 0.5f * float(x & 1), share_y = 0.5f * float(y & 1);
      const Motion a = start(left, top), b = start(right, top), c = start(left, bottom),
                   d = start(right, bottom);
      return {2 * interpolate(interpolate(a.u, c.u, share_y), interpolate(b.u, d.u, share_y), share_x),
              2 * interpolate(interpolate(a.v, c.v, share_y), interpolate(b.v, d.v, share_y), share_x)};
    };
    const int left = grid_spacing * (x0 - 1) - 1, top = grid_spacing * (y0 - 1) - 1;  // of the images
    for (int i = thread; i < rows * columns; i += threads) {
      const int row = i / columns, column = i - row * columns;
      const int x = clamp(left + column, 0, frame_width - 1), y = clamp(top + row, 0, frame_height - 1);
      const Motion flow = fine_start(x, y);
      const float value =
          warped(next.data, pitch, frame_width, frame_height, float(x) + flow.u, float(y) + flow.v);
      const Instant at = instant<2>(frame.data[y * pitch + x], value, 0, p.prefilter);
      mean[row][column] = at.mean;
      difference[row][column] = at.difference;
    }
    __syncthreads();

    for (int i = thread; i < product_rows * product_columns; i += threads) {
      const int row = i / product_columns, column = i - row * product_columns;
      const int x = clamp(x0 + column - 1, 0, grid_width - 1), y = clamp(y0 + row - 1, 0, grid_height - 1);
      int at_row[3];
      PF_UNROLL
      for (int k = 0; k < 3; ++k) at_row[k] = clamp(grid_spacing * y + k - 1, 0, frame_height - 1) - top;
      const auto filtered = [&](int k) -> FilteredColumn {
        const int at = clamp(grid_spacing * x + k, 0, frame_width - 1) - left;
        const float m0 = mean[at_row[0]][at], m1 = mean[at_row[1]][at], m2 = mean[at_row[2]][at];
        return {smoothed(m0, m1, m2, p.prefilter), m2 - m0,
                smoothed(difference[at_row[0]][at], difference[at_row[1]][at], difference[at_row[2]][at],
                         p.prefilter)};
      };
      const Motion flow = start(x, y);
      const Products part = grid_products(filtered(-1), filtered(0), filtered(1), flow.u, flow.v, p);
      products[0][row][column] = part.xx, products[1][row][column] = part.xy;
      products[2][row][column] = part.yy, products[3][row][column] = part.xt;
      products[4][row][column] = part.yt, products[5][row][column] = part.tt;
    }
    __syncthreads();

    const auto near = [&](int cell_x, int cell_y) { return start(cell_x * cell_side, cell_y * cell_side); };
    for (int i = thread; i < height * width; i += threads) {
      const int row = i / width, column = i - row * width, x = x0 + column, y = y0 + row;
      if (x >= grid_width || y >= grid_height) {
        du[row][column] = dv[row][column] = weight[row][column] = 0;
        continue;
      }
      float sums[planes];
      PF_UNROLL
      for (int plane = 0; plane < planes; ++plane) {
        const auto along = [&](int k) {
          const float* const at = &products[plane][row + k][column];
          return grid_windowed(at[0], at[1], at[2], p.window);
        };
        sums[plane] = grid_windowed(along(0), along(1), along(2), p.window);
      }
      const Products sum{sums[0], sums[1], sums[2], sums[3], sums[4], sums[5]};
      const Motion flow = start(x, y), base = near(x / cell_side, y / cell_side);
      const PlainSolution solution = plain_solution(sum, flow.u, flow.v);
      out.normal.store(out.normal.index(x, y), normal_sums(sum, solution));
      du[row][column] = solution.u - base.u;
      dv[row][column] = solution.v - base.v;
      weight[row][column] = determination(sum.xx, sum.xy, sum.yy);
    }
    __syncthreads();
    store_cells(out.cells, du[0], dv[0], weight[0], width, grid_width, grid_height, x0, y0, width, height,
                thread, threads, near);
    if (out.with_luma) store_lumas(out.cells, luma, x0, y0, width, height, thread, threads);
  }
};
using SpacedTile = GridTile<32, 8, 256>;
static_assert(sizeof(SpacedTile) <= 48 * 1024);

__global__ void __launch_bounds__(SpacedTile::threads)
    spaced_tensors_kernel(View<const float> frame, View<const float> next, View<const float> luma,
                          StartingFlow start, const __grid_constant__ TensorWeights weights,
                          const __grid_constant__ TensorOutput out) {
  begin_kernel();
  __shared__ SpacedTile tile;
  tile.make(frame, next, luma, start, weights, out, int(blockIdx.x) * SpacedTile::width,
            int(blockIdx.y) * SpacedTile::height);
}

}  // namespace

template <class Backend>
void spaced_tensors(Backend& cuda, View<const float> frame, View<const float> next, View<const float> luma,
                    StartingFlow start, const TensorWeights& weights, const TensorOutput& out) {
  cuda.launch(spaced_tensors_kernel, tiles_over<SpacedTile>(luma.size()), dim3(SpacedTile::threads), 0, frame,
              next, luma, start, weights, out);
}

PF_STEP(spaced_tensors<Cuda>);

}  // namespace parafield
