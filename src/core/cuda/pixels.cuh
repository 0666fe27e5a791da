// SPDX-License-Identifier: MIT
#pragma once
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"

/// Kernels that compute each pixel of an image, or each cell of a grid, on its own.
namespace parafield {

template <int Width, int Height, class F>
__global__ void __launch_bounds__(Width* Height) pixels_kernel(Size size, const __grid_constant__ F f) {
  begin_kernel();
  const int x = int(blockIdx.x) * Width + int(threadIdx.x), y = int(blockIdx.y) * Height + int(threadIdx.y);
  if (x < size.width && y < size.height) f(x, y);
}

/// Launches f(x, y), a __device__ lambda, for each pixel, in blocks of Width x Height. `layers`: depth of the
/// launch; f finds its layer in blockIdx.z.
template <int Width = 32, int Height = 8, class Backend, class F>
void for_pixels(Backend& cuda, Size size, F f, int layers = 1) {
  const dim3 grid(blocks_for(size.width, Width), blocks_for(size.height, Height), unsigned(layers));
  cuda.launch(pixels_kernel<Width, Height, F>, grid, dim3(Width, Height), 0, size, f);
}

/// The same if f uses the user's memory: see Cuda::launch_input.
template <int Width = 32, int Height = 8, class Backend, class F>
void for_input_pixels(Backend& cuda, Size size, F f) {
  const dim3 grid(blocks_for(size.width, Width), blocks_for(size.height, Height));
  cuda.launch_input(pixels_kernel<Width, Height, F>, grid, dim3(Width, Height), size, f);
}

}  // namespace parafield
