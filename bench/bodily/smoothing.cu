// SPDX-License-Identifier: MIT
#include "bodily/convolution.cuh"
#include "bodily/kernels.hpp"

namespace parafield::bench {
namespace {

constexpr int row_threads = 320;

struct Smooth {
  static constexpr int radius = 1;
  __device__ static float at(const float* p, int step) {
    return (5 * p[-step] + 6 * p[0] + 5 * p[step]) * (1.0f / 16);
  }
};

/// (5 6 5) / 16 both ways in one 3x3 operator; the middles of the rows are above[1], here[1], below[1].
__device__ float smoothed(const float* above, const float* here, const float* below) {
  return (25 * (above[0] + above[2] + below[0] + below[2]) + 30 * (above[1] + here[0] + here[2] + below[1]) +
          36 * here[1]) *
         (1.0f / 256);
}

/// Row-based form, after the SDK's Sobel filter: threads go along the row, and each reads its nine pixels
/// through the cache.
__global__ void row_based_kernel(Plane in, Plane out) {
  const int y = int(blockIdx.x), above = clamped(y - 1, in.height), below = clamped(y + 1, in.height);
  for (int x = int(threadIdx.x); x < in.width; x += row_threads) {
    float value[3][3];
    for (int k = 0; k < 3; ++k) {
      const int column = clamped(x + k - 1, in.width);
      value[0][k] = __ldg(&in(column, above));
      value[1][k] = __ldg(&in(column, y));
      value[2][k] = __ldg(&in(column, below));
    }
    out(x, y) = smoothed(value[0], value[1], value[2]);
  }
}

/// Tile-based form. Blocks have (alignment + tile_width + 1) x (tile_height + 2) threads: each reads a pixel,
/// aligned, and then computes another one; threads of the apron are idle then.
__global__ void tile_based_kernel(Plane in, Plane out, int tile_width, int tile_height) {
  const int x0 = int(blockIdx.x) * tile_width, y0 = int(blockIdx.y) * tile_height, columns = tile_width + 2;
  const int thread = int(threadIdx.x), row = int(threadIdx.y), read = thread - (alignment - 1);
  float* const tile = shared_memory<float>();
  if (read >= 0)
    tile[row * columns + read] = in(clamped(x0 - 1 + read, in.width), clamped(y0 - 1 + row, in.height));
  __syncthreads();
  if (thread >= tile_width || row >= tile_height || x0 + thread >= in.width || y0 + row >= in.height) return;
  const float* const corner = tile + row * columns + thread;
  out(x0 + thread, y0 + row) = smoothed(corner, corner + columns, corner + 2 * columns);
}

Launch tile_launch(Size size, Tile tile) {
  return {dim3(blocks_for(size.width, tile.width), blocks_for(size.height, tile.height)),
          dim3(unsigned(alignment + tile.width + 1), unsigned(tile.height + 2)),
          sizeof(float) * std::size_t((tile.width + 2) * (tile.height + 2))};
}

}  // namespace

bool ComponentSmoothing::fits(Form form, Tile tile, Tile along, Tile down) {
  const auto is_block = [](const Launch& of) { return of.block.x * of.block.y <= 1024; };
  switch (form) {
    case Form::separable:
      return is_block(rows_launch({1, 1}, along.width, along.height, Smooth::radius)) &&
             is_block(columns_launch({1, 1}, down.width, down.height, Smooth::radius));
    case Form::tile_based:
      return is_block(tile_launch({1, 1}, tile));
    case Form::row_based:
      break;
  }
  return true;
}

ComponentSmoothing::ComponentSmoothing(Size size, int pitch)
    : size_(size), pitch_(pitch), floats_(2 * planes * plane_floats()) {}

void ComponentSmoothing::run(cudaStream_t stream, Form form, const float* in, Tile tile, Tile along,
                             Tile down) const {
  const auto plane = [&](const float* first, int i) {
    return Plane{const_cast<float*>(first) + std::size_t(i) * plane_floats(), size_.width, size_.height,
                 pitch_};
  };
  for (int i = 0; i < planes; ++i) {
    const Plane from = plane(in, i), between = plane(floats_.get(), i), to = plane(result(), i);
    switch (form) {
      case Form::separable: {
        const Launch rows = rows_launch(size_, along.width, along.height, Smooth::radius);
        const Launch columns = columns_launch(size_, down.width, down.height, Smooth::radius);
        launch(along_rows<Smooth>, rows.grid, rows.block, rows.shared_bytes, stream, from, between,
               along.width);
        launch(down_columns<Smooth>, columns.grid, columns.block, columns.shared_bytes, stream, between, to,
               down.height);
        break;
      }
      case Form::row_based:
        launch(row_based_kernel, dim3(unsigned(size_.height)), dim3(row_threads), 0, stream, from, to);
        break;
      case Form::tile_based: {
        const Launch of = tile_launch(size_, tile);
        launch(tile_based_kernel, of.grid, of.block, of.shared_bytes, stream, from, to, tile.width,
               tile.height);
        break;
      }
    }
  }
}

}  // namespace parafield::bench
