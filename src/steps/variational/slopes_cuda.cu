// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/variational/color_edges.cuh"

namespace parafield {
namespace {

constexpr int measure_warps = 4;

/// A lane adds up a column of a cell; eight lanes share a cell.
template <int Channels>
__global__ void __launch_bounds__(32 * measure_warps)
    measure_kernel(const __grid_constant__ ComparedFrames frames, SlopePlanes measured, FlowPlanes flow) {
  begin_kernel();
  const int x = int(blockIdx.x) * 32 + int(threadIdx.x),
            row = int(blockIdx.y) * measure_warps + int(threadIdx.y);
  const int width = flow.u.width, height = flow.u.height;
  if (row >= measured.share[0].height) return;  // true for whole warps only
  const int first = row * slope_cell, end = smaller(first + slope_cell, height);
  SlopeSums sums[2];
  if (x < width) {
    // All loads come before the first use, because each of them takes long.
    const int right = smaller(x + 1, width - 1);
    float u[slope_cell + 1], v[slope_cell + 1], u_right[slope_cell], v_right[slope_cell];
    ColorEdges edges[slope_cell];
    PF_UNROLL
    for (int i = 0; i <= slope_cell; ++i) {
      const int y = smaller(first + i, height - 1);
      u[i] = flow.u(x, y), v[i] = flow.v(x, y);
      if (i < slope_cell) u_right[i] = flow.u(right, y), v_right[i] = flow.v(right, y);
    }
    color_edges<Channels>(frames, x, first, edges);
    PF_UNROLL
    for (int i = 0; i < slope_cell; ++i) {
      const bool exists = first + i < end;
      sums[0].add(exists ? edges[i].along : 0.0f, u_right[i] - u[i], v_right[i] - v[i]);
      sums[1].add(exists ? edges[i].down : 0.0f, u[i + 1] - u[i], v[i + 1] - v[i]);
    }
  }
  const auto sum_of_cell = [](float column) {  // as sum_of_columns
    PF_UNROLL
    for (int distance = slope_cell / 2; distance > 0; distance /= 2)
      column += __shfl_xor_sync(~0u, column, distance);
    return column;
  };
  PF_UNROLL
  for (int axis = 0; axis < 2; ++axis) {
    const float weight = sum_of_cell(sums[axis].weight), u = sum_of_cell(sums[axis].u),
                v = sum_of_cell(sums[axis].v);
    if (x % slope_cell != 0 || x >= width) continue;
    const int cell = x / slope_cell, pixels = (end - first) * smaller(slope_cell, width - x);
    measured.slope[2 * axis](cell, row) = slope_of(u, weight, pixels);
    measured.slope[2 * axis + 1](cell, row) = slope_of(v, weight, pixels);
    measured.share[axis](cell, row) = weight * reciprocal(float(pixels));
  }
}

/// A tile of cells, with the cells around it that its sweeps depend on.
constexpr int tile = 16, halo = 2 * slope_sweeps, side = tile + 2 * halo;

/// Each thread relaxes two neighboring cells of a row, one in each half of a sweep. blockIdx.z: index of the
/// plane.
__global__ void __launch_bounds__(side* side / 2)
    relax_slopes_kernel(SlopePlanes measured, SlopePlanes slopes) {
  begin_kernel();
  __shared__ float value[side][side];
  const int row = int(threadIdx.y), y = int(blockIdx.y) * tile - halo + row;
  const int left_most = int(blockIdx.x) * tile - halo;
  const View<const float> start = measured.slope[blockIdx.z], own = measured.share[blockIdx.z / 2],
                          sx = measured.share[0], sy = measured.share[1];
  const int width = start.width, height = start.height;
  SlopeCell cell[2];
  float at_start[2];
  bool exists[2];
  PF_UNROLL
  for (int odd = 0; odd < 2; ++odd) {
    const int column = 2 * int(threadIdx.x) + ((row + odd) & 1), x = left_most + column;
    exists[odd] = x >= 0 && x < width && y >= 0 && y < height;
    at_start[odd] = 0;
    if (exists[odd]) {
      cell[odd] = SlopeCell::make(
          x > 0 ? sx(x, y) * sx(x - 1, y) : 0.0f, x + 1 < width ? sx(x, y) * sx(x + 1, y) : 0.0f,
          y > 0 ? sy(x, y) * sy(x, y - 1) : 0.0f, y + 1 < height ? sy(x, y) * sy(x, y + 1) : 0.0f, own(x, y));
      at_start[odd] = start(x, y);
    }
    value[row][column] = at_start[odd];
    exists[odd] = exists[odd] && row > 0 && row < side - 1 && column > 0 && column < side - 1;
  }
  __syncthreads();
  for (int sweep = 0; sweep < slope_sweeps; ++sweep) PF_UNROLL
  for (int odd = 0; odd < 2; ++odd) {
    const int column = 2 * int(threadIdx.x) + ((row + odd) & 1);
    if (exists[odd])
      value[row][column] =
          cell[odd].relaxed(value[row][column], at_start[odd], value[row][column - 1], value[row][column + 1],
                            value[row - 1][column], value[row + 1][column]);
    __syncthreads();
  }
  PF_UNROLL
  for (int odd = 0; odd < 2; ++odd) {
    const int column = 2 * int(threadIdx.x) + odd, x = left_most + column;
    const bool is_own = column >= halo && column < halo + tile && row >= halo && row < halo + tile;
    if (is_own && x < width && y < height) slopes.slope[blockIdx.z](x, y) = value[row][column];
  }
}

}  // namespace

template <class Backend>
void find_slopes(Backend& cuda, const ComparedFrames& frames, const RefinementPlanes& planes,
                 FlowPlanes flow) {
  const Size cells = size_of_slopes(flow.u.size());
  cuda.launch(frames.channels == 1 ? measure_kernel<1> : measure_kernel<3>,
              dim3(blocks_for(flow.u.width, 32), blocks_for(cells.height, measure_warps)),
              dim3(32, measure_warps), 0, frames, planes.measured, flow);
  cuda.launch(relax_slopes_kernel,
              dim3(blocks_for(cells.width, tile), blocks_for(cells.height, tile), SlopePlanes::count),
              dim3(side / 2, side), 0, planes.measured, planes.slopes);
}

PF_STEP(find_slopes<Cuda>);

}  // namespace parafield
