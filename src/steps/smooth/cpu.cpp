// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/convert/convert.hpp"
#include "steps/smooth/smooth.hpp"

namespace parafield {
namespace {

constexpr int chunk = 1024, max_radius = Taps::max_radius;

/// A row of the image for each tap, the uppermost first.
struct RowsAround {
  const float* row[2 * max_radius + 1];
};

/// Columns x0 to x0 + count - 1 of a row of the result. Radius: that of the taps, or 0 for any.
template <int Radius>
void smooth_part(const RowsAround& in, int width, const Taps& taps, int x0, int count, float* out) {
  const int radius = Radius > 0 ? Radius : taps.radius;
  const int first = larger(0, x0 - radius), end = smaller(width, x0 + count + radius);
  float columns[chunk + 2 * max_radius];
  float* const column = columns + radius - x0;  // column[x] for x0 - radius <= x < x0 + count + radius
  if constexpr (Radius > 0) {
    const float* row[2 * Radius + 1];
    float weight[Radius + 1];
    for (int k = 0; k <= 2 * Radius; ++k) row[k] = in.row[k];
    for (int k = 0; k <= Radius; ++k) weight[k] = taps.weight[k];
#pragma GCC ivdep
    for (int x = first; x < end; ++x) {
      float sum = weight[0] * row[Radius][x];
      PF_UNROLL
      for (int k = 1; k <= Radius; ++k) sum = fma(weight[k], row[Radius - k][x] + row[Radius + k][x], sum);
      column[x] = sum;
    }
  } else {
    const float* middle = in.row[radius];
    for (int x = first; x < end; ++x) column[x] = taps.weight[0] * middle[x];
    for (int k = 1; k <= radius; ++k) {
      const float *const above = in.row[radius - k], *const below = in.row[radius + k];
      const float weight = taps.weight[k];
      for (int x = first; x < end; ++x) column[x] = fma(weight, above[x] + below[x], column[x]);
    }
  }
  for (int x = x0 - radius; x < first; ++x) column[x] = column[0];
  for (int x = end; x < x0 + count + radius; ++x) column[x] = column[width - 1];
  if constexpr (Radius > 0) {
    float weight[Radius + 1];
    for (int k = 0; k <= Radius; ++k) weight[k] = taps.weight[k];
#pragma GCC ivdep
    for (int x = x0; x < x0 + count; ++x) {
      float sum = weight[0] * column[x];
      PF_UNROLL
      for (int k = 1; k <= Radius; ++k) sum = fma(weight[k], column[x - k] + column[x + k], sum);
      out[x] = sum;
    }
  } else {
    for (int x = x0; x < x0 + count; ++x) out[x] = taps.weight[0] * column[x];
    for (int k = 1; k <= radius; ++k) {
      const float weight = taps.weight[k];
      for (int x = x0; x < x0 + count; ++x) out[x] = fma(weight, column[x - k] + column[x + k], out[x]);
    }
  }
}

void smooth_row(const RowsAround& in, int width, const Taps& taps, float* out) {
  for (int x = 0; x < width; x += chunk) {
    const int count = smaller(chunk, width - x);
    with_constant<2, 3>(taps.radius,
                        [&]<int Radius>() { smooth_part<Radius>(in, width, taps, x, count, out); });
  }
}

/// get_row(y): row y of the image.
template <class GetRow>
RowsAround rows_around(int y, int height, int radius, GetRow get_row) {
  RowsAround rows;
  for (int k = -radius; k <= radius; ++k) rows.row[k + radius] = get_row(clamp(y + k, 0, height - 1));
  return rows;
}

}  // namespace

template <class Backend>
void smooth(Backend& cpu, const View<float>* in, const Taps& taps, const View<float>* out, int count) {
  for (int i = 0; i < count; ++i) {
    const View<float> from = in[i], to = out[i];
    cpu.rows(to.height, [&](int y) {
      smooth_row(rows_around(y, to.height, taps.radius, [=](int row) { return from.row(row); }), to.width,
                 taps, to.row(y));
    });
  }
}

template <class Backend>
void smooth_luma(Backend& cpu, const Frame* frames, const Taps& taps, const View<float>* out, int count) {
  for (int i = 0; i < count; ++i)
    with_format(frames[i], [&]<class Sample, int Channels, int Red>(Scale scale) {
      const Frame frame = frames[i];
      const View<float> to = out[i];
      const int width = to.width, height = to.height, radius = taps.radius;
      const int ring = 2 * radius + 1, pitch = (width + 15) / 16 * 16;
      cpu.few_rows(height, [=](RowRange rows, void* scratch) {
        const auto luma_row = [=](int y) { return static_cast<float*>(scratch) + y % ring * pitch; };
        int converted = rows.first_new(radius, height);
        for (int y = rows.begin; y < rows.end; ++y) {
          for (; converted <= smaller(y + radius, height - 1); ++converted) {
            const Sample* const in = row_of<Sample>(frame, converted);
            float* const luma = luma_row(converted);
            for (int x = 0; x < width; ++x) luma[x] = luma_of(in, x, Channels, Red, scale);
          }
          smooth_row(rows_around(y, height, radius, luma_row), width, taps, to.row(y));
        }
      });
    });
}

PF_STEP(smooth<Cpu>);
PF_STEP(smooth_luma<Cpu>);

}  // namespace parafield
