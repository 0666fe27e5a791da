// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "steps/affine/spread.hpp"

// In each launch, each block lets the matches spread over its tile in shared memory until nothing there
// changes. A launch returns immediately if the previous one changed nothing. If the last launch still changed
// something, a single block finishes the rest, so the result is always the stable assignment. That is slow,
// but paths across more than 8 tiles (256 x 128 seeds) are rare.
//
// Lower bound: a seed reads 20 bytes and writes 8 in each launch that changes it: 0.8 MB for 1242x375 with a
// seed every 4 px, which stays in the cache. The time is dominated by dependent steps: about 0.1 us for each
// seed on a path. Not measured.

namespace parafield {
namespace {

constexpr int spread_width = 32, spread_height = 16, spread_threads = spread_width * spread_height;
constexpr int finish_threads = 1024;

__device__ int step_between_seeds(const AffineModels& models, int column, int row, int to_column,
                                  int to_row) {
  const Color a = models.color_of(column, row), b = models.color_of(to_column, to_row);
  return step_between(color_distance(b.red - a.red, b.green - a.green, b.blue - a.blue));
}

/// `launch`: index of the launch. changed[launch]: whether it found nearer matches.
__global__ void __launch_bounds__(spread_threads)
    spread_models_kernel(const __grid_constant__ AffineModels models, int launch, int launches,
                         int* changed) {
  __shared__ Nearest tile[spread_height + 2][spread_width + 2];
  begin_kernel();
  const int i = int(threadIdx.x), j = int(threadIdx.y);
  const bool first = blockIdx.x == 0 && blockIdx.y == 0 && i == 0 && j == 0;
  if (first && launch + 1 < launches) changed[launch + 1] = 0;
  if (launch >= 2 && changed[launch - 1] == 0) return;
  const int columns = models.grid.columns, rows = models.grid.rows;
  const int column = int(blockIdx.x) * spread_width + i, row = int(blockIdx.y) * spread_height + j;
  const auto value = [&](int x, int y) {
    const bool exists = (x >= 0) & (x < columns) & (y >= 0) & (y < rows);
    return exists ? models.nearest(x, y) : no_match;
  };
  const Nearest before = value(column, row);
  tile[j + 1][i + 1] = before;
  if (i == 0) tile[j + 1][0] = value(column - 1, row);
  if (i == spread_width - 1) tile[j + 1][spread_width + 1] = value(column + 1, row);
  if (j == 0) tile[0][i + 1] = value(column, row - 1);
  if (j == spread_height - 1) tile[spread_height + 1][i + 1] = value(column, row + 1);
  const bool exists = column < columns && row < rows;
  int left = 0, right = 0, up = 0, down = 0;  // 0: a missing neighbor brings no match
  if (exists) {
    if (column > 0) left = step_between_seeds(models, column - 1, row, column, row);
    if (column + 1 < columns) right = step_between_seeds(models, column, row, column + 1, row);
    if (row > 0) up = step_between_seeds(models, column, row - 1, column, row);
    if (row + 1 < rows) down = step_between_seeds(models, column, row, column, row + 1);
  }
  __syncthreads();
  Nearest own = before;
  for (bool any = true; any;) {
    Nearest found = own;
    found = smaller(found, behind_step(tile[j + 1][i], left));
    found = smaller(found, behind_step(tile[j + 1][i + 2], right));
    found = smaller(found, behind_step(tile[j][i + 1], up));
    found = smaller(found, behind_step(tile[j + 2][i + 1], down));
    const bool nearer = exists && found < own;
    __syncthreads();
    if (nearer) tile[j + 1][i + 1] = own = found;
    any = __syncthreads_or(nearer);
  }
  if (own == before) return;
  models.nearest(column, row) = own;
  if (launch > 0) changed[launch] = 1;
}

/// Sweeps over columns and rows until nothing changes, if the last launch still changed something. Runs as a
/// single block.
__global__ void __launch_bounds__(finish_threads)
    finish_spread_kernel(const __grid_constant__ AffineModels models, const int* changed) {
  begin_kernel();
  if (*changed == 0) return;
  const int columns = models.grid.columns, rows = models.grid.rows, thread = int(threadIdx.x);
  for (bool any = true; any;) {
    bool nearer = false;
    // Along `count` seeds and back.
    const auto sweep = [&](int column, int row, int step_x, int step_y, int count) {
      Nearest last = models.nearest(column, row);
      for (int turn = 0; turn < 2; ++turn) {
        for (int k = 1; k < count; ++k) {
          const int to_column = column + step_x, to_row = row + step_y;
          const Nearest old = models.nearest(to_column, to_row);
          last = smaller(old, behind_step(last, step_between_seeds(models, column, row, to_column, to_row)));
          if (last < old) {
            models.nearest(to_column, to_row) = last;
            nearer = true;
          }
          column = to_column;
          row = to_row;
        }
        step_x = -step_x;
        step_y = -step_y;
      }
    };
    for (int column = thread; column < columns; column += finish_threads) sweep(column, 0, 0, 1, rows);
    __syncthreads();
    for (int row = thread; row < rows; row += finish_threads) sweep(0, row, 1, 0, columns);
    any = __syncthreads_or(nearer);
  }
}

}  // namespace

template <class Backend>
void spread_models(Backend& cuda, const AffineModels& models, const SpreadScratch& scratch) {
  const dim3 tiles(blocks_for(models.grid.columns, spread_width),
                   blocks_for(models.grid.rows, spread_height)),
      block(spread_width, spread_height);
  const int launches = tiles.x * tiles.y == 1 ? 1 : smaller(int(tiles.x + tiles.y), most_spreads);
  for (int i = 0; i < launches; ++i)
    cuda.launch(spread_models_kernel, tiles, block, 0, models, i, launches, scratch.changed);
  if (launches > 1)
    cuda.launch(finish_spread_kernel, dim3(1), dim3(finish_threads), 0, models,
                scratch.changed + launches - 1);
  for_pixels<spread_width, spread_height>(
      cuda, models.grid.seeds(), [=] __device__(int column, int row) { take_nearest(models, column, row); });
}

PF_STEP(spread_models<Cuda>);

}  // namespace parafield
