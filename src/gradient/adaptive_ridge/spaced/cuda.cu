// SPDX-License-Identifier: MIT
#include "core/cuda/kernel.cuh"
#include "gradient/adaptive_ridge/cells.cuh"
#include "gradient/adaptive_ridge/spaced/spaced.hpp"
#include "steps/warp/warp.cuh"

// One launch, with one tile of the grid per block. Lower bound for a pair: for each pixel of the frames, 10
// bytes are read (two frames, a quarter of u and v) and 6 written, which takes an H100 (3.0 TB/s) 1.6 us at
// 640x480. Measured with ncu at commit 42f86014: 13 us, and 7 us for a small level, because the stages of a tile
// wait for the flow and then for the frames.
namespace parafield {
namespace {

/// A block's work on a tile of the grid. The flow goes to shared memory, then the instant's images of the
/// frame pixels around the tile. Each thread computes the images of a few pixels of one column, then the
/// products of grid pixels. These are summed over the windows, the systems are solved, and the solutions are
/// summed over cells.
template <int Width, int Height>
struct GridTile {
  static constexpr int width = Width, height = Height, threads = 512;
  static constexpr int product_columns = width + 2, product_rows = height + 2, planes = Products::count;
  static constexpr int flow_columns = product_columns + 2, flow_rows = product_rows + 2;
  static constexpr int columns = grid_spacing * product_columns + 1, rows = grid_spacing * product_rows + 1;
  static_assert(width % cell_side == 0 && height % cell_side == 0);

  struct Images {
    float mean[rows][columns], difference[rows][columns];
  };
  /// Solutions relative to the flow of their cells, and their weights.
  struct Solutions {
    float u[height][width], v[height][width], weight[height][width];
  };
  union {
    Images images;
    Solutions solutions;
  };
  float u[flow_rows][flow_columns], v[flow_rows][flow_columns];
  float products[planes][product_rows][product_columns];

  /// Index of a row or column of the grid in u and v, for a tile that begins at `first`.
  __device__ static int near(int at, int first) { return at - first + 2; }
  __device__ Motion start(int row, int column) const { return {u[row][column], v[row][column]}; }

  /// Calls f(row, column) for all places of some rows and columns.
  template <int Rows, int Columns, class F>
  __device__ static void each(F f) {
    PF_UNROLL
    for (int i = 0; i < (Rows * Columns + threads - 1) / threads; ++i) {
      const int k = int(threadIdx.x) + i * threads;
      if (k < Rows * Columns) f(k / Columns, k % Columns);
    }
  }

  __device__ void load_flow(const StartingFlow& from, int x0, int y0, Size grid) {
    each<flow_rows, flow_columns>([&](int row, int column) {
      const int x = clamp(x0 + column - 2, 0, grid.width - 1), y = clamp(y0 + row - 2, 0, grid.height - 1);
      const Motion flow = from.coarser.u ? enlarged_flow(from.coarser, x, y) : from.flow.at(x, y);
      u[row][column] = flow.u, v[row][column] = flow.v;
    });
  }

  /// Computes the images, from the frame pixel (left, top) on.
  __device__ void fill_images(View<const float> frame, View<const float> next, Size grid, float prefilter,
                              int left, int top, int x0, int y0) {
    constexpr int groups = threads / columns, each_rows = (rows + groups - 1) / groups;
    const int column = int(threadIdx.x) % columns, first = int(threadIdx.x) / columns * each_rows;
    const int x = clamp(left + column, 0, frame.width - 1);
    const int before = near(x >> 1, x0), after = near(smaller((x >> 1) + 1, grid.width - 1), x0);
    const float share_x = 0.5f * float(x & 1);
    int y[each_rows];
    float own[each_rows], flow_u[each_rows], flow_v[each_rows], warped[each_rows];
    PF_UNROLL
    for (int k = 0; k < each_rows; ++k) {
      y[k] = clamp(top + smaller(first + k, rows - 1), 0, frame.height - 1);
      own[k] = frame(x, y[k]);
      const int above = near(y[k] >> 1, y0), below = near(smaller((y[k] >> 1) + 1, grid.height - 1), y0);
      const float share_y = 0.5f * float(y[k] & 1);
      const auto enlarged = [&](const float(&flow)[flow_rows][flow_columns]) {
        return 2 * interpolate(interpolate(flow[above][before], flow[below][before], share_y),
                               interpolate(flow[above][after], flow[below][after], share_y), share_x);
      };
      flow_u[k] = enlarged(u), flow_v[k] = enlarged(v);
    }
    warp_below<each_rows>({next.data, unsigned(next.stride()), next.width, next.height}, 1, x, y, flow_u,
                          flow_v, warped);
    PF_UNROLL
    for (int k = 0; k < each_rows; ++k) {
      if (first + k >= rows) break;
      const Instant at = instant<2>(own[k], warped[k], 0, prefilter);
      images.mean[first + k][column] = at.mean;
      images.difference[first + k][column] = at.difference;
    }
  }

