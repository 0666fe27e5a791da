// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "gradient/adaptive_ridge/cells.cuh"
#include "gradient/adaptive_ridge/steady/steady.hpp"

// Three launches: sums over cells, trust of the cells, and the mixture. Lower bound for the two that process
// pixels: the sums read 40 bytes per pixel, and the mixture reads 16 and writes 8, which takes an H100 (3.0
// TB/s) 6.6 us at 640x480. There, five frames take 0.397 ms in total and two frames 0.257 ms (commit
// 4ead6eb).
namespace parafield {
namespace {

constexpr int steady_lanes = 32, steady_rows = 8;
static_assert(steady_lanes % cell_side == 0);

/// Each thread adds up a column of a cell, and eight neighboring lanes add up the cell.
__global__ void __launch_bounds__(steady_lanes* steady_rows)
    steady_sums_kernel(const __grid_constant__ TwoFlows flows, const __grid_constant__ SteadyCells cells) {
  begin_kernel();
  const int width = flows.of_pair.u.width, height = flows.of_pair.u.height;
  const int x = int(blockIdx.x) * steady_lanes + int(threadIdx.x),
            cell = int(blockIdx.y) * steady_rows + int(threadIdx.y);
  const int top = cell * cell_side;
  SteadySums sum;
  PF_UNROLL
  for (int k = 0; k < cell_side; ++k) {
    const int y = top + k;
    if (x >= width || y >= height) break;
    sum = sum + steady_part(flows.pair.at(x, y), flows.of_pair.at(x, y), flows.of_more.at(x, y));
  }
  sum = {sum_over_cell(sum.xx), sum_over_cell(sum.xy),       sum_over_cell(sum.yy),    sum_over_cell(sum.x),
         sum_over_cell(sum.y),  sum_over_cell(sum.residual), sum_over_cell(sum.change)};
  if (x < width && top < height && x % cell_side == 0) cells.store(x / cell_side, cell, sum);
}

}  // namespace

template <class Backend>
void mix_steady(Backend& cuda, const TwoFlows& flows, const SteadyCells& cells, FlowPlanes out) {
  const View<float> trust = cells.trust;
  cuda.launch(steady_sums_kernel,
              dim3(blocks_for(out.u.width, steady_lanes), blocks_for(trust.height, steady_rows)),
              dim3(steady_lanes, steady_rows), 0, flows, cells);
  for_pixels(cuda, trust.size(),
             [=] __device__(int x, int y) { trust(x, y) = steady_trust(steady_sums_around(cells, x, y)); });
  for_pixels(cuda, out.u.size(),
             [=, of_pair = flows.of_pair, of_more = flows.of_more] __device__(int x, int y) {
               const int left = clamp(cell_before(x), 0, trust.width - 1),
                         right = clamp(cell_before(x) + 1, 0, trust.width - 1),
                         top = clamp(cell_before(y), 0, trust.height - 1),
                         bottom = clamp(cell_before(y) + 1, 0, trust.height - 1);
               const float share = trust_between(trust(left, top), trust(right, top), trust(left, bottom),
                                                 trust(right, bottom), share_after(x), share_after(y));
               out.set(x, y, mixed(of_pair.at(x, y), of_more.at(x, y), share));
             });
}

PF_STEP(mix_steady<Cuda>);

}  // namespace parafield
