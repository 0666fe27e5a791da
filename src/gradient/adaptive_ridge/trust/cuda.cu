// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "gradient/adaptive_ridge/trust/trust.hpp"

namespace parafield {
namespace {

constexpr int lanes = 32, rows = 8;

__global__ void judge_kernel(View<const float> frame, View<const float> next, NormalPlanes normal,
                             FlowPlanes flow, float max_residual, Trust out) {
  begin_kernel();
  const int x = int(blockIdx.x) * lanes + int(threadIdx.x), y = int(blockIdx.y) * rows + int(threadIdx.y);
  if (x >= frame.width || y >= frame.height) return;
  out.confidence(x, y) = smaller_eigenvalue(normal.xx(x, y), normal.xy(x, y), normal.yy(x, y));
  out.valid(x, y) = is_match(next.data, int(next.stride()), frame.width, frame.height,
                             float(x) + flow.u(x, y), float(y) + flow.v(x, y), frame(x, y), max_residual);
}

}  // namespace

template <class Backend>
void judge_flow(Backend& cuda, View<const float> frame, View<const float> next, const NormalPlanes& normal,
                FlowPlanes flow, float max_residual, Trust out) {
  cuda.launch(judge_kernel, dim3(blocks_for(frame.width, lanes), blocks_for(frame.height, rows)),
              dim3(lanes, rows), 0, frame, next, normal, flow, max_residual, out);
}

PF_STEP(judge_flow<Cuda>);

}  // namespace parafield
