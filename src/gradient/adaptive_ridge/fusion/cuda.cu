// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "gradient/adaptive_ridge/fusion/fusion.hpp"

// Matches settle with a warp for each seed: 16 lanes hold the flows of its neighbors, and 25 lanes have one
// point each.
//
// Lower bound for the 29140 seeds of 1242x375: a seed without a different flow around it takes about 150
// instructions, mostly to find that out, which is 8 us on an H100 (132 multiprocessors, 4 warps per cycle).
// Each flow that is compared costs 60 more.
//
// Fusing reads four planes and writes two: 24 bytes per pixel, 4 us at 1242x375 from an H100's memory.
// Finishing reads 44 bytes per pixel, some of them at four adjacent pixels, and writes 13: 9 us, less from
// the cache.
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
  const Motion own = matches.flow(column, row);
  Motion best = own;
  const bool valid = matches.valid(column, row) != 0;
  if (valid) {
    Motion flow{};
    bool is_open = false;  // whether the lane's flow must still be compared
    if (lane < settle_neighbors) {
      const int neighbor = settle_neighbor(grid, column, row, lane);
      if (neighbor >= 0) {
        const int at_row = neighbor / grid.columns, at_column = neighbor - at_row * grid.columns;
        flow = matches.flow(at_column, at_row);
        is_open = matches.valid(at_column, at_row) != 0 && !is_within(own, flow, distinct_motion);
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
        is_open = is_open && lane > next && !is_within(motion, flow, distinct_motion);
        open = __ballot_sync(every_lane, is_open);
        const int cost = cost_of(motion);
        if (cost < least) best = motion, least = cost;
      }
      if (!is_much_better(least, own_cost)) best = own;
    }
  }
  if (lane != 0) return;
  settled.set(column, row, best);
  settled.valid(column, row) = valid;
}

}  // namespace

template <class Backend>
void settle_matches(Backend& cuda, const Matches& matches, const SettleFrames& frames,
                    const Matches& settled) {
  cuda.launch(settle_matches_kernel, dim3(blocks_for(matches.grid.count(), settle_threads / seed_lanes)),
              dim3(settle_threads), 0, matches, frames, settled);
}

template <class Backend>
void snap_matches(Backend& cuda, FlowPlanes flow, const Matches& matches) {
  for_pixels(cuda, matches.grid.seeds(), [=] __device__(int column, int row) {
    matches.set(column, row, snapped(matches, flow, column, row));
  });
}

template <class Backend>
void fuse_flow(Backend& cuda, FlowPlanes flow, FlowPlanes to) {
  for_pixels(cuda, to.u.size(),
             [=] __device__(int x, int y) { to.set(x, y, fused(flow.at(x, y), to.at(x, y))); });
}

template <class Backend>
void finish_matched(Backend& cuda, const RefinedMatches& matched, FlowPlanes flow, Trust trust) {
  for_pixels(cuda, flow.u.size(), [=] __device__(int x, int y) {
    if (matched.wanted && *matched.wanted == 0) return;
    const int width = flow.u.width, height = flow.u.height;
    const Motion kept = kept_near(matched.fused.at(x, y), matched.refined.at(x, y));
    const float u = kept.u, v = kept.v;
    flow.set(x, y, kept);
    if (!trust.valid) return;
    const bool seen = !is_hidden(u, v, matched.back.u.data, matched.back.v.data, int(matched.back.u.stride()),
                                 width, height, x, y);
    const float confidence = seen ? confidence_of(matched.normal.at(x, y)) : 0;
    trust.confidence(x, y) = confidence;
    trust.valid(x, y) = seen & (confidence >= trust.least) &
                        is_match(matched.next.data, int(matched.next.stride()), width, height, float(x) + u,
                                 float(y) + v, matched.frame(x, y), matched.max_residual);
  });
}

template <class Backend>
void choose_back(Backend& cuda, FlowPlanes flow, FlowPlanes matched, const int* wanted, FlowPlanes back) {
  for_pixels(cuda, back.u.size(), [=] __device__(int x, int y) {
    if (wanted && *wanted == 0) return;
    back.set(x, y, chosen_back(back.at(x, y), matched.at(x, y), flow, x, y));
  });
}

PF_STEP(settle_matches<Cuda>);
PF_STEP(snap_matches<Cuda>);
PF_STEP(fuse_flow<Cuda>);
PF_STEP(finish_matched<Cuda>);
PF_STEP(choose_back<Cuda>);

}  // namespace parafield
