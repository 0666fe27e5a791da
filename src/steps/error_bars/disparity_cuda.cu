// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/error_bars/disparity.hpp"
#include "steps/error_bars/tile.cuh"

// As flow_cuda.cu: a tile for each block. Lower bound: a pixel reads 21 bytes and writes 13, so 640x480 takes
// an H100 (3.0 TB/s) 4 us.
namespace parafield {
namespace {

struct DisparityBarsTile {
  BarsPlane<valid_reach> d;
  BarsPlane<valid_reach, std::uint8_t> bad;  ///< 1 where the disparity is not valid
  BarsPlane<apart_reach> mean, difference, apart;
  BarsPlane<tensor_reach> texture;
  BarsPlane<step_reach> range;
  BarsColumns<tensor_reach> texture_sum;
  BarsColumns<apart_reach> apart_sum;
  BarsColumns<valid_reach> bad_sum;
  BarsColumns<step_reach> step;
  BarsColumns<curve_reach> curve;
};

__global__ void __launch_bounds__(bars_threads)
    disparity_bars_kernel(const __grid_constant__ DisparityBarsInput input,
                          const __grid_constant__ DisparityErrorModel model,
                          const __grid_constant__ DisparityErrorBars out) {
  begin_kernel();
  __shared__ DisparityBarsTile tile;
  const BarsRegion region = BarsRegion::of_block(input.d.width, input.d.height);
  const int width = region.width;
  region.fill<valid_reach>([&](int i, int x, int y) {
    tile.d.value[i] = input.d(x, y);
    tile.bad.value[i] = input.valid(x, y) == 0;
  });
  region.fill<apart_reach>([&](int i, int x, int y) {
    const float d = input.d(x, y);
    const std::uint32_t* const right = input.right_colors.row(y);
    const float a = luma_of(input.left_colors(x, y)),
                b = warped_along([=](int at) { return luma_of(right[at]); }, width, float(x) - d);
    tile.mean.value[i] = 0.5f * (a + b);
    tile.difference.value[i] = b - a;
    tile.apart.value[i] = apart_of(d, input.right.row(y), width, x);
  });
  __syncthreads();
  region.fill<tensor_reach>([&](int i, int x, int y) {
    const auto m = [&](int dx, int dy) { return tile.mean.at(region, x + dx, y + dy); };
    const auto d = [&](int dx, int dy) { return tile.difference.at(region, x + dx, y + dy); };
    const auto across = [&](int dy) { return smoothed_across(d(-1, dy), d(0, dy), d(1, dy)); };
    const auto down = [&](int dx) { return smoothed_across(m(dx, -1), m(dx, 0), m(dx, 1)); };
    tile.texture.value[i] =
        texture_of(0.5f * (down(1) - down(-1)), smoothed_across(across(-1), across(0), across(1)));
  });
  region.fill<step_reach>([&](int i, int x, int y) {
    float low = tile.d.at(region, x, y), high = low;
    PF_UNROLL
    for (int dy = -1; dy <= 1; ++dy) PF_UNROLL
    for (int dx = -1; dx <= 1; ++dx) {
      const float d = tile.d.at(region, x + dx, y + dy);
      low = smaller(low, d), high = larger(high, d);
    }
    tile.range.value[i] = high - low;
  });
  region.fill_columns<apart_reach>([&](int i, int x, int y) {
    tile.apart_sum.value[i] = sum_of_9([&](int k) { return tile.apart.at(region, x, y + k - apart_reach); });
  });
  region.fill_columns<curve_reach>([&](int i, int x, int y) {
    tile.curve.value[i] = sum_of_5([&](int k) { return tile.d.at(region, x, y + k - curve_reach); });
  });
  region.fill_columns<valid_reach>([&](int i, int x, int y) {
    int sum = 0;
    for (int k = -valid_reach; k <= valid_reach; ++k) sum += tile.bad.at(region, x, y + k);
    tile.bad_sum.value[i] = float(sum);
  });
  __syncthreads();
  region.fill_columns<tensor_reach>([&](int i, int x, int y) {
    tile.texture_sum.value[i] =
        sum_of_7([&](int k) { return tile.texture.at(region, x, y + k - tensor_reach); });
  });
  region.fill_columns<step_reach>([&](int i, int x, int y) {
    float step = 0;
    for (int k = -step_reach; k <= step_reach; ++k) step = larger(step, tile.range.at(region, x, y + k));
    tile.step.value[i] = step;
  });
  __syncthreads();
  region.each_pixel([&](int x, int y) {
    float bad = 0, step = 0;
    for (int k = -valid_reach; k <= valid_reach; ++k) bad += tile.bad_sum.at(region, x + k, y);
    for (int k = -step_reach; k <= step_reach; ++k) step = larger(step, tile.step.at(region, x + k, y));
    const DisparityErrorSums sums{
        sum_of_7([&](int k) { return tile.texture_sum.at(region, x + k - tensor_reach, y); }),
        sum_of_9([&](int k) { return tile.apart_sum.at(region, x + k - apart_reach, y); }), bad, step,
        sum_of_5([&](int k) { return tile.curve.at(region, x + k - curve_reach, y); })};
    const DisparityErrors errors =
        disparity_errors_of(model, sums, tile.d.at(region, x, y), input.right.row(y), width, x,
                            input.valid(x, y) != 0, input.confidence(x, y));
    if (out.sigma) out.sigma(x, y) = errors.sigma;
    if (out.outlier) out.outlier(x, y) = errors.outlier;
    if (out.outlier3) out.outlier3(x, y) = errors.outlier3;
    if (out.cause) out.cause(x, y) = std::uint8_t(errors.cause);
  });
}

}  // namespace

template <class Backend>
void disparity_error_bars(Backend& cuda, const DisparityBarsInput& input, const DisparityErrorModel& model,
                          const DisparityErrorBars& out) {
  cuda.launch(disparity_bars_kernel, BarsRegion::blocks(input.d.size()), dim3(bars_threads), 0, input, model,
              out);
}

PF_STEP(disparity_error_bars<Cuda>);

}  // namespace parafield
