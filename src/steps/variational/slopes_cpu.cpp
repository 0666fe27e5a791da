// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/variational/color_edges.hpp"
#include "steps/variational/red_black.hpp"

namespace parafield {
namespace {

constexpr int sums = 6;  // of edges along x: weight, u, v; then of edges along y

/// Measures the slopes of a row of cells. `scratch`: rows for the sums of columns and the edges.
void measure_row(const ComparedFrames& frames, const RefinementPlanes& planes, FlowPlanes flow, int row,
                 float* scratch) {
  const int width = flow.u.width, height = flow.u.height, pitch = refinement_pitch(width);
  float* sum[sums];
  for (int i = 0; i < sums; ++i) sum[i] = scratch + i * pitch;
  for (int i = 0; i < sums; ++i)
    for (int x = 0; x < pitch; ++x) sum[i][x] = 0;
  float *const along = scratch + sums * pitch, *const down = along + pitch;
  const int first = row * slope_cell, end = smaller(first + slope_cell, height);
  for (int y = first; y < end; ++y) {
    const int below = smaller(y + 1, height - 1);
    const float *const u = flow.u.row(y), *const v = flow.v.row(y), *const u_below = flow.u.row(below),
                       *const v_below = flow.v.row(below);
    weigh_color_edges(frames, y, along, down);
    float *const weight_x = sum[0], *const u_x = sum[1], *const v_x = sum[2], *const weight_y = sum[3],
                 *const u_y = sum[4], *const v_y = sum[5];
#pragma GCC ivdep
    for (int x = 0; x < width - 1; ++x) {
      SlopeSums part{weight_x[x], u_x[x], v_x[x]};
      part.add(along[x], u[x + 1] - u[x], v[x + 1] - v[x]);
      weight_x[x] = part.weight, u_x[x] = part.u, v_x[x] = part.v;
    }
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) {
      SlopeSums part{weight_y[x], u_y[x], v_y[x]};
      part.add(down[x], u_below[x] - u[x], v_below[x] - v[x]);
      weight_y[x] = part.weight, u_y[x] = part.u, v_y[x] = part.v;
    }
  }
  for (int cell = 0; cell < planes.measured.share[0].width; ++cell) {
    const int x = cell * slope_cell, pixels = (end - first) * smaller(slope_cell, width - x);
    for (int axis = 0; axis < 2; ++axis) {
      const float weight = sum_of_columns(sum[3 * axis] + x);
      for (int i = 0; i < 2; ++i) {
        const float slope = slope_of(sum_of_columns(sum[3 * axis + 1 + i] + x), weight, pixels);
        planes.measured.slope[2 * axis + i](cell, row) = planes.slopes.slope[2 * axis + i](cell, row) = slope;
      }
      planes.measured.share[axis](cell, row) = weight * reciprocal(float(pixels));
    }
  }
}

/// Relaxes the cells of a row whose column and row add up to an even (`odd` 0) or odd number.
void relax_row(View<const float> measured, View<float> slopes, const View<float>* share, int axis, int y,
               int odd) {
  const int last = slopes.width - 1, up = larger(y - 1, 0), down = smaller(y + 1, slopes.height - 1);
  float* const here = slopes.row(y);
  const float *const above = slopes.row(up), *const below = slopes.row(down), *const start = measured.row(y),
                     *const own = share[axis].row(y), *const sx = share[0].row(y),
                     *const sy = share[1].row(y), *const sy_above = share[1].row(up),
                     *const sy_below = share[1].row(down);
  const float has_above = up < y ? 1.0f : 0.0f, has_below = down > y ? 1.0f : 0.0f;
  const auto relaxed_at = [=](int x, float conducts_left, float conducts_right, float left, float right) {
    return SlopeCell::make(conducts_left, conducts_right, has_above * (sy[x] * sy_above[x]),
                           has_below * (sy[x] * sy_below[x]), own[x])
        .relaxed(here[x], start[x], left, right, above[x], below[x]);
  };
  const int first = (y + odd) & 1;
  const auto relax_end = [=](int x) {
    if ((x & 1) != first) return;
    const int left = larger(x - 1, 0), right = smaller(x + 1, last);
    here[x] = relaxed_at(x, x > 0 ? sx[x] * sx[left] : 0.0f, x < last ? sx[x] * sx[right] : 0.0f, here[left],
                         here[right]);
  };
  relax_end(0);
  if (last > 0) relax_end(last);
  float* const to = same_row(here);
#pragma GCC ivdep
  for (int x = 1; x < last; ++x) {
    const float relaxed = relaxed_at(x, sx[x] * sx[x - 1], sx[x] * sx[x + 1], here[x - 1], here[x + 1]);
    to[x] = (x & 1) == first ? relaxed : here[x];
  }
}

}  // namespace

template <class Backend>
void find_slopes(Backend& cpu, const ComparedFrames& frames, const RefinementPlanes& planes,
                 FlowPlanes flow) {
  const SlopePlanes slopes = planes.slopes, measured = planes.measured;
  cpu.few_rows(slopes.share[0].height, 1, [=](RowRange rows, void* scratch) {
    for (int row = rows.begin; row < rows.end; ++row)
      measure_row(frames, planes, flow, row, static_cast<float*>(scratch));
  });
  cpu.parts(SlopePlanes::count, [=](int part, void*) {
    for (int sweep = 0; sweep < slope_sweeps; ++sweep)
      for (int odd = 0; odd < 2; ++odd)
        for (int y = 0; y < slopes.share[0].height; ++y)
          relax_row(measured.slope[part], slopes.slope[part], slopes.share, part / 2, y, odd);
  });
}

PF_STEP(find_slopes<Cpu>);

}  // namespace parafield
