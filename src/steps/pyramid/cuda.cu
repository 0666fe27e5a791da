// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/pyramid/pyramid.hpp"

// Launches take most of the time on small levels, so one launch makes two levels of both frames.
namespace parafield {
namespace {

constexpr int tile = 8;              // side, in pixels of the quarter level
constexpr int reach = 2 * tile + 3;  // side of the half level's pixels under a tile
constexpr int threads_x = 32, threads_y = 8;

struct Levels {
  View<const float> fine;
  View<float> half, quarter;  // no data in `quarter`: only one level is made
};

/// A block makes a tile of the quarter level. The half level under it goes to shared memory; the block stores
/// its own part of that, 2 tile x 2 tile. blockIdx.z: index of the frame.
__global__ void __launch_bounds__(threads_x* threads_y) reduce_kernel(Levels frame0, Levels frame1) {
  begin_kernel();
  __shared__ float under[reach][reach + 1];
  const Levels levels = blockIdx.z == 0 ? frame0 : frame1;
  const int x0 = 2 * tile * int(blockIdx.x) - 2, y0 = 2 * tile * int(blockIdx.y) - 2;
  const int last = levels.half.width - 1, bottom = levels.half.height - 1;
  const int thread = int(threadIdx.y) * threads_x + int(threadIdx.x);
  for (int i = thread; i < reach * reach; i += threads_x * threads_y) {
    const int row = i / reach, column = i - row * reach;
    const int x = clamp(x0 + column, 0, last), y = clamp(y0 + row, 0, bottom);
    const float value = reduced(levels.fine, x, y);
    under[row][column] = value;
    const bool own = row >= 2 && row < 2 + 2 * tile && column >= 2 && column < 2 + 2 * tile;
    if (own && x == x0 + column && y == y0 + row) levels.half(x, y) = value;
  }
  if (!levels.quarter) return;
  __syncthreads();
  if (thread >= tile * tile) return;
  const int column = thread % tile, row = thread / tile;
  const int x = tile * int(blockIdx.x) + column, y = tile * int(blockIdx.y) + row;
  if (x >= levels.quarter.width || y >= levels.quarter.height) return;
  float smoothed[5];
  PF_UNROLL
  for (int k = 0; k < 5; ++k)
    smoothed[k] = binomial(under[2 * row][2 * column + k], under[2 * row + 1][2 * column + k],
                           under[2 * row + 2][2 * column + k], under[2 * row + 3][2 * column + k],
                           under[2 * row + 4][2 * column + k]);
  levels.quarter(x, y) = binomial(smoothed[0], smoothed[1], smoothed[2], smoothed[3], smoothed[4]);
}

}  // namespace

template <class Backend>
void build_pyramids(Backend& cuda, const Pyramid* pyramids, int count) {
  for (int level = 1; level < pyramids[0].levels; level += 2) {
    const auto levels_of = [=](const Pyramid& pyramid) -> Levels {
      return {pyramid.level[level - 1], pyramid.level[level],
              level + 1 < pyramid.levels ? pyramid.level[level + 1] : View<float>{}};
    };
    const View<float> half = pyramids[0].level[level];
    const dim3 grid(blocks_for(half.width, 2 * tile), blocks_for(half.height, 2 * tile), unsigned(count));
    cuda.launch(reduce_kernel, grid, dim3(threads_x, threads_y), 0, levels_of(pyramids[0]),
                levels_of(pyramids[count - 1]));
  }
}

PF_STEP(build_pyramids<Cuda>);

}  // namespace parafield
