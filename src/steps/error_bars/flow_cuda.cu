// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/error_bars/flow.hpp"
#include "steps/error_bars/tile.cuh"

// A block computes a tile and keeps everything between the frames and the local error bars in shared memory; a
// second kernel widens them. Lower bound: a pixel reads 25 bytes, writes 25, then reads 21 and writes 17 from
// the L2 cache, so 640x480 takes an H100 (3.0 TB/s) 6 us; its 500 operations, with those for the margin of the
// tile, take about as long.
namespace parafield {
namespace {

/// Planes of a tile; each stage needs a smaller margin than the one before.
template <bool Back>
struct FlowBarsTile {
  BarsPlane<miss_reach> mean, difference;
  BarsPlane<Back ? miss_reach : 0> miss;
  BarsPlane<around_reach> u, v;
  BarsPlane<tensor_reach> product[4];
  BarsColumns<tensor_reach> sum[4];
  BarsColumns<Back ? miss_reach : 0> sum_of_misses[2];
};

template <bool Back>
__global__ void __launch_bounds__(bars_threads)
    flow_bars_kernel(const __grid_constant__ FlowEvidence evidence,
                     const __grid_constant__ FlowErrorModel model, const __grid_constant__ FlowErrorBars out,
                     const __grid_constant__ View<float> deviation) {
  begin_kernel();
  __shared__ FlowBarsTile<Back> tile;
  const BarsRegion region = BarsRegion::of_block(evidence.luma0.width, evidence.luma0.height);
  const int width = region.width, height = region.height;
  region.fill<miss_reach>([&](int i, int x, int y) {
    const View<const float> luma1 = evidence.luma1;
    const float u = evidence.flow.u(x, y), v = evidence.flow.v(x, y);
    const float a = evidence.luma0(x, y),
                b = warped(luma1.data, int(luma1.stride()), width, height, float(x) + u, float(y) + v);
    tile.mean.value[i] = 0.5f * (a + b);
    tile.difference.value[i] = b - a;
    if constexpr (Back) {
      const FlowPlanes& back = evidence.back;
      const Match match = locate(float(x) + u, float(y) + v, width, height);
      tile.miss.value[i] = known_miss(
          miss_of(u, v, back.u.data, back.v.data, int(back.u.stride()), width, height, match), match.inside);
    }
  });
  region.fill<around_reach>([&](int i, int x, int y) {
    tile.u.value[i] = evidence.flow.u(x, y);
    tile.v.value[i] = evidence.flow.v(x, y);
  });
  __syncthreads();
  region.fill<tensor_reach>([&](int i, int x, int y) {
    const auto m = [&](int dx, int dy) { return tile.mean.at(region, x + dx, y + dy); };
    const auto d = [&](int dx, int dy) { return tile.difference.at(region, x + dx, y + dy); };
    const auto across = [](auto& at, int dy) { return smoothed_across(at(-1, dy), at(0, dy), at(1, dy)); };
    const auto down = [](auto& at, int dx) { return smoothed_across(at(dx, -1), at(dx, 0), at(dx, 1)); };
    const ErrorProducts products =
        ErrorProducts::make(0.5f * (down(m, 1) - down(m, -1)), 0.5f * (across(m, 1) - across(m, -1)),
                            smoothed_across(across(d, -1), across(d, 0), across(d, 1)));
    tile.product[0].value[i] = products.xx, tile.product[1].value[i] = products.xy;
    tile.product[2].value[i] = products.yy, tile.product[3].value[i] = products.tt;
  });
  if constexpr (Back)
    region.fill_columns<miss_reach>([&](int i, int x, int y) {
      const auto sum = [&](float most) {
        return sum_of_9([&](int k) { return smaller(tile.miss.at(region, x, y + k - miss_reach), most); });
      };
      tile.sum_of_misses[0].value[i] = sum(near_miss);
      tile.sum_of_misses[1].value[i] = sum(far_miss);
    });
  __syncthreads();
  region.fill_columns<tensor_reach>([&](int i, int x, int y) {
    PF_UNROLL
    for (int p = 0; p < 4; ++p)
      tile.sum[p].value[i] =
          sum_of_7([&](int k) { return tile.product[p].at(region, x, y + k - tensor_reach); });
  });
  __syncthreads();
  region.each_pixel([&](int x, int y) {
    const auto along7 = [&](int p) {
      return sum_of_7([&](int k) { return tile.sum[p].at(region, x + k - tensor_reach, y); });
    };
    const auto along9 = [&](int p) {
      if constexpr (Back)
        return sum_of_9([&](int k) { return tile.sum_of_misses[p].at(region, x + k - miss_reach, y); });
      else
        return 0.0f;
    };
    const float u = tile.u.at(region, x, y), v = tile.v.at(region, x, y);
    FlowErrorSums sums{{along7(0), along7(1), along7(2), along7(3)}, {}, along9(0), along9(1)};
    PF_UNROLL
    for (int j = -around_reach; j <= around_reach; ++j) PF_UNROLL
    for (int i = -around_reach; i <= around_reach; ++i)
      if (i != 0 || j != 0)
        sums.around.add(tile.u.at(region, x + i, y + j) - u, tile.v.at(region, x + i, y + j) - v);
    const float to_x = float(x) + u, to_y = float(y) + v;
    const bool inside = (to_x >= 0) & (to_x <= float(width - 1)) & (to_y >= 0) & (to_y <= float(height - 1));
    float miss = 0;
    if constexpr (Back) miss = tile.miss.at(region, x, y);
    const FlowErrors errors = flow_errors(model, sums, u, v, miss, inside, evidence.valid(x, y) != 0);
    out.covariance.xx(x, y) = errors.xx;
    out.covariance.xy(x, y) = errors.xy;
    out.covariance.yy(x, y) = errors.yy;
    out.outlier(x, y) = errors.outlier;
    out.outlier3(x, y) = errors.outlier3;
    out.cause(x, y) = std::uint8_t(errors.cause);
    deviation(x, y) = errors.deviation;
  });
}

constexpr int tile_cells_along = bars_width / bars_cell, tile_cells_down = bars_height / bars_cell;

__global__ void __launch_bounds__(bars_threads)
    widen_bars_kernel(const __grid_constant__ View<const float> deviation,
                      const __grid_constant__ FlowErrorModel model,
                      const __grid_constant__ FlowErrorBars out) {
  begin_kernel();
  __shared__ struct {
    BarsPlane<wide_reach> deviation;
    BarsColumns<wide_reach> sum;
    float column[tile_cells_down][tile_cells_along + 2 * cells_around];  // sums over columns of cells
    float around[tile_cells_down][tile_cells_along];                     // sums over 17x17 cells
  } tile;
  const BarsRegion region = BarsRegion::of_block(deviation.width, deviation.height);
  region.fill<wide_reach>([&](int i, int x, int y) { tile.deviation.value[i] = deviation(x, y); });
  constexpr int columns = tile_cells_along + 2 * cells_around;
  for (int i = int(threadIdx.x); i < tile_cells_down * columns; i += bars_threads) {
    const int x = sample_of_cell(region.x0 / bars_cell + i % columns - cells_around, deviation.width);
    const int first = region.y0 / bars_cell + i / columns - cells_around;
    tile.column[i / columns][i % columns] =
        sum_of_cells([&](int k) { return deviation(x, sample_of_cell(first + k, deviation.height)); });
  }
  __syncthreads();
  for (int i = int(threadIdx.x); i < tile_cells_down * tile_cells_along; i += bars_threads) {
    const float* const column = &tile.column[i / tile_cells_along][i % tile_cells_along];
    tile.around[i / tile_cells_along][i % tile_cells_along] = sum_of_cells([&](int k) { return column[k]; });
  }
  region.fill_columns<wide_reach>([&](int i, int x, int y) {
    tile.sum.value[i] =
        sum_of_9([&](int k) { return tile.deviation.at(region, x, y + wide_step * k - wide_reach); });
  });
  __syncthreads();
  region.each_pixel([&](int x, int y) {
    const float sum = sum_of_9([&](int k) { return tile.sum.at(region, x + wide_step * k - wide_reach, y); });
    const float around = tile.around[(y - region.y0) / bars_cell][(x - region.x0) / bars_cell];
    const FlowErrors errors = widened(model,
                                      {out.covariance.xx(x, y), 0, out.covariance.yy(x, y), out.outlier(x, y),
                                       out.outlier3(x, y), out.cause(x, y), 0},
                                      sum, around);
    out.covariance.xx(x, y) = errors.xx;
    out.covariance.yy(x, y) = errors.yy;
    out.outlier(x, y) = errors.outlier;
    out.outlier3(x, y) = errors.outlier3;
    out.cause(x, y) = std::uint8_t(errors.cause);
  });
}

}  // namespace

template <class Backend>
void local_error_bars(Backend& cuda, const FlowEvidence& evidence, const FlowErrorModel& model,
                      const FlowErrorBars& out, View<float> deviation) {
  cuda.launch(evidence.back.u ? flow_bars_kernel<true> : flow_bars_kernel<false>,
              BarsRegion::blocks(evidence.luma0.size()), dim3(bars_threads), 0, evidence, model, out,
              deviation);
}

template <class Backend>
void widen_error_bars(Backend& cuda, View<const float> deviation, const FlowErrorModel& model,
                      const FlowErrorBars& out) {
  cuda.launch(widen_bars_kernel, BarsRegion::blocks(deviation.size()), dim3(bars_threads), 0, deviation,
              model, out);
}

PF_STEP(local_error_bars<Cuda>);
PF_STEP(widen_error_bars<Cuda>);

}  // namespace parafield
