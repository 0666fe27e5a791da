// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/resize/resize.hpp"

namespace parafield {
namespace {

__global__ void reduce_flow_kernel(View<const float> fine_u, View<const float> fine_v, int level,
                                   FlowPlanes coarse) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= coarse.u.width || y >= coarse.u.height) return;
  coarse.u(x, y) = reduced_flow(fine_u, x, y, level);
  coarse.v(x, y) = reduced_flow(fine_v, x, y, level);
}

__global__ void enlarge_kernel(FlowPlanes coarse, FlowPlanes fine) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= fine.u.width || y >= fine.u.height) return;
  const Motion flow = enlarged_flow(coarse, x, y);
  fine.u(x, y) = flow.u;
  fine.v(x, y) = flow.v;
}

const dim3 block(32, 8);
dim3 grid_for(FlowPlanes flow) { return {blocks_for(flow.u.width, 32), blocks_for(flow.u.height, 8)}; }

}  // namespace

template <class Backend>
void reduce_flow(Backend& cuda, View<const float> fine_u, View<const float> fine_v, int level,
                 FlowPlanes coarse) {
  cuda.launch_input(reduce_flow_kernel, grid_for(coarse), block, fine_u, fine_v, level, coarse);
}

template <class Backend>
void enlarge_flow(Backend& cuda, FlowPlanes coarse, FlowPlanes fine) {
  cuda.launch(enlarge_kernel, grid_for(fine), block, 0, coarse, fine);
}

PF_STEP(reduce_flow<Cuda>);
PF_STEP(enlarge_flow<Cuda>);

}  // namespace parafield
