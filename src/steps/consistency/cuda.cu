// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/consistency/consistency.hpp"

namespace parafield {
namespace {

__global__ void consistency_kernel(FlowPlanes forward, FlowPlanes backward, int pitch, float tolerance,
                                   View<std::uint8_t> valid) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= valid.width || y >= valid.height) return;
  if (!is_consistent(forward.u(x, y), forward.v(x, y), backward.u.data, backward.v.data, pitch, valid.width,
                     valid.height, x, y, tolerance))
    valid(x, y) = 0;
}

__global__ void disparities_kernel(View<const float> left, View<const float> right, float tolerance,
                                   View<std::uint8_t> valid) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= valid.width || y >= valid.height) return;
  if (!is_consistent(left(x, y), right.row(y), valid.width, x, tolerance)) valid(x, y) = 0;
}

const dim3 block(32, 8);
dim3 grid_for(View<std::uint8_t> valid) { return {blocks_for(valid.width, 32), blocks_for(valid.height, 8)}; }

}  // namespace

template <class Backend>
void check_consistency(Backend& cuda, FlowPlanes forward, FlowPlanes backward, float tolerance,
                       View<std::uint8_t> valid) {
  cuda.launch(consistency_kernel, grid_for(valid), block, 0, forward, backward, int(backward.u.stride()),
              tolerance, valid);
}

template <class Backend>
void check_disparities(Backend& cuda, View<const float> left, View<const float> right, float tolerance,
                       View<std::uint8_t> valid) {
  cuda.launch(disparities_kernel, grid_for(valid), block, 0, left, right, tolerance, valid);
}

PF_STEP(check_consistency<Cuda>);
PF_STEP(check_disparities<Cuda>);

}  // namespace parafield
