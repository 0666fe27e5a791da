// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "guided/features/matched.hpp"

namespace parafield {
namespace {

constexpr int threads = 64;  // small, so that a thousand cells occupy many multiprocessors

__global__ void __launch_bounds__(threads)
    take_matches_kernel(Matches matches, FeatureGrid grid, Track* tracks) {
  begin_kernel();
  const int cell = int(blockIdx.x) * threads + int(threadIdx.x);
  if (cell >= grid.count()) return;
  const int row = cell / grid.columns;
  tracks[cell] = matched_track(matches, grid, cell - row * grid.columns, row);
}

}  // namespace

template <class Backend>
void take_matches(Backend& cuda, const Matches& matches, const FeatureGrid& grid, Track* tracks) {
  cuda.launch(take_matches_kernel, dim3(blocks_for(grid.count(), threads)), dim3(threads), 0, matches, grid,
              tracks);
}

PF_STEP(take_matches<Cuda>);

}  // namespace parafield
