// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "core/cuda/warp_reductions.cuh"
#include "steps/color_median/color_median.hpp"

// A warp handles a few pixels of a row. Its lanes filter the pixels that need it together, one pixel after
// the other: each lane has a few samples, and the warp adds integers in one instruction.
namespace parafield {
namespace {

constexpr int pixels_of_warp = 8, warps_of_block = 4;

/// OfLane: samples per lane.
template <int OfLane>
__global__ void __launch_bounds__(32 * warps_of_block)
    color_median_kernel(ColorMedian median, View<float> out) {
  begin_kernel();
  const int lane = int(threadIdx.x), y = int(blockIdx.y) * warps_of_block + int(threadIdx.y);
  const int x0 = int(blockIdx.x) * pixels_of_warp;
  if (y >= out.height) return;  // true for whole warps only
  bool filters = false;
  if (lane < pixels_of_warp && x0 + lane < out.width) {
    filters = is_filtered(median, x0 + lane, y);
    if (!filters) out(x0 + lane, y) = median.disparities(x0 + lane, y);
  }
  const int radius = median.side / 2, across = radius + 1, samples = across * across;
  const float falloff = falloff_of(median.side);
  for (unsigned left = __ballot_sync(~0u, filters); left != 0; left &= left - 1) {
    const int x = x0 + __ffs(int(left)) - 1;
    const std::uint32_t own = median.colors(x, y);
    int value[OfLane], weight[OfLane], sum = 0;
    PF_UNROLL
    for (int i = 0; i < OfLane; ++i) {
      const int sample = lane + 32 * i, row = sample / across;
      const int dx = 2 * (sample - row * across) - radius, dy = 2 * row - radius;
      const int at_x = x + dx, at_y = y + dy;
      value[i] = weight[i] = 0;
      if (sample >= samples || at_x < 0 || at_x >= out.width || at_y < 0 || at_y >= out.height) continue;
      value[i] = int(median.disparities(at_x, at_y));
      weight[i] = median_weight(color_difference(own, median.colors(at_x, at_y)), dx * dx + dy * dy, falloff,
                                median.valid(at_x, at_y) != 0);
      sum += weight[i];
    }
    const int all = sum_of_warp(sum);
    const int found = weighted_median(median.least, median.most, all, [&](int most) {
      int part = 0;
      PF_UNROLL
      for (int i = 0; i < OfLane; ++i) part += value[i] <= most ? weight[i] : 0;
      return sum_of_warp(part);
    });
    if (lane == 0) out(x, y) = float(found);
  }
}

}  // namespace

template <class Backend>
void color_median(Backend& cuda, const ColorMedian& median, View<float> out) {
  const int across = median.side / 2 + 1;
  cuda.launch(across * across <= 3 * 32 ? color_median_kernel<3> : color_median_kernel<6>,
              dim3(blocks_for(out.width, pixels_of_warp), blocks_for(out.height, warps_of_block)),
              dim3(32, warps_of_block), 0, median, out);
}

PF_STEP(color_median<Cuda>);

}  // namespace parafield