  __device__ void fill_products(Size frame, Size grid, const TensorWeights& p, int left, int top, int x0,
                                int y0) {
    each<product_rows, product_columns>([&](int row, int column) {
      const int x = clamp(x0 + column - 1, 0, grid.width - 1), y = clamp(y0 + row - 1, 0, grid.height - 1);
      int at_row[3];
      PF_UNROLL
      for (int k = 0; k < 3; ++k) at_row[k] = clamp(grid_spacing * y + k - 1, 0, frame.height - 1) - top;
      const auto filtered = [&](int k) -> FilteredColumn {
        const int at = clamp(grid_spacing * x + k, 0, frame.width - 1) - left;
        const auto& difference = images.difference;
        const float m0 = images.mean[at_row[0]][at], m1 = images.mean[at_row[1]][at],
                    m2 = images.mean[at_row[2]][at];
        return {smoothed(m0, m1, m2, p.prefilter), m2 - m0,
                smoothed(difference[at_row[0]][at], difference[at_row[1]][at], difference[at_row[2]][at],
                         p.prefilter)};
      };
      const Motion flow = start(near(y, y0), near(x, x0));
      const Products part = grid_products(filtered(-1), filtered(0), filtered(1), flow.u, flow.v, p);
      products[0][row][column] = part.xx, products[1][row][column] = part.xy;
      products[2][row][column] = part.yy, products[3][row][column] = part.xt;
      products[4][row][column] = part.yt, products[5][row][column] = part.tt;
    });
  }

  __device__ void solve(Size grid, const TensorWeights& p, const NormalPlanes& out, int x0, int y0) {
    each<height, width>([&](int row, int column) {
      const int x = x0 + column, y = y0 + row;
      if (x >= grid.width || y >= grid.height) {
        solutions.u[row][column] = solutions.v[row][column] = solutions.weight[row][column] = 0;
        return;
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
      const Motion flow = start(row + 2, column + 2),
                   base = start(row / cell_side * cell_side + 2, column / cell_side * cell_side + 2);
      const PlainSolution solution = plain_solution(sum, flow.u, flow.v);
      out.store(out.index(x, y), normal_sums(sum, solution));
      solutions.u[row][column] = solution.u - base.u;
      solutions.v[row][column] = solution.v - base.v;
      solutions.weight[row][column] = determination(sum.xx, sum.xy, sum.yy);
    });
  }

  /// Computes the normal equations and the cells of the tile whose first pixel of the grid is (x0, y0).
  __device__ void make(View<const float> frame, View<const float> next, View<const float> luma,
                       const StartingFlow& from, const TensorWeights& p, const TensorOutput& out, int x0,
                       int y0) {
    const Size grid{luma.width, luma.height};
    const int left = grid_spacing * (x0 - 1) - 1, top = grid_spacing * (y0 - 1) - 1;  // of the images
    load_flow(from, x0, y0, grid);
    __syncthreads();
    fill_images(frame, next, grid, p.prefilter, left, top, x0, y0);
    __syncthreads();
    fill_products({frame.width, frame.height}, grid, p, left, top, x0, y0);
    __syncthreads();
    solve(grid, p, out.normal, x0, y0);
    __syncthreads();
    const auto of_cell = [&](int cell_x, int cell_y) {
      return start(near(cell_y * cell_side, y0), near(cell_x * cell_side, x0));
    };
    const int thread = int(threadIdx.x);
    store_cells(out.cells, solutions.u[0], solutions.v[0], solutions.weight[0], width, grid.width,
                grid.height, x0, y0, width, height, thread, threads, of_cell);
    if (out.with_luma)  // on different warps from the cells above
      store_lumas(out.cells, luma, x0, y0, width, height, (thread + threads / 2) % threads, threads);
  }
};

template <class Tile>
__global__ void __launch_bounds__(Tile::threads, 2)
    spaced_tensors_kernel(View<const float> frame, View<const float> next, View<const float> luma,
                          StartingFlow start, const __grid_constant__ TensorWeights weights,
                          const __grid_constant__ TensorOutput out) {
  begin_kernel();
  static_assert(sizeof(Tile) <= 48 * 1024);
  __shared__ Tile tile;
  tile.make(frame, next, luma, start, weights, out, int(blockIdx.x) * Tile::width,
            int(blockIdx.y) * Tile::height);
}

}  // namespace

template <class Backend>
void spaced_tensors(Backend& cuda, View<const float> frame, View<const float> next, View<const float> luma,
                    StartingFlow start, const TensorWeights& weights, const TensorOutput& out) {
  with_fastest_tile<GridTile<32, 8>, GridTile<32, 16>>(cuda, luma.size(), [&]<class Tile>(Tile*) {
    cuda.launch(spaced_tensors_kernel<Tile>, tiles_over<Tile>(luma.size()), dim3(Tile::threads), 0, frame,
                next, luma, start, weights, out);
  });
}

PF_STEP(spaced_tensors<Cuda>);

}  // namespace parafield
