// SPDX-License-Identifier: MIT
#include "bodily/convolution.cuh"
#include "bodily/kernels.hpp"

namespace parafield::bench {
namespace {

struct Derivative {
  static constexpr int radius = 2;
  __device__ static float at(const float* p, int step) {
    return (p[-2 * step] - 8 * p[-step] + 8 * p[step] - p[2 * step]) * (1.0f / 12);
  }
};
struct Weights {
  static constexpr int radius = 3;
  __device__ static float at(const float* p, int step) {
    return (3 * p[-3 * step] + 5 * p[-2 * step] + 7 * p[-step] + 8 * p[0] + 7 * p[step] + 5 * p[2 * step] +
            3 * p[3 * step]) *
           (1.0f / 38);
  }
};
struct Sum {
  static constexpr int radius = 1;
  __device__ static float at(const float* p, int step) { return p[-step] + p[0] + p[step]; }
};

struct Images {
  const float* frame[5];
};
struct Five {
  Plane plane[5];
};

__device__ int2 pixel() {
  return {int(blockIdx.x * blockDim.x + threadIdx.x), int(blockIdx.y * blockDim.y + threadIdx.y)};
}

__global__ void gradient_z_kernel(Images in, Plane out) {
  const auto [x, y] = pixel();
  if (x >= out.width || y >= out.height) return;
  const int i = y * out.pitch + x;
  out(x, y) = (in.frame[0][i] - 8 * in.frame[1][i] + 8 * in.frame[3][i] - in.frame[4][i]) * (1.0f / 12);
}

__global__ void outer_product_kernel(Plane gx, Plane gy, Plane gt, Five out) {
  const auto [column, row] = pixel();
  if (column >= gx.width || row >= gx.height) return;
  const float x = gx(column, row), y = gy(column, row), t = gt(column, row);
  out.plane[0](column, row) = x * x;
  out.plane[1](column, row) = y * y;
  out.plane[2](column, row) = x * y;
  out.plane[3](column, row) = x * t;
  out.plane[4](column, row) = y * t;
}

/// Flow by eqs. 3.1 and 3.2.
__global__ void flow_kernel(Five tensor, Plane u, Plane v) {
  const auto [x, y] = pixel();
  if (x >= u.width || y >= u.height) return;
  const float t1 = tensor.plane[0](x, y), t2 = tensor.plane[1](x, y), t4 = tensor.plane[2](x, y),
              t5 = tensor.plane[3](x, y), t6 = tensor.plane[4](x, y);
  const float divisor = t1 * t2 - t4 * t4;
  u(x, y) = divisor != 0 ? (t6 * t4 - t5 * t2) / divisor : 0;
  v(x, y) = divisor != 0 ? (t5 * t4 - t6 * t1) / divisor : 0;
}

Launch launch_of(TiledKernel kernel, Size size, Tile tile) {
  const TiledKernelFacts& facts = tiled_kernel_facts[std::size_t(kernel)];
  if (facts.kind == TiledKernelFacts::along_rows)
    return rows_launch(size, tile.width, tile.height, facts.radius);
  if (facts.kind == TiledKernelFacts::down_columns)
    return columns_launch(size, tile.width, tile.height, facts.radius);
  return {dim3(blocks_for(size.width, tile.width), blocks_for(size.height, tile.height)),
          dim3(unsigned(tile.width), unsigned(tile.height)), 0};
}

}  // namespace

Tiles thesis_tiles() {
  Tiles tiles;
  for (std::size_t i = 0; i < tiles.size(); ++i) tiles[i] = tiled_kernel_facts[i].best;
  return tiles;
}

bool fits(TiledKernel kernel, Tile tile) {
  const dim3 block = launch_of(kernel, {1, 1}, tile).block;
  return block.x * block.y <= 1024;
}

TiledTensor::TiledTensor(Size size, int pitch)
    : size_(size), pitch_(pitch), floats_(26 * std::size_t(pitch) * std::size_t(size.height)) {}

void TiledTensor::launch_one(cudaStream_t stream, TiledKernel kernel, Tile tile, const Frames& frames,
                             int index) const {
  const auto [grid, block, shared_bytes] = launch_of(kernel, size_, tile);
  const auto plane_at = [&](int i) { return Plane{plane(i), size_.width, size_.height, pitch_}; };
  // First planes: 0 derivatives, 3 weighted along rows, 6 weighted, 9 products, 14 summed along rows, 19
  // tensor, 24 flow.
  const auto five = [&](int first) {
    Five planes;
    for (int i = 0; i < 5; ++i) planes.plane[i] = plane_at(first + i);
    return planes;
  };
  const Plane middle{const_cast<float*>(frames[2]), size_.width, size_.height, pitch_};
  Images all;
  for (std::size_t i = 0; i < frames.size(); ++i) all.frame[i] = frames[i];
  switch (kernel) {
    case TiledKernel::gradient_x:
      return launch(along_rows<Derivative>, grid, block, shared_bytes, stream, middle, plane_at(0),
                    tile.width);
    case TiledKernel::gradient_y:
      return launch(down_columns<Derivative>, grid, block, shared_bytes, stream, middle, plane_at(1),
                    tile.height);
    case TiledKernel::gradient_z:
      return launch(gradient_z_kernel, grid, block, 0, stream, all, plane_at(2));
    case TiledKernel::weight_x:
      return launch(along_rows<Weights>, grid, block, shared_bytes, stream, plane_at(index),
                    plane_at(3 + index), tile.width);
    case TiledKernel::weight_y:
      return launch(down_columns<Weights>, grid, block, shared_bytes, stream, plane_at(3 + index),
                    plane_at(6 + index), tile.height);
    case TiledKernel::outer_product:
      return launch(outer_product_kernel, grid, block, 0, stream, plane_at(6), plane_at(7), plane_at(8),
                    five(9));
    case TiledKernel::tensor_x:
      return launch(along_rows<Sum>, grid, block, shared_bytes, stream, plane_at(9 + index),
                    plane_at(14 + index), tile.width);
    case TiledKernel::tensor_y:
      return launch(down_columns<Sum>, grid, block, shared_bytes, stream, plane_at(14 + index),
                    plane_at(19 + index), tile.height);
    case TiledKernel::flow:
      return launch(flow_kernel, grid, block, 0, stream, five(19), plane_at(24), plane_at(25));
  }
}

void TiledTensor::run(cudaStream_t stream, const Frames& frames, const Tiles& tiles) const {
  for (std::size_t i = 0; i < tiles.size(); ++i)
    for (int plane = 0; plane < tiled_kernel_facts[i].planes; ++plane)
      launch_one(stream, TiledKernel(i), tiles[i], frames, plane);
}

}  // namespace parafield::bench
