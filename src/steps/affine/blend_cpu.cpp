// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/affine/blend.hpp"

// All pixel rows that belong to one row of seeds are processed together, chunk by chunk, with one surrounding
// row of seeds after the other. Each seed's values are repeated for each of its pixels, so that neighboring
// pixels read neighboring values at every distance. A pixel takes about 30 operations for each of its 25
// seeds.
namespace parafield {
namespace {

constexpr int reach = blend_reach;

/// A row of seeds, expanded to the pixels of a chunk and `reach` seeds on each side.
struct DrawnRow {
  float *weight, *red, *green, *blue, *u, *ux, *uy, *v, *vx, *vy;  ///< colors: times blend_color
  float *row_u, *row_v;                                            ///< flow in a row of pixels

  DrawnRow(float* memory, int columns) {
    float** const planes[] = {&weight, &red, &green, &blue, &u, &ux, &uy, &v, &vx, &vy, &row_u, &row_v};
    static_assert(sizeof planes == blend_planes * sizeof(float**));
    for (float** const plane : planes) {
      *plane = memory;
      memory += columns;
    }
  }
};

/// Repeats the values of seeds `first` to `first` + count - 1 for each of their pixels. Seeds that do not
/// exist are 0.
template <int Stride>
void draw_out(const AffineModels& models, int row, int first, int count, const DrawnRow& drawn) {
  struct Plane {
    const float* from;
    float* to;
    float scale;
  };
  const Plane planes[] = {{models.weight.row(row), drawn.weight, 1},
                          {models.color[0].row(row), drawn.red, blend_color},
                          {models.color[1].row(row), drawn.green, blend_color},
                          {models.color[2].row(row), drawn.blue, blend_color},
                          {models.u.row(row), drawn.u, 1},
                          {models.ux.row(row), drawn.ux, 1},
                          {models.uy.row(row), drawn.uy, 1},
                          {models.v.row(row), drawn.v, 1},
                          {models.vx.row(row), drawn.vx, 1},
                          {models.vy.row(row), drawn.vy, 1}};
  const int columns = models.grid.columns, stride = Stride > 0 ? Stride : models.grid.stride;
  for (const auto& [from, to, scale] : planes)
    for (int i = 0; i < count; ++i) {
      const int column = first + i;
      const float value = column >= 0 && column < columns ? from[column] * scale : 0;
      for (int k = 0; k < stride; ++k) to[i * stride + k] = value;
    }
}

/// Part of a row of pixels and its sums.
struct PixelRow {
  const float *red, *green, *blue, *phase;
  float *weight, *u, *v;
};

/// Adds a row of seeds. `dy`: position of the pixels relative to it, in seeds.
void add_seeds(const DrawnRow& seeds, const PixelRow& pixels, int count, int stride, float dy) {
  const float *const weight = seeds.weight, *const seed_red = seeds.red, *const seed_green = seeds.green,
                     *const seed_blue = seeds.blue, *const ux = seeds.ux, *const vx = seeds.vx;
  float *const row_u = seeds.row_u, *const row_v = seeds.row_v;
  {
    const float *const u = seeds.u, *const v = seeds.v, *const uy = seeds.uy, *const vy = seeds.vy;
    const int all = count + 2 * reach * stride;
#pragma GCC ivdep
    for (int i = 0; i < all; ++i) {
      row_u[i] = fma(uy[i], dy, u[i]);
      row_v[i] = fma(vy[i], dy, v[i]);
    }
  }
  const float *const red = pixels.red, *const green = pixels.green, *const blue = pixels.blue,
                     *const phase = pixels.phase;
  float *const sum_weight = pixels.weight, *const sum_u = pixels.u, *const sum_v = pixels.v;
  const float row_weight = exponential2(position_exponent(dy));
#pragma GCC ivdep
  for (int x = 0; x < count; ++x) {
    const float own_red = red[x] * blend_color, own_green = green[x] * blend_color,
                own_blue = blue[x] * blend_color;
    BlendSums row;
    PF_UNROLL
    for (int k = -reach; k <= reach; ++k) {
      const int i = x + (k + reach) * stride;
      const float dx = phase[x] - float(k);
      const float w = weight[i] * blend_weight(position_exponent(dx), own_red - seed_red[i],
                                               own_green - seed_green[i], own_blue - seed_blue[i]);
      row.add(w, fma(ux[i], dx, row_u[i]), fma(vx[i], dx, row_v[i]));
    }
    BlendSums sum{sum_weight[x], sum_u[x], sum_v[x]};
    sum.add(row_weight, row);
    sum_weight[x] = sum.weight, sum_u[x] = sum.u, sum_v[x] = sum.v;
  }
}

void store_row(const PixelRow& pixels, int count, float* u, float* v, float* confidence) {
  const float *const weight = pixels.weight, *const sum_u = pixels.u, *const sum_v = pixels.v;
#pragma GCC ivdep
  for (int x = 0; x < count; ++x) {
    const Motion motion = BlendSums{weight[x], sum_u[x], sum_v[x]}.motion();
    u[x] = motion.u;
    v[x] = motion.v;
  }
  if (!confidence) return;
#pragma GCC ivdep
  for (int x = 0; x < count; ++x) confidence[x] = BlendSums{weight[x], 0, 0}.confidence();
}

}  // namespace

template <class Backend>
void blend_models(Backend& cpu, const AffineModels& models, const Colors& colors, FlowPlanes flow,
                  View<float> confidence) {
  const int width = flow.u.width, height = flow.u.height, stride = models.grid.stride;
  cpu.few_rows((height + stride - 1) / stride, [=](RowRange groups, void* scratch) {
    const DrawnRow drawn(static_cast<float*>(scratch), blend_columns(stride));
    float* const phase = drawn.row_v + blend_columns(stride);
    float* const sums = phase + blend_chunk;
    const int chunk = blend_chunk / stride * stride;
    for (int x = 0; x < chunk; ++x) phase[x] = seed_phase(x, stride);
    for (int group = groups.begin; group < groups.end; ++group)
      for (int x0 = 0; x0 < width; x0 += chunk) {
        const int count = smaller(chunk, width - x0), y0 = group * stride,
                  lines = smaller(stride, height - y0);
        const auto pixels = [=](int line) {
          float* const sum = sums + std::ptrdiff_t(3 * line) * blend_chunk;
          const auto color = [&](int k) { return colors.plane[k].row(y0 + line) + x0; };
          return PixelRow{color(0), color(1), color(2), phase, sum, sum + blend_chunk, sum + 2 * blend_chunk};
        };
        for (int i = 0; i < 3 * lines * blend_chunk; ++i) sums[i] = 0;
        const int first = larger(-reach, -group), last = smaller(reach, models.grid.rows - 1 - group);
        for (int k = first; k <= last; ++k) {
          const int first_seed = x0 / stride - reach, seeds = (count + stride - 1) / stride + 2 * reach;
          with_constant<2, 3, 4, 6, 8>(
              stride, [&]<int Stride>() { draw_out<Stride>(models, group + k, first_seed, seeds, drawn); });
          for (int line = 0; line < lines; ++line)
            add_seeds(drawn, pixels(line), count, stride, seed_phase(y0 + line, stride) - float(k));
        }
        for (int line = 0; line < lines; ++line)
          store_row(pixels(line), count, flow.u.row(y0 + line) + x0, flow.v.row(y0 + line) + x0,
                    confidence ? confidence.row(y0 + line) + x0 : nullptr);
      }
  });
}

PF_STEP(blend_models<Cpu>);

}  // namespace parafield
