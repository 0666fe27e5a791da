// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "gradient/adaptive_ridge/hidden/hidden.hpp"

// A pixel reads its own flow and the flow back at four adjacent pixels: 16 bytes, and as many again if it is
// filled. For 1242x375 this is 7 MB, which fits in an H100's cache: 3 us.
namespace parafield {
namespace {

__global__ void take_visible_kernel(FlowPlanes flow, FlowPlanes back, Matches matches) {
  begin_kernel();
  const int column = int(blockIdx.x * blockDim.x + threadIdx.x),
            row = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (column >= matches.grid.columns || row >= matches.grid.rows) return;
  const int x = matches.grid.x(column), y = matches.grid.y(row);
  matches.u(column, row) = flow.u(x, y), matches.v(column, row) = flow.v(x, y);
  matches.valid(column, row) = !is_hidden(flow, back, x, y);
}

__global__ void fill_hidden_kernel(FlowPlanes flow, FlowPlanes back, FlowPlanes filled) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= flow.u.width || y >= flow.u.height || !is_hidden(flow, back, x, y)) return;
  const float u = filled.u(x, y), v = filled.v(x, y);
  if (u == u && v == v) flow.u(x, y) = u, flow.v(x, y) = v;
}

const dim3 hidden_block(32, 8);
dim3 hidden_blocks(int width, int height) {
  return {blocks_for(width, int(hidden_block.x)), blocks_for(height, int(hidden_block.y))};
}

}  // namespace

template <class Backend>
void take_visible(Backend& cuda, FlowPlanes flow, FlowPlanes back, const Matches& matches) {
  cuda.launch(take_visible_kernel, hidden_blocks(matches.grid.columns, matches.grid.rows), hidden_block, 0,
              flow, back, matches);
}

template <class Backend>
void fill_hidden(Backend& cuda, FlowPlanes flow, FlowPlanes back, FlowPlanes filled) {
  cuda.launch(fill_hidden_kernel, hidden_blocks(flow.u.width, flow.u.height), hidden_block, 0, flow, back,
              filled);
}

PF_STEP(take_visible<Cuda>);
PF_STEP(fill_hidden<Cuda>);

}  // namespace parafield
