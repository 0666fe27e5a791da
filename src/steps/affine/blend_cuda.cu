// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/affine/blend.hpp"

// One launch. Each thread computes up to 4 vertically consecutive pixels that belong to the same row of
// seeds, so that a seed read from shared memory serves all of them.
//
// Lower bound: a pixel reads 16 bytes of color and writes 8 bytes of flow, or 12 with confidence. For
// 1242x375 that is 13 MB, which takes an H100 (3.0 TB/s) 4.3 us. Each pixel has 25 seeds of about 28
// operations: 330 million, 11 us at one operation per lane and cycle (132 x 128 x 1.7 GHz). Not measured.

namespace parafield {
namespace {

constexpr int blend_threads = 128;
constexpr int most_blend_columns = blend_threads / 2 + blend_side + 1;  // a seed every 2 px

/// A seed in shared memory; its other color channels are in BlendGreen.
struct alignas(16) BlendSeed {
  float u, ux, uy, weight, v, vx, vy, red;
};
struct alignas(8) BlendGreen {
  float green, blue;
};

/// Rows: pixels per thread. The pixel rows of each row of seeds are split into `parts` parts.
template <int Rows>
__global__ void __launch_bounds__(blend_threads)
    blend_models_kernel(const __grid_constant__ AffineModels models, View<const Color> pixels,
                        FlowPlanes flow, View<float> confidence, int parts, int blocks_of_row) {
  __shared__ BlendSeed seeds[blend_side][most_blend_columns];
  __shared__ BlendGreen greens[blend_side][most_blend_columns];
  begin_kernel();
  const SeedGrid grid = models.grid;
  const int stride = grid.stride, width = flow.u.width, height = flow.u.height, thread = int(threadIdx.x);
  const int x0 = int(blockIdx.x) % blocks_of_row * blend_threads, line = int(blockIdx.x) / blocks_of_row;
  const int group = line / parts, first_line = line % parts * Rows, y0 = group * stride + first_line;
  const int first_column = x0 / stride - blend_reach,
            columns = (x0 + blend_threads - 1) / stride - x0 / stride + blend_side;
  for (int k = thread; k < blend_side * columns; k += blend_threads) {
    const int i = k % columns, j = k / columns, column = first_column + i, row = group + j - blend_reach;
    BlendSeed seed{};
    BlendGreen green{};
    if (column >= 0 && column < grid.columns && row >= 0 && row < grid.rows) {
      const AffineModel model = models.at(column, row);
      const Color color = models.color_of(column, row);
      seed = {model.u, model.ux, model.uy, models.weight(column, row),
              model.v, model.vx, model.vy, color.red * blend_color};
      green = {color.green * blend_color, color.blue * blend_color};
    }
    seeds[j][i] = seed;
    greens[j][i] = green;
  }
  __syncthreads();
  const int x = x0 + thread;
  if (x >= width) return;
  const int local = x / stride - x0 / stride;
  const float phase = seed_phase(x, stride);
  const int last = smaller(smaller(Rows, stride - first_line), height - y0) - 1;
  Color own[Rows];
  float row_phase[Rows];
  BlendSums sums[Rows];
  PF_UNROLL
  for (int r = 0; r < Rows; ++r) {
    const int y = y0 + smaller(r, last);
    const Color color = load(&pixels(x, y));
    own[r] = {color.red * blend_color, color.green * blend_color, color.blue * blend_color, 0};
    row_phase[r] = seed_phase(y, stride);
  }
  const int from = larger(-blend_reach, -group), to = smaller(blend_reach, grid.rows - 1 - group);
  for (int j = from; j <= to; ++j) {
    BlendSums row[Rows];
    PF_UNROLL
    for (int i = -blend_reach; i <= blend_reach; ++i) {
      const BlendSeed seed = seeds[j + blend_reach][local + i + blend_reach];
      const BlendGreen green = greens[j + blend_reach][local + i + blend_reach];
      const float dx = phase - float(i), exponent = position_exponent(dx);
      PF_UNROLL
      for (int r = 0; r < Rows; ++r) {
        const float dy = row_phase[r] - float(j);
        const float w = seed.weight * blend_weight(exponent, own[r].red - seed.red,
                                                   own[r].green - green.green, own[r].blue - green.blue);
        row[r].add(w, fma(seed.ux, dx, fma(seed.uy, dy, seed.u)), fma(seed.vx, dx, fma(seed.vy, dy, seed.v)));
      }
    }
    PF_UNROLL
    for (int r = 0; r < Rows; ++r)
      sums[r].add(exponential2(position_exponent(row_phase[r] - float(j))), row[r]);
  }
  PF_UNROLL
  for (int r = 0; r < Rows; ++r) {
    if (r > last) break;
    const Motion motion = sums[r].motion();
    flow.u(x, y0 + r) = motion.u;
    flow.v(x, y0 + r) = motion.v;
    if (confidence) confidence(x, y0 + r) = sums[r].confidence();
  }
}

}  // namespace

template <class Backend>
void blend_models(Backend& cuda, const AffineModels& models, const Colors& colors, FlowPlanes flow,
                  View<float> confidence) {
  const int stride = models.grid.stride, parts = (stride + 3) / 4, rows = (stride + parts - 1) / parts;
  const unsigned blocks_of_row = blocks_for(flow.u.width, blend_threads);
  const dim3 blocks(blocks_of_row * blocks_for(flow.u.height, stride) * unsigned(parts));
  const auto kernel = rows == 2   ? blend_models_kernel<2>
                      : rows == 3 ? blend_models_kernel<3>
                                  : blend_models_kernel<4>;
  cuda.launch(kernel, blocks, dim3(blend_threads), 0, models, colors.pixels, flow, confidence, parts,
              int(blocks_of_row));
}

PF_STEP(blend_models<Cuda>);

}  // namespace parafield
