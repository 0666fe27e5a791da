// SPDX-License-Identifier: MIT
#include <climits>

#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "gradient/adaptive_ridge/sharpen/sharpen.hpp"

// A warp looks at two cells' width of a row. Together its lanes filter the pixels of cells with boundaries, one after
// the other: each lane has two samples, and warps add whole numbers in one instruction.
namespace parafield {
namespace {

constexpr int block_width = 32, block_height = 8, pixels_of_warp = 8, warps_of_block = 4;

/// Marks cells and finds trust. A warp has 32x1 pixels, and four warps a row of cells.
__global__ void __launch_bounds__(block_width* block_height) examine_flow_kernel(Sharpening s) {
  begin_kernel();
  __shared__ unsigned marked[block_height];
  const int x = int(blockIdx.x) * block_width + int(threadIdx.x),
            y = int(blockIdx.y) * block_height + int(threadIdx.y);
  const int width = s.flow.u.width, height = s.flow.u.height;
  bool is_boundary = false;
  if (x < width && y < height) {
    const int left = larger(x - 1, 0), right = smaller(x + 1, width - 1), above = larger(y - 1, 0),
              below = smaller(y + 1, height - 1);
    const auto changes_in = [=](const View<float>& plane) {
      return changes(plane(left, y), plane(right, y)) | changes(plane(x, above), plane(x, below));
    };
    is_boundary = changes_in(s.flow.u) | changes_in(s.flow.v);
    s.trust(x, y) = trust_of(
        color_at(s.from.pixels, x, y),
        color_at(s.to.pixels, locate(float(x) + s.flow.u(x, y), float(y) + s.flow.v(x, y), width, height)));
  }
  const unsigned lanes = __ballot_sync(~0u, is_boundary);
  if (threadIdx.x == 0) marked[threadIdx.y] = lanes;
  __syncthreads();
  constexpr int columns = block_width / boundary_cell;
  if (threadIdx.y != 0 || int(threadIdx.x) >= columns * (block_height / boundary_cell)) return;
  const int column = int(threadIdx.x) % columns, row = int(threadIdx.x) / columns;
  unsigned any = 0;
  PF_UNROLL
  for (int i = 0; i < boundary_cell; ++i) any |= marked[row * boundary_cell + i];
  const int cell_x = int(blockIdx.x) * columns + column,
            cell_y = int(blockIdx.y) * (block_height / boundary_cell) + row;
  if (cell_x < s.boundaries.width && cell_y < s.boundaries.height)
    s.boundaries(cell_x, cell_y) = (any >> (column * boundary_cell) & 15) != 0;
}

__global__ void __launch_bounds__(32 * warps_of_block) sharpen_kernel(Sharpening s) {
  begin_kernel();
  constexpr int of_lane = (sharpen_samples + 31) / 32;
  const int lane = int(threadIdx.x), y = int(blockIdx.y) * warps_of_block + int(threadIdx.y);
  const int x0 = int(blockIdx.x) * pixels_of_warp, width = s.flow.u.width, height = s.flow.u.height;
  if (y >= height) return;  // whole warps
  bool filters = false;
  if (lane < pixels_of_warp && x0 + lane < width) {
    const int x = x0 + lane;
    filters = is_sharpened(s.boundaries, x / boundary_cell, y / boundary_cell);
    if (!filters) s.sharpened.u(x, y) = s.flow.u(x, y), s.sharpened.v(x, y) = s.flow.v(x, y);
  }
  for (unsigned left = __ballot_sync(~0u, filters); left != 0; left &= left - 1) {
    const int x = x0 + __ffs(int(left)) - 1;
    const Color own = color_at(s.from.pixels, x, y);
    int u[of_lane], v[of_lane], weight[of_lane], sum = 0;
    int low_u = INT_MAX, high_u = INT_MIN, low_v = INT_MAX, high_v = INT_MIN;
    PF_UNROLL
    for (int i = 0; i < of_lane; ++i) {
      const int sample = lane + 32 * i, row = sample / sharpen_across;
      const int dx = sharpen_step * (sample - row * sharpen_across) - sharpen_reach,
                dy = sharpen_step * row - sharpen_reach;
      const int at_x = x + dx, at_y = y + dy;
      u[i] = v[i] = weight[i] = 0;
      if (sample >= sharpen_samples || at_x < 0 || at_x >= width || at_y < 0 || at_y >= height) continue;
      const Color color = color_at(s.from.pixels, at_x, at_y);
      weight[i] = sample_weight(
          largest_difference(color.red - own.red, color.green - own.green, color.blue - own.blue),
          dx * dx + dy * dy, s.trust(at_x, at_y));
      u[i] = units_of(s.flow.u(at_x, at_y));
      v[i] = units_of(s.flow.v(at_x, at_y));
      low_u = smaller(low_u, u[i]), high_u = larger(high_u, u[i]);
      low_v = smaller(low_v, v[i]), high_v = larger(high_v, v[i]);
      sum += weight[i];
    }
    const int all = __reduce_add_sync(~0u, sum);
    low_u = __reduce_min_sync(~0u, low_u), high_u = __reduce_max_sync(~0u, high_u);
    low_v = __reduce_min_sync(~0u, low_v), high_v = __reduce_max_sync(~0u, high_v);
    while (low_u < high_u || low_v < high_v) {
      const int middle_u = (low_u + high_u) >> 1, middle_v = (low_v + high_v) >> 1;
      int part_u = 0, part_v = 0;
      PF_UNROLL
      for (int i = 0; i < of_lane; ++i) {
        part_u += u[i] <= middle_u ? weight[i] : 0;
        part_v += v[i] <= middle_v ? weight[i] : 0;
      }
      part_u = __reduce_add_sync(~0u, part_u);
      part_v = __reduce_add_sync(~0u, part_v);
      2 * part_u >= all ? high_u = middle_u : low_u = middle_u + 1;
      2 * part_v >= all ? high_v = middle_v : low_v = middle_v + 1;
    }
    if (lane == 0) s.sharpened.u(x, y) = flow_of(low_u), s.sharpened.v(x, y) = flow_of(low_v);
  }
}

}  // namespace

template <class Backend>
void sharpen_flow(Backend& cuda, const Sharpening& s) {
  const int width = s.flow.u.width, height = s.flow.u.height;
  cuda.launch(examine_flow_kernel, dim3(blocks_for(width, block_width), blocks_for(height, block_height)),
              dim3(block_width, block_height), 0, s);
  cuda.launch(sharpen_kernel, dim3(blocks_for(width, pixels_of_warp), blocks_for(height, warps_of_block)),
              dim3(32, warps_of_block), 0, s);
}

PF_STEP(sharpen_flow<Cuda>);

}  // namespace parafield
