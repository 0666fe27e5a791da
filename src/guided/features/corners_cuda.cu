// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "guided/features/corners.hpp"

// Two launches: one computes the scores of all pixels, the other has a block for each cell. Lower bound for a
// 1920x1080 frame: 8.3 MB are read, then as many are written and read again, which takes an H100 8 us.
namespace parafield {
namespace {

constexpr int corner_columns = 32, corner_rows = 8, corner_threads = corner_columns * corner_rows;
constexpr int side_x = corner_columns + 2, side_y = corner_rows + 2;  // a tile and the pixels around it

/// The tensors of a tile go to shared memory; then each thread adds nine of them, down the columns first.
__global__ void __launch_bounds__(corner_threads) score_kernel(View<const float> luma, View<float> scores) {
  begin_kernel();
  __shared__ float xx[side_y][side_x], xy[side_y][side_x], yy[side_y][side_x];
  const int x0 = int(blockIdx.x) * corner_columns - 1, y0 = int(blockIdx.y) * corner_rows - 1;
  for (int i = int(threadIdx.y) * corner_columns + int(threadIdx.x); i < side_x * side_y;
       i += corner_threads) {
    const int row = i / side_x, column = i - row * side_x;
    const CornerTensor part =
        corner_tensor_at(luma, clamp(x0 + column, 0, luma.width - 1), clamp(y0 + row, 0, luma.height - 1));
    xx[row][column] = part.xx;
    xy[row][column] = part.xy;
    yy[row][column] = part.yy;
  }
  __syncthreads();
  const int column = int(threadIdx.x), row = int(threadIdx.y);
  const int x = x0 + 1 + column, y = y0 + 1 + row;
  if (x >= luma.width || y >= luma.height) return;
  const auto sum_of = [=](const float(&all)[side_y][side_x]) {
    float down[3];
    PF_UNROLL
    for (int k = 0; k < 3; ++k)
      down[k] = all[row][column + k] + all[row + 1][column + k] + all[row + 2][column + k];
    return down[0] + down[1] + down[2];
  };
  scores(x, y) = corner_score({sum_of(xx), sum_of(xy), sum_of(yy)});
}

/// Key of a corner: larger for a larger score, then for an earlier pixel; 0 = no corner.
__device__ unsigned long long key_of(float score, int index) {
  return (unsigned long long)__float_as_uint(score) << 32 | (0xffffffffu - unsigned(index));
}

__device__ unsigned long long largest_of_warp(unsigned long long key) {
  PF_UNROLL
  for (int step = 16; step > 0; step /= 2) {
    const unsigned long long other = __shfl_xor_sync(~0u, key, step);
    key = other > key ? other : key;
  }
  return key;
}

/// Each block has a cell, whose pixels are numbered in row order.
__global__ void __launch_bounds__(1024)
    corner_kernel(View<const float> scores, FeatureGrid grid, Feature* corners) {
  begin_kernel();
  __shared__ unsigned long long keys[32];
  const int cell = int(blockIdx.x), row = cell / grid.columns, column = cell - row * grid.columns;
  const int x0 = grid.first_x(column), y0 = grid.first_y(row);
  const int width = grid.first_x(column + 1) - x0, height = grid.first_y(row + 1) - y0;
  unsigned long long best = 0;
  for (int i = int(threadIdx.x); i < width * height; i += int(blockDim.x)) {
    const int y = i / width, x = i - y * width;
    const float score = scores(x0 + x, y0 + y);
    if (!(score >= least_corner)) continue;
    const unsigned long long key = key_of(score, i);
    if (key > best && is_peak(scores, x0 + x, y0 + y)) best = key;
  }
  best = largest_of_warp(best);
  const int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32, warps = int(blockDim.x) / 32;
  if (lane == 0) keys[warp] = best;
  __syncthreads();
  if (warp != 0) return;
  best = largest_of_warp(lane < warps ? keys[lane] : 0);
  if (lane != 0) return;
  const int i = int(0xffffffffu - unsigned(best)), y = best ? i / width : 0, x = i - y * width;
  const float none = __int_as_float(0x7fc00000);
  corners[cell] = best ? Feature{float(x0 + x), float(y0 + y)} : Feature{none, none};
}

}  // namespace

template <class Backend>
void find_corners(Backend& cuda, View<const float> luma, const FeatureGrid& grid, View<float> scores,
                  Feature* corners) {
  cuda.launch(score_kernel,
              dim3(blocks_for(luma.width, corner_columns), blocks_for(luma.height, corner_rows)),
              dim3(corner_columns, corner_rows), 0, luma, scores);
  const long long pixels = (long long)grid.width * grid.height / grid.count();
  const unsigned block = pixels > 4096 ? 1024 : pixels > 256 ? 256 : 64;
  cuda.launch(corner_kernel, dim3(unsigned(grid.count())), dim3(block), 0, scores, grid, corners);
}

PF_STEP(find_corners<Cuda>);

}  // namespace parafield
