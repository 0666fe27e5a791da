// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "core/cuda/warp_reductions.cuh"
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
                                   View<std::uint8_t> valid, View<std::uint8_t> unsure) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= valid.width || y >= valid.height) return;
  const float difference = difference_to_right(left(x, y), right.row(y), valid.width, x);
  const bool kept = valid(x, y) != 0 && difference <= tolerance;
  valid(x, y) = kept;
  if (unsure) unsure(x, y) = !kept || difference > 0;
}

// Disparities are projected as integers with the same order as the floats, so an atomic maximum finds the
// largest.

__global__ void begin_projection_kernel(View<int> right) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x < right.width && y < right.height) right(x, y) = ordered_bits(not_projected);
}
__global__ void project_kernel(View<const float> left, View<int> right) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= left.width || y >= left.height) return;
  const float d = left(x, y);
  const Column column = column_at(x, d, left.width);
  if (column.inside) atomicMax(&right(column.x, y), ordered_bits(d));
}
__global__ void end_projection_kernel(View<int> ordered, View<float> right) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x < right.width && y < right.height) right(x, y) = from_ordered_bits(ordered(x, y));
}

const dim3 block(32, 8);
template <class T>
dim3 grid_for(View<T> valid) {
  return {blocks_for(valid.width, 32), blocks_for(valid.height, 8)};
}

}  // namespace

template <class Backend>
void check_consistency(Backend& cuda, FlowPlanes forward, FlowPlanes backward, float tolerance,
                       View<std::uint8_t> valid) {
  cuda.launch(consistency_kernel, grid_for(valid), block, 0, forward, backward, int(backward.u.stride()),
              tolerance, valid);
}

template <class Backend>
void check_disparities(Backend& cuda, View<const float> left, View<const float> right, float tolerance,
                       View<std::uint8_t> valid, View<std::uint8_t> unsure) {
  cuda.launch(disparities_kernel, grid_for(valid), block, 0, left, right, tolerance, valid, unsure);
}

template <class Backend>
void project_disparities(Backend& cuda, View<const float> left, View<float> right) {
  const View<int> whole{reinterpret_cast<int*>(right.data), right.width, right.height, right.pitch};
  cuda.launch(begin_projection_kernel, grid_for(right), block, 0, whole);
  cuda.launch(project_kernel, grid_for(right), block, 0, left, whole);
  cuda.launch(end_projection_kernel, grid_for(right), block, 0, whole, right);
}

PF_STEP(check_consistency<Cuda>);
PF_STEP(check_disparities<Cuda>);
PF_STEP(project_disparities<Cuda>);

}  // namespace parafield
