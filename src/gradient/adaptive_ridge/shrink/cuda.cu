// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "gradient/adaptive_ridge/cells.cuh"
#include "gradient/adaptive_ridge/shrink/shrink.hpp"

// A block makes a tile. First the means of the cells under it and around it go to shared memory, eight lanes
// a cell, five of which sum a row of cells each. Then each thread shrinks two pixels.
//
// Floor: 28 bytes a pixel are read and 8 written, 0.10 ms at 3840x2160 on an H100 (3.0 TB/s), 3.7 us at
// 640x480. Measured (commit e5689ad): 0.18 ms and 7.4 us, 3 us on small levels.
namespace parafield {
namespace {

constexpr int tile_width = 64, tile_height = 16, threads_y = 8, threads = tile_width * threads_y;
constexpr int around_x = tile_width / cell_side + 2, around_y = tile_height / cell_side + 2;

struct Around {
  CellAround cell[around_y][around_x];
};

__device__ void fill_around(const Cells& cells, float likeness2, int x0, int y0, int thread, Around& around) {
  constexpr int count = around_x * around_y, lanes = 8;
  for (int i = thread; i < (count * lanes + 31) / 32 * 32; i += threads) {
    const int cell = smaller(i / lanes, count - 1), lane = i % lanes;
    const int row = cell / around_x, column = cell - row * around_x;
    const int x = clamp(x0 / cell_side - 1 + column, 0, cells.u.width - 1),
              y = clamp(y0 / cell_side - 1 + row, 0, cells.u.height - 1);
    NeighborSums sums;
    if (lane < 5) sums = row_of_cells(cells, x, y, lane - cells_reach, likeness2);
    PF_UNROLL
    for (int step = 1; step < lanes; step *= 2) {
      const auto join = [=](float& value) { value += __shfl_xor_sync(~0u, value, step); };
      join(sums.weight), join(sums.u), join(sums.v), join(sums.squares);
    }
    if (lane == 0)
      around.cell[row][column] = {neighborhood(sums, cells.u(x, y), cells.v(x, y)), cells.luma(x, y)};
  }
}

/// Values of a pixel, loaded while the cells' means are made.
struct Pixel {
  float xx, xy, yy, xt, yt, residual, luma;
};

constexpr int pixels_each = tile_height / threads_y;

/// Loads a thread's pixels of the tile, one below the other; beyond the level the nearest pixel.
__device__ void load(const NormalPlanes& normal, View<const float> luma, int x0, int y0,
                     Pixel (&pixels)[pixels_each]) {
  const int x = smaller(x0 + int(threadIdx.x), luma.width - 1);
  PF_UNROLL
  for (int i = 0; i < pixels_each; ++i) {
    const int y = smaller(y0 + int(threadIdx.y) + i * threads_y, luma.height - 1);
    pixels[i] = {normal.xx(x, y), normal.xy(x, y),       normal.yy(x, y), normal.xt(x, y),
                 normal.yt(x, y), normal.residual(x, y), luma(x, y)};
  }
}

__device__ Motion shrunk_at(const Pixel& pixel, const Shrinkage& p, const Around& around, int x0, int y0,
                            int x, int y, int width, int height) {
  const int column = cell_before(x) - x0 / cell_side + 1, row = cell_before(y) - y0 / cell_side + 1;
  const Neighborhood mean =
      interpolated(around.cell[row][column], around.cell[row][column + 1], around.cell[row + 1][column],
                   around.cell[row + 1][column + 1], share_after(x), share_after(y), pixel.luma, p.likeness2);
  return shrunk(pixel.xx, pixel.xy, pixel.yy, pixel.xt, pixel.yt, pixel.residual, mean, p.gain, float(width),
                float(height));
}

__global__ void __launch_bounds__(threads)
    shrink_kernel(NormalPlanes normal, View<const float> luma, Cells cells, Shrinkage p, FlowPlanes out) {
  begin_kernel();
  __shared__ Around around;
  const int x0 = int(blockIdx.x) * tile_width, y0 = int(blockIdx.y) * tile_height;
  Pixel pixels[pixels_each];
  load(normal, luma, x0, y0, pixels);
  fill_around(cells, p.likeness2, x0, y0, int(threadIdx.y) * tile_width + int(threadIdx.x), around);
  __syncthreads();
  const int x = x0 + int(threadIdx.x);
  if (x >= luma.width) return;
  PF_UNROLL
  for (int i = 0; i < pixels_each; ++i) {
    const int y = y0 + int(threadIdx.y) + i * threads_y;
    if (y >= luma.height) return;
    const Motion flow = shrunk_at(pixels[i], p, around, x0, y0, x, y, luma.width, luma.height);
    out.u(x, y) = flow.u;
    out.v(x, y) = flow.v;
  }
}

__global__ void __launch_bounds__(threads)
    shrink_cells_kernel(NormalPlanes normal, View<const float> luma, Cells cells, Shrinkage p, Cells out) {
  begin_kernel();
  __shared__ Around around;
  __shared__ float du[tile_height][tile_width], dv[tile_height][tile_width], weight[tile_height][tile_width];
  const int x0 = int(blockIdx.x) * tile_width, y0 = int(blockIdx.y) * tile_height;
  const int thread = int(threadIdx.y) * tile_width + int(threadIdx.x);
  Pixel pixels[pixels_each];
  load(normal, luma, x0, y0, pixels);
  fill_around(cells, p.likeness2, x0, y0, thread, around);
  __syncthreads();
  const int column = int(threadIdx.x), x = x0 + column;
  PF_UNROLL
  for (int i = 0; i < pixels_each; ++i) {
    const int row = int(threadIdx.y) + i * threads_y, y = y0 + row;
    if (x >= luma.width || y >= luma.height) break;
    const Motion flow = shrunk_at(pixels[i], p, around, x0, y0, x, y, luma.width, luma.height);
    du[row][column] = flow.u - cells.u(x / cell_side, y / cell_side);
    dv[row][column] = flow.v - cells.v(x / cell_side, y / cell_side);
    weight[row][column] = determination(pixels[i].xx, pixels[i].xy, pixels[i].yy);
  }
  __syncthreads();
  store_cells(out, du[0], dv[0], weight[0], tile_width, luma.width, luma.height, x0, y0, tile_width,
              tile_height, thread, threads, [&](int cell_x, int cell_y) -> Motion {
                return {cells.u(cell_x, cell_y), cells.v(cell_x, cell_y)};
              });
}

dim3 grid_of(Size size) { return {blocks_for(size.width, tile_width), blocks_for(size.height, tile_height)}; }

}  // namespace

template <class Backend>
void shrink_flow(Backend& cuda, const NormalPlanes& normal, View<const float> luma, const Cells& cells,
                 const Shrinkage& p, FlowPlanes out) {
  cuda.launch(shrink_kernel, grid_of(luma.size()), dim3(tile_width, threads_y), 0, normal, luma, cells, p,
              out);
}

template <class Backend>
void shrink_cells(Backend& cuda, const NormalPlanes& normal, View<const float> luma, const Cells& cells,
                  const Shrinkage& p, const Cells& out) {
  cuda.launch(shrink_cells_kernel, grid_of(luma.size()), dim3(tile_width, threads_y), 0, normal, luma, cells,
              p, out);
}

PF_STEP(shrink_flow<Cuda>);
PF_STEP(shrink_cells<Cuda>);

}  // namespace parafield
