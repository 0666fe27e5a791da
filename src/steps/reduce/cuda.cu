// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/reduce/reduce.hpp"

// Lower bound at 1920x1080: reading 8.3 MB takes an H100 2.5 us, and the single warp that adds the rows about
// 2 us.
namespace parafield {
namespace {

constexpr int summed_rows = 8;  // rows per block, one warp each

/// Sum of the values, added by the whole warp and returned by lane 0.
template <class T>
__device__ double sum_of(const T* values, int count) {
  double lane = 0;
#pragma unroll 8
  for (int i = int(threadIdx.x); i < count; i += sum_lanes) lane += double(values[i]);
  PF_UNROLL
  for (int step = sum_lanes / 2; step > 0; step /= 2) lane += __shfl_down_sync(0xffffffffu, lane, step);
  return lane;
}

__global__ void __launch_bounds__(sum_lanes* summed_rows)
    row_sums_kernel(View<const float> values, double* row_sums) {
  begin_kernel();
  const int y = int(blockIdx.x) * summed_rows + int(threadIdx.y);
  if (y >= values.height) return;  // true for whole warps only
  const double sum = sum_of(values.row(y), values.width);
  if (threadIdx.x == 0) row_sums[y] = sum;
}

__global__ void __launch_bounds__(sum_lanes) total_kernel(const double* row_sums, int count, double* total) {
  begin_kernel();
  const double sum = sum_of(row_sums, count);
  if (threadIdx.x == 0) *total = sum;
}

}  // namespace

template <class Backend>
void sum(Backend& cuda, View<const float> values, View<double> row_sums, double* total) {
  cuda.launch(row_sums_kernel, dim3(blocks_for(values.height, summed_rows)), dim3(sum_lanes, summed_rows), 0,
              values, row_sums.data);
  cuda.launch(total_kernel, dim3(1), dim3(sum_lanes), 0, row_sums.data, values.height, total);
}

PF_STEP(sum<Cuda>);

}  // namespace parafield
