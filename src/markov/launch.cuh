// SPDX-License-Identifier: MIT
#pragma once
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"

/// Kernel launches with blocks of 32 x 8 threads, one pixel or more per thread, or with a lot of shared
/// memory.
namespace parafield {
namespace {

const dim3 pixel_block(32, 8);

/// Grid of blocks for an image. `each`: pixels of a row per thread; `planes`: blocks in z.
dim3 pixel_grid(Size size, int each = 1, int planes = 1) {
  return {blocks_for(size.width, 32 * each), blocks_for(size.height, 8), unsigned(planes)};
}
__device__ int own_x() { return int(blockIdx.x * blockDim.x + threadIdx.x); }
__device__ int own_y() { return int(blockIdx.y * blockDim.y + threadIdx.y); }

/// Four adjacent values of a row, loaded and stored at once. Their address must be a multiple of their size.
template <class T>
struct alignas(4 * sizeof(T)) Four {
  T of[4];
};
template <class T>
__device__ Four<T>& four_at(T* values) {
  return *reinterpret_cast<Four<T>*>(values);
}
template <class T>
__device__ const Four<T>& four_at(const T* values) {
  return *reinterpret_cast<const Four<T>*>(values);
}

/// Launches a kernel whose blocks may need more than the 48 KiB of shared memory that every kernel has.
template <class... Parameters, class... Arguments>
void launch_shared(Cuda& cuda, void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t bytes,
                   const Arguments&... arguments) {
  if (bytes > 48 * 1024) cuda.allow_shared_memory(reinterpret_cast<const void*>(kernel), bytes);
  cuda.launch(kernel, grid, block, bytes, arguments...);
}

}  // namespace
}  // namespace parafield
