// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/remap/remap.hpp"

namespace parafield {
namespace {

__global__ void remap_kernel(RemappedFrame all) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= all.x.width || y >= all.x.height) return;
  with_samples(all.frame.format, [&]<class Sample>(int channels, int red) {
    const int count = channels == 1 ? 1 : 3;
    remap_pixel<Sample>(all.frame, channels, red, all.x(x, y), all.y(x, y), all.values.row(y) + x * count);
  });
}

}  // namespace

template <class Backend>
void remap(Backend& cuda, const RemappedFrame& remapped) {
  cuda.launch_input(remap_kernel, dim3(blocks_for(remapped.x.width, 32), blocks_for(remapped.x.height, 8)),
                    dim3(32, 8), remapped);
}

PF_STEP(remap<Cuda>);

}  // namespace parafield
