// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/census/census.hpp"

namespace parafield {
namespace {

__global__ void census_kernel(View<const float> image, View<std::uint32_t> transformed) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= image.width || y >= image.height) return;
  transformed(x, y) = census_of([&](int dx, int dy) {
    return image(clamp(x + dx, 0, image.width - 1), clamp(y + dy, 0, image.height - 1));
  });
}

}  // namespace

template <class Backend>
void census(Backend& cuda, View<const float> image, View<std::uint32_t> transformed) {
  cuda.launch(census_kernel, dim3(blocks_for(image.width, 32), blocks_for(image.height, 8)), dim3(32, 8), 0,
              image, transformed);
}

PF_STEP(census<Cuda>);

}  // namespace parafield
