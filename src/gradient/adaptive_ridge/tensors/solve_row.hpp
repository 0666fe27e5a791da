// SPDX-License-Identifier: MIT
#pragma once
#include "gradient/adaptive_ridge/tensors/tensors.hpp"

/// Rows of normal equations on the CPU. They are in an unnamed namespace because each instruction set has its
/// own copy.
namespace parafield {
namespace {

/// Extends a row on both sides by repeating its border values `reach` times.
inline void extend(float* row, int width, int reach) {
  for (int x = 1; x <= reach; ++x) row[-x] = row[0], row[width - 1 + x] = row[width - 1];
}

/// Sets each column of a row to the value at the first column of its cell.
inline void take_near(const float* row, int width, float* near) {
  for (int x = 0; x < width; ++x) near[x] = row[x / cell_side * cell_side];
}

/// Stores the normal equations of row y, columns `begin` to `end` - 1, from the sums over their windows, and
/// adds their solutions to the cells' sums. u0, v0: the flow that the cells' sums are relative to.
inline void solve_sums(const float* const (&sums)[Products::count], FlowPlanes flow, int y, int begin,
                       int end, const NormalPlanes& out, const CellColumns& columns, const float* u0,
                       const float* v0) {
  const float *const u = flow.u.row(y), *const v = flow.v.row(y);
  float *const xx = out.xx.row(y), *const xy = out.xy.row(y), *const yy = out.yy.row(y),
               *const xt = out.xt.row(y), *const yt = out.yt.row(y), *const residual = out.residual.row(y);
  const CellColumns to = columns;
#pragma GCC ivdep
  for (int x = begin; x < end; ++x) {
    const int i = x - begin;
    const Products sum{sums[0][i], sums[1][i], sums[2][i], sums[3][i], sums[4][i], sums[5][i]};
    const PlainSolution solution = plain_solution(sum, u[x], v[x]);
    xx[x] = sum.xx, xy[x] = sum.xy, yy[x] = sum.yy, xt[x] = sum.xt, yt[x] = sum.yt;
    residual[x] = solution.residual;
    to.add(x, solution.u - u0[x], solution.v - v0[x], determination(sum.xx, sum.xy, sum.yy));
  }
}

/// Stores the mean brightness of row `cell` of the cells, which covers rows `top` to `end` - 1 of `luma`.
/// `sums`: a row of scratch memory.
inline void store_lumas(const Cells& cells, int cell, View<const float> luma, int top, int end, float* sums) {
  const int width = luma.width;
  for (int x = 0; x < width; ++x) sums[x] = 0;
  for (int y = top; y < end; ++y) {
    const float* const row = luma.row(y);
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) sums[x] += row[x];
  }
  for (int x = 0; x < cells.luma.width; ++x) {
    const int left = x * cell_side, count = smaller(cell_side, width - left);
    store_luma(cells, x, cell, cell_total(sums + left, count), count * (end - top));
  }
}

}  // namespace
}  // namespace parafield
