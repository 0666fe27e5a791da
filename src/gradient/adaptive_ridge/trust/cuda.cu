// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "gradient/adaptive_ridge/trust/trust.hpp"

namespace parafield {
namespace {

constexpr int lanes = 32, rows = 8;

__global__ void judge_kernel(View<const float> frame, View<const float> next, NormalPlanes normal,
                             StartingFlow start, float max_residual, Trust out) {
  begin_kernel();
  const int x = int(blockIdx.x) * lanes + int(threadIdx.x), y = int(blockIdx.y) * rows + int(threadIdx.y);
  if (x >= frame.width || y >= frame.height) return;
  const FlowPlanes flow = start.flow;
  int column = x, row = y;  // of the normal equations
  Motion motion;
  if (start.coarser.u) {
    motion = enlarged_flow(start.coarser, x, y);
    flow.u(x, y) = motion.u, flow.v(x, y) = motion.v;
    column /= 2, row /= 2;
  } else {
    motion = {flow.u(x, y), flow.v(x, y)};
  }
  out.confidence(x, y) =
      smaller_eigenvalue(normal.xx(column, row), normal.xy(column, row), normal.yy(column, row));
  out.valid(x, y) = is_match(next.data, int(next.stride()), frame.width, frame.height, float(x) + motion.u,
                             float(y) + motion.v, frame(x, y), max_residual);
}

}  // namespace

template <class Backend>
void judge_flow(Backend& cuda, View<const float> frame, View<const float> next, const NormalPlanes& normal,
                StartingFlow flow, float max_residual, Trust out) {
  cuda.launch(judge_kernel, dim3(blocks_for(frame.width, lanes), blocks_for(frame.height, rows)),
              dim3(lanes, rows), 0, frame, next, normal, flow, max_residual, out);
}

PF_STEP(judge_flow<Cuda>);

}  // namespace parafield
