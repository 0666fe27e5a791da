// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "gradient/adaptive_ridge/steady/steady.hpp"

// Three launches: sums over cells, trust of the cells, and the mixture. Lower bound for the two that process
// pixels: the sums read 40 bytes per pixel, and the mixture reads 16 and writes 8, which takes an H100 (3.0
// TB/s) 6.6 us at 640x480. There, five frames take 0.397 ms in total and two frames 0.257 ms (commit
// 4ead6eb).
namespace parafield {
namespace {

constexpr int lanes = 32, rows = 8;
static_assert(lanes % cell_side == 0);

/// Each thread adds up a column of a cell, and eight neighboring lanes add up the cell.
__global__ void __launch_bounds__(lanes* rows)
    steady_sums_kernel(const __grid_constant__ TwoFlows flows, const __grid_constant__ SteadyCells cells) {
  begin_kernel();
  const int width = flows.of_pair.u.width, height = flows.of_pair.u.height;
  const int x = int(blockIdx.x) * lanes + int(threadIdx.x), cell = int(blockIdx.y) * rows + int(threadIdx.y);
  const int top = cell * cell_side;
  SteadySums sum;
  PF_UNROLL
  for (int k = 0; k < cell_side; ++k) {
    const int y = top + k;
    if (x >= width || y >= height) break;
    const NormalPlanes& n = flows.pair;
    sum = sum + steady_part(n.xx(x, y), n.xy(x, y), n.yy(x, y), n.xt(x, y), n.yt(x, y), n.residual(x, y),
                            flows.of_pair.u(x, y), flows.of_pair.v(x, y), flows.of_more.u(x, y),
                            flows.of_more.v(x, y));
  }
  const auto join = [](float value) {
    PF_UNROLL
    for (int step = 1; step < cell_side; step *= 2) value += __shfl_xor_sync(~0u, value, step);
    return value;
  };
  sum = {join(sum.xx), join(sum.xy),       join(sum.yy),    join(sum.x),
         join(sum.y),  join(sum.residual), join(sum.change)};
  if (x < width && top < height && x % cell_side == 0) cells.store(x / cell_side, cell, sum);
}

__global__ void __launch_bounds__(lanes* rows)
    steady_trust_kernel(const __grid_constant__ SteadyCells cells) {
  begin_kernel();
  const int x = int(blockIdx.x) * lanes + int(threadIdx.x), y = int(blockIdx.y) * rows + int(threadIdx.y);
  if (x >= cells.trust.width || y >= cells.trust.height) return;
  cells.trust(x, y) = steady_trust(steady_sums_around(cells, x, y));
}

__global__ void __launch_bounds__(lanes* rows)
    steady_mix_kernel(FlowPlanes of_pair, FlowPlanes of_more, View<const float> trust, FlowPlanes out) {
  begin_kernel();
  const int x = int(blockIdx.x) * lanes + int(threadIdx.x), y = int(blockIdx.y) * rows + int(threadIdx.y);
  if (x >= out.u.width || y >= out.u.height) return;
  const int left = clamp(cell_before(x), 0, trust.width - 1),
            right = clamp(cell_before(x) + 1, 0, trust.width - 1),
            top = clamp(cell_before(y), 0, trust.height - 1),
            bottom = clamp(cell_before(y) + 1, 0, trust.height - 1);
  const float share = trust_between(trust(left, top), trust(right, top), trust(left, bottom),
                                    trust(right, bottom), share_after(x), share_after(y));
  const float u = of_pair.u(x, y), v = of_pair.v(x, y);
  out.u(x, y) = fma(share, of_more.u(x, y) - u, u);
  out.v(x, y) = fma(share, of_more.v(x, y) - v, v);
}

}  // namespace

template <class Backend>
void mix_steady(Backend& cuda, const TwoFlows& flows, const SteadyCells& cells, FlowPlanes out) {
  const auto over = [](int width, int height) {
    return dim3(blocks_for(width, lanes), blocks_for(height, rows));
  };
  const int width = out.u.width, height = out.u.height;
  const dim3 block(lanes, rows);
  cuda.launch(steady_sums_kernel, over(width, cells.trust.height), block, 0, flows, cells);
  cuda.launch(steady_trust_kernel, over(cells.trust.width, cells.trust.height), block, 0, cells);
  cuda.launch(steady_mix_kernel, over(width, height), block, 0, flows.of_pair, flows.of_more, cells.trust,
              out);
}

PF_STEP(mix_steady<Cuda>);

}  // namespace parafield
