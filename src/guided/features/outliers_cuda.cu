// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "guided/features/outliers.hpp"

namespace parafield {
namespace {

constexpr int threads = 64;  // small, so that a thousand features occupy many multiprocessors

__global__ void __launch_bounds__(threads)
    outlier_kernel(const Track* tracks, FeatureGrid grid, float outliers, Track* kept) {
  begin_kernel();
  const int cell = int(blockIdx.x) * threads + int(threadIdx.x);
  if (cell >= grid.count()) return;
  const int row = cell / grid.columns;
  kept[cell] = without_outlier(tracks, grid, cell - row * grid.columns, row, outliers);
}

}  // namespace

template <class Backend>
void drop_outliers(Backend& cuda, const Track* tracks, const FeatureGrid& grid, float outliers, Track* kept) {
  cuda.launch(outlier_kernel, dim3(blocks_for(grid.count(), threads)), dim3(threads), 0, tracks, grid,
              outliers, kept);
}

PF_STEP(drop_outliers<Cuda>);

}  // namespace parafield
