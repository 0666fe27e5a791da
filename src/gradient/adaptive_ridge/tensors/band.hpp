// SPDX-License-Identifier: MIT
#pragma once
#include "core/cpu/backend.hpp"
#include "gradient/adaptive_ridge/tensors/tensors.hpp"
#include "steps/warp/warp_row.hpp"

/// Bands of normal equations on the CPU. They are in an unnamed namespace because each instruction set has
/// its own copy.
namespace parafield {
namespace {

/// The rows of cells that a thread works down, and its scratch memory.
struct CellBand {
  FlowPlanes flow;         ///< so far
  View<const float> luma;  ///< of the pixels that are solved
  TensorWeights p;
  TensorOutput out;
  int pitch;
  float* scratch;

  int width() const { return flow.u.width; }
  int height() const { return flow.u.height; }
  /// Column 0 of a row of scratch memory.
  float* row(int i) const { return scratch + i * pitch + ridge_margin; }
  CellColumns columns() const {
    constexpr int first = RidgeRows::columns;
    return {row(first), row(first + 1), row(first + 2), row(first + 3)};
  }
  /// For each column, the flow that its cell's sums are relative to. `which`: u or v.
  float* near(int which) const { return row(RidgeRows::near + which); }

  /// Stores the normal equations of row y, columns `begin` to `end` - 1, from the sums over their windows,
  /// and adds their solutions to the cells' sums.
  void solve_sums(const float* const (&sums)[Products::count], int y, int begin, int end) const {
    const float *const u = flow.u.row(y), *const v = flow.v.row(y), *const u0 = near(0), *const v0 = near(1);
    const NormalRow normal = out.normal.row(y);
    const CellColumns to = columns();
#pragma GCC ivdep
    for (int x = begin; x < end; ++x) {
      const int i = x - begin;
      const Products sum{sums[0][i], sums[1][i], sums[2][i], sums[3][i], sums[4][i], sums[5][i]};
      const PlainSolution solution = plain_solution(sum, u[x], v[x]);
      normal.set(x, normal_sums(sum, solution));
      to.add(x, solution.u - u0[x], solution.v - v0[x], determination(sum.xx, sum.xy, sum.yy));
    }
  }

  /// Computes rows of cells. solve(y, end) solves some rows of pixels from y on, before `end`, with
  /// solve_sums, and returns their number.
  template <class Solve>
  void for_cells(RowRange rows, Solve solve) const {
    for (int cell = rows.begin; cell < rows.end; ++cell) {
      const int top = cell * cell_side, end = smaller(top + cell_side, height());
      const float *const u = flow.u.row(top), *const v = flow.v.row(top);
      float *const u0 = near(0), *const v0 = near(1);
      for (int x = 0; x < width(); ++x) u0[x] = u[x / cell_side * cell_side];
      for (int x = 0; x < width(); ++x) v0[x] = v[x / cell_side * cell_side];
      columns().clear(width());
      for (int y = top; y < end;) y += solve(y, end);
      columns().store_row(out.cells, cell, u0, v0, width(), end - top);
      if (out.with_luma) store_lumas(cell, top, end);
    }
  }

 private:
  /// Stores the mean brightness of a row of cells, which covers rows `top` to `end` - 1.
  void store_lumas(int cell, int top, int end) const {
    float* const sums = row(RidgeRows::luma);
    for (int x = 0; x < width(); ++x) sums[x] = 0;
    for (int y = top; y < end; ++y) {
      const float* const of_row = luma.row(y);
#pragma GCC ivdep
      for (int x = 0; x < width(); ++x) sums[x] += of_row[x];
    }
    for (int x = 0; x < out.cells.luma.width; ++x) {
      const int left = x * cell_side, count = smaller(cell_side, width() - left);
      store_luma(out.cells, x, cell, cell_total(sums + left, count), count * (end - top));
    }
  }
};

}  // namespace
}  // namespace parafield
