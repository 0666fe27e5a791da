// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "gradient/adaptive_ridge/fusion/fusion.hpp"
#include "gradient/adaptive_ridge/settle/settle.hpp"

// Each seed has a warp: 16 lanes hold the flows of its neighbors, and 25 lanes have one point each.
//
// Lower bound for the 29140 seeds of 1242x375: a seed without a different flow around it takes about 150
// instructions, mostly to find that out, which is 8 us on an H100 (132 multiprocessors, 4 warps per cycle).
// Each flow that is compared costs 60 more.
namespace parafield {
namespace {

constexpr int seed_lanes = 32, settle_threads = 128;
constexpr unsigned every_lane = ~0u;
static_assert(settle_points <= seed_lanes && settle_neighbors < seed_lanes);

__global__ void __launch_bounds__(settle_threads)
    settle_matches_kernel(const __grid_constant__ Matches matches,
                          const __grid_constant__ SettleFrames frames,
                          const __grid_constant__ Matches settled) {
  begin_kernel();
  const SeedGrid grid = matches.grid;
  const int number = (int(blockIdx.x) * settle_threads + int(threadIdx.x)) / seed_lanes,
            lane = int(threadIdx.x) % seed_lanes;
  if (number >= grid.count()) return;
  const int row = number / grid.columns, column = number - row * grid.columns;
  const Motion own{matches.u(column, row), matches.v(column, row)};
  Motion best = own;
  const bool valid = matches.valid(column, row) != 0;
  if (valid) {
    Motion flow{};
    bool is_open = false;  // whether the lane's flow must still be compared
    if (lane < settle_neighbors) {
      const int neighbor = settle_neighbor(grid, column, row, lane);
      if (neighbor >= 0) {
        const int at_row = neighbor / grid.columns, at_column = neighbor - at_row * grid.columns;
        flow = {matches.u(at_column, at_row), matches.v(at_column, at_row)};
        is_open = matches.valid(at_column, at_row) != 0 &&
                  !is_within(own.u, own.v, flow.u, flow.v, distinct_motion);
      }
    }
    unsigned open = __ballot_sync(every_lane, is_open);
    if (open != 0) {
      const View<Color> from = frames.colors[0].pixels, to = frames.colors[1].pixels;
      const auto is_inside = [&](int x, int y) {
        return (x >= 0) & (x < from.width) & (y >= 0) & (y < from.height);
      };
      const int x = grid.x(column), y = grid.y(row);
      const int dx = settle_offset(lane), dy = settle_offset(lane / settle_side);
      const bool exists = lane < settle_points && is_inside(x + dx, y + dy);
      Color color{};
      float census = 0;
      int weight = 0;
      if (exists) {
        color = color_at(from, x + dx, y + dy);
        census = soft_census(frames.luma[0](x + dx, y + dy), frames.luma[0](x, y));
        weight = settle_weight(color, color_at(from, x, y));
      }
      const auto cost_of = [&](const Motion& motion) {
        const int to_x = nearest_pixel(float(x) + motion.u), to_y = nearest_pixel(float(y) + motion.v);
        int cost = most_settle_cost;
        if (is_inside(to_x, to_y) && is_inside(to_x + dx, to_y + dy))
          cost = settle_cost(color, color_at(to, to_x + dx, to_y + dy), census,
                             soft_census(frames.luma[1](to_x + dx, to_y + dy), frames.luma[1](to_x, to_y)));
        int sum = weight * cost;
        PF_UNROLL
        for (int step = 1; step < seed_lanes; step *= 2) sum += __shfl_xor_sync(every_lane, sum, step);
        return sum;
      };
      const int own_cost = cost_of(own);
      int least = own_cost;
      while (open != 0) {
        const int next = __ffs(int(open)) - 1;
        const Motion motion{__shfl_sync(every_lane, flow.u, next), __shfl_sync(every_lane, flow.v, next)};
        is_open = is_open && lane > next && !is_within(motion.u, motion.v, flow.u, flow.v, distinct_motion);
        open = __ballot_sync(every_lane, is_open);
        const int cost = cost_of(motion);
        if (cost < least) best = motion, least = cost;
      }
      if (!is_much_better(least, own_cost)) best = own;
    }
  }
  if (lane != 0) return;
  settled.u(column, row) = best.u;
  settled.v(column, row) = best.v;
  settled.valid(column, row) = valid;
}

}  // namespace

template <class Backend>
void settle_matches(Backend& cuda, const Matches& matches, const SettleFrames& frames,
                    const Matches& settled) {
  cuda.launch(settle_matches_kernel, dim3(blocks_for(matches.grid.count(), settle_threads / seed_lanes)),
              dim3(settle_threads), 0, matches, frames, settled);
}

PF_STEP(settle_matches<Cuda>);

}  // namespace parafield
