// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/affine/fit.hpp"

// One launch. Each block has the matches and colors of its tile of seeds, and of 4 seeds around it, in shared
// memory. Each thread fits one seed in both rounds.
//
// Lower bound: a seed reads 9 bytes of its match and 32 bytes for its color, which is in a memory sector of
// its own, and writes 48. For 1242x375 with a seed every 4 px that is 2.6 MB, which takes an H100 (3.0 TB/s)
// 0.9 us. A seed has 81 neighbors in 2 rounds, of about 35 operations each: 165 million, 6 us at one
// operation per lane and cycle. With only 7 warps per SM, latencies are not hidden. Not measured.

namespace parafield {
namespace {

constexpr int fit_width = 32, fit_height = 4, fit_threads = fit_width * fit_height;
constexpr int fit_columns = fit_width + 2 * fit_reach, fit_rows = fit_height + 2 * fit_reach;

__global__ void __launch_bounds__(fit_threads)
    fit_models_kernel(const __grid_constant__ Matches matches, View<const Color> pixels,
                      const __grid_constant__ AffineModels models) {
  __shared__ float weights[fit_rows][fit_columns], us[fit_rows][fit_columns], vs[fit_rows][fit_columns];
  __shared__ Color colors[fit_rows][fit_columns];
  begin_kernel();
  const SeedGrid grid = models.grid;
  const int thread = int(threadIdx.x), i = thread % fit_width, j = thread / fit_width;
  const int column0 = int(blockIdx.x) * fit_width, row0 = int(blockIdx.y) * fit_height;
  for (int k = thread; k < fit_rows * fit_columns; k += fit_threads) {
    const int row = row0 + k / fit_columns - fit_reach, column = column0 + k % fit_columns - fit_reach;
    const bool exists = row >= 0 && row < grid.rows && column >= 0 && column < grid.columns;
    FitSeed seed{};
    if (exists)
      seed = fit_seed(matches.valid(column, row), matches.u(column, row), matches.v(column, row),
                      load(&pixels(grid.x(column), grid.y(row))));
    weights[k / fit_columns][k % fit_columns] = seed.weight;
    us[k / fit_columns][k % fit_columns] = seed.u;
    vs[k / fit_columns][k % fit_columns] = seed.v;
    colors[k / fit_columns][k % fit_columns] = seed.color;
  }
  __syncthreads();
  const int column = column0 + i, row = row0 + j;
  if (column >= grid.columns || row >= grid.rows) return;
  const int x = i + fit_reach, y = j + fit_reach;
  const Color own = colors[y][x];
  const float u = us[y][x], v = vs[y][x];
  const bool matched = weights[y][x] > 0;
  models.color[0](column, row) = own.red;
  models.color[1](column, row) = own.green;
  models.color[2](column, row) = own.blue;
  models.weight(column, row) = weights[y][x];
  models.nearest(column, row) = matched ? Nearest(row * grid.columns + column) : no_match;
  if (!matched) return;
  const int first = larger(-fit_reach, -row), last = smaller(fit_reach, grid.rows - 1 - row);
  AffineModel model{u, v, 0, 0, 0, 0};
  for (int round = 0; round < fit_rounds; ++round) {
    FitSums sums;
    for (int dy = first; dy <= last; ++dy) {
      const float down = float(dy), gaussian = fit_gaussian(dy);
      const float row_u = fma(model.uy, down, model.u), row_v = fma(model.vy, down, model.v);
      FitRow all;
      PF_UNROLL
      for (int dx = -fit_reach; dx <= fit_reach; ++dx) {
        const Color color = load(&colors[y + dy][x + dx]);
        const float other_u = us[y + dy][x + dx], other_v = vs[y + dy][x + dx];
        const float distance =
            color_distance(color.red - own.red, color.green - own.green, color.blue - own.blue);
        const float error2 = fit_error2(other_u, other_v, row_u, row_v, model.ux, model.vx, float(dx));
        all.add(fit_weight(weights[y + dy][x + dx] * (gaussian * fit_gaussian(dx)), distance, error2),
                float(dx), other_u - u, other_v - v);
      }
      sums.add(all, down);
    }
    model = sums.fitted(u, v);
  }
  models.set(column, row, model);
}

}  // namespace

template <class Backend>
void fit_models(Backend& cuda, const Matches& matches, const Colors& colors, const AffineModels& models) {
  cuda.launch(fit_models_kernel,
              dim3(blocks_for(models.grid.columns, fit_width), blocks_for(models.grid.rows, fit_height)),
              dim3(fit_threads), 0, matches, colors.pixels, models);
}

PF_STEP(fit_models<Cuda>);

}  // namespace parafield
