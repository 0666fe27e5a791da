// SPDX-License-Identifier: MIT
#pragma once
#include "steps/smooth/smooth.hpp"

/// Smoothing of rows on the CPU. In an unnamed namespace, so that each instruction set has its own copy.
namespace parafield {
namespace {

constexpr int smooth_chunk = 1024, smooth_radius = Taps::max_radius;

/// One row of the image for each tap, from top to bottom.
struct RowsAround {
  const float* row[2 * smooth_radius + 1];
};

/// Columns x0 to x0 + count - 1 of a row of the result. Radius: the taps' radius, or 0 for any radius.
template <int Radius>
void smooth_part(const RowsAround& in, int width, const Taps& taps, int x0, int count, float* out) {
  const int radius = Radius > 0 ? Radius : taps.radius;
  const int first = larger(0, x0 - radius), end = smaller(width, x0 + count + radius);
  float columns[smooth_chunk + 2 * smooth_radius];
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
  for (int x = 0; x < width; x += smooth_chunk) {
    const int count = smaller(smooth_chunk, width - x);
    with_constant<2, 3, 8>(taps.radius,
                           [&]<int Radius>() { smooth_part<Radius>(in, width, taps, x, count, out); });
  }
}

/// The rows around row y; get_row(y) returns row y of the image.
template <class GetRow>
RowsAround rows_around(int y, int height, int radius, GetRow get_row) {
  RowsAround rows;
  for (int k = -radius; k <= radius; ++k) rows.row[k + radius] = get_row(clamp(y + k, 0, height - 1));
  return rows;
}

}  // namespace
}  // namespace parafield
