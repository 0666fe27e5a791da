// SPDX-License-Identifier: MIT
#pragma once
#include "common/launch.cuh"
#include "parafield/image.hpp"

/// Convolution of an image of floats by tiles (section 3.2.2), after the sample of NVIDIA's SDK. A thread
/// reads one pixel of the tile and its apron, and then computes another pixel. At the border the nearest
/// pixel stands in.
namespace parafield::bench {

/// Threads before the first column of a tile, so that reads begin at a multiple of half a warp.
constexpr int alignment = 16;

/// An image of floats.
struct Plane {
  float* data;
  int width, height;
  int pitch;  ///< floats from one row to the next
  __device__ float& operator()(int x, int y) const { return data[y * pitch + x]; }
};

/// Convolves along rows. An Operator has a `radius` and at(middle, step), the weighted sum around a value
/// whose neighbors lie `step` floats apart. Blocks have (alignment + tile_width + radius) x tile height
/// threads.
template <class Operator>
__global__ void along_rows(Plane in, Plane out, int tile_width) {
  constexpr int radius = Operator::radius;
  const int x0 = int(blockIdx.x) * tile_width, y = int(blockIdx.y * blockDim.y + threadIdx.y);
  const int thread = int(threadIdx.x), read = thread - (alignment - radius);
  float* const row = shared_memory<float>() + int(threadIdx.y) * (tile_width + 2 * radius);
  if (read >= 0 && y < in.height) row[read] = in(clamped(x0 - radius + read, in.width), y);
  __syncthreads();
  if (thread < tile_width && x0 + thread < in.width && y < in.height)
    out(x0 + thread, y) = Operator::at(row + thread + radius, 1);
}

/// Convolves down columns. Blocks have tile width x (tile_height + 2 radius) threads.
template <class Operator>
__global__ void down_columns(Plane in, Plane out, int tile_height) {
  constexpr int radius = Operator::radius;
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y0 = int(blockIdx.y) * tile_height;
  const int thread = int(threadIdx.y), width = int(blockDim.x);
  float* const column = shared_memory<float>() + int(threadIdx.x);
  if (x < in.width) column[thread * width] = in(x, clamped(y0 - radius + thread, in.height));
  __syncthreads();
  if (thread < tile_height && x < in.width && y0 + thread < in.height)
    out(x, y0 + thread) = Operator::at(column + (thread + radius) * width, width);
}

/// Launch of along_rows or down_columns with tiles of one size.
struct Launch {
  dim3 grid, block;
  std::size_t shared_bytes;
};
inline Launch rows_launch(Size size, int tile_width, int tile_height, int radius) {
  return {dim3(blocks_for(size.width, tile_width), blocks_for(size.height, tile_height)),
          dim3(unsigned(alignment + tile_width + radius), unsigned(tile_height)),
          sizeof(float) * std::size_t((tile_width + 2 * radius) * tile_height)};
}
inline Launch columns_launch(Size size, int tile_width, int tile_height, int radius) {
  return {dim3(blocks_for(size.width, tile_width), blocks_for(size.height, tile_height)),
          dim3(unsigned(tile_width), unsigned(tile_height + 2 * radius)),
          sizeof(float) * std::size_t(tile_width * (tile_height + 2 * radius))};
}

}  // namespace parafield::bench
