// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"
#include "core/workspace.hpp"

/// Statistics of a flow in cells of 8x8 pixels (step 3 of parafield/methods/adaptive_ridge.hpp).
namespace parafield {

constexpr int cell_side = 8;    ///< px
constexpr int cells_reach = 2;  ///< means are taken over 5x5 cells

/// Number of cells that cover a side of a level.
PF_HD constexpr int cells_along(int pixels) { return (pixels + cell_side - 1) / cell_side; }

/// A cell's values, as in Cells.
struct Cell {
  float u, v, spread, weight, luma;
};

/// Planes with one value per cell, all with the same pitch.
struct Cells {
  View<float> u, v;    ///< mean flow, each pixel weighted by how well its flow is determined
  View<float> spread;  ///< mean squared distance from the mean flow, px^2
  View<float> weight;  ///< mean weight of the pixels
  View<float> luma;    ///< mean brightness, 0..255; 0 if a pixel is not finite

  /// Index of a cell in the planes' data.
  PF_HD unsigned at(int x, int y) const { return unsigned(y) * unsigned(u.stride()) + unsigned(x); }
  PF_HD Cell operator()(int x, int y) const {
    const unsigned i = at(x, y);
    return {u.data[i], v.data[i], spread.data[i], weight.data[i], luma.data[i]};
  }
};

/// Sums over a cell's pixels. Flow is relative to the flow of a nearby pixel, which keeps cancellation small.
struct CellSums {
  float weight = 0, u = 0, v = 0, squares = 0;

  PF_HD void add(float du, float dv, float w) {
    weight += w;
    u = fma(w, du, u);
    v = fma(w, dv, v);
    squares = fma(w, fma(du, du, dv * dv), squares);
  }
};

/// Total over a cell's `count` columns, at most 8.
PF_HD float cell_total(const float* columns, int count) {
  const auto at = [=](int i) { return i < count ? columns[i] : 0.0f; };
  return ((at(0) + at(1)) + (at(2) + at(3))) + ((at(4) + at(5)) + (at(6) + at(7)));
}

/// Stores a cell's mean, spread and weight. u0, v0: the flow that its sums are relative to. `pixels`: number
/// of pixels in the cell.
PF_HD void store_flow(const Cells& cells, int x, int y, const CellSums& sum, float u0, float v0, int pixels) {
  const float inverse = reciprocal(sum.weight);
  const float du = sum.u * inverse, dv = sum.v * inverse;
  const unsigned at = cells.at(x, y);
  cells.u.data[at] = u0 + du;
  cells.v.data[at] = v0 + dv;
  cells.spread.data[at] = larger(fma(sum.squares, inverse, -fma(du, du, dv * dv)), 0.0f);
  cells.weight.data[at] = sum.weight * reciprocal(float(pixels));
}

/// Stores a cell's mean brightness, from the sum over its pixels.
PF_HD void store_luma(const Cells& cells, int x, int y, float sum, int pixels) {
  cells.luma(x, y) = is_finite(sum) ? sum * reciprocal(float(pixels)) : 0.0f;
}

/// Sums for a row of cells in progress, one for each pixel column; used on the CPU.
struct CellColumns {
  float *weight, *u, *v, *squares;

  PF_HD void clear(int width) const {
    for (float* const column : {weight, u, v, squares})
      for (int x = 0; x < width; ++x) column[x] = 0;
  }
  PF_HD void add(int x, float du, float dv, float w) const {
    CellSums sums{weight[x], u[x], v[x], squares[x]};
    sums.add(du, dv, w);
    weight[x] = sums.weight, u[x] = sums.u, v[x] = sums.v, squares[x] = sums.squares;
  }
  /// Stores row y of the cells. u0, v0: for each pixel column, the flow that its sums are relative to.
  /// `rows`: number of pixel rows in the cells.
  PF_HD void store_row(const Cells& cells, int y, const float* u0, const float* v0, int width,
                       int rows) const {
    for (int x = 0; x < cells.u.width; ++x) {
      const int left = x * cell_side, count = smaller(cell_side, width - left);
      const auto total = [=](const float* column) { return cell_total(column + left, count); };
      store_flow(cells, x, y, {total(weight), total(u), total(v), total(squares)}, u0[left], v0[left],
                 count * rows);
    }
  }
};

/// Mean flow around a cell or pixel, toward which its flow shrinks, and the spread around it (px^2).
struct CellNeighborhood {
  float u, v, spread;
};

/// Sums over a row of five cells, relative to the middle cell of all five rows.
struct NeighborSums {
  float weight = 0, u = 0, v = 0, squares = 0;

  PF_HD void add(const Cell& cell, const Cell& middle, float tap, float likeness2) {
    constexpr float most = 1e9f;  // small enough that its square does not overflow
    const float du = cell.u - middle.u, dv = cell.v - middle.v,
                difference = smaller_number(magnitude(cell.luma - middle.luma), most);
    const float w = quotient(tap * cell.weight * likeness2, fma(difference, difference, likeness2));
    weight += w;
    u = fma(w, du, u);
    v = fma(w, dv, v);
    squares = fma(w, fma(du, du, dv * dv) + cell.spread, squares);
  }
};

/// Taps of a gaussian with a sigma of one cell. `distance`: cells.
PF_HD constexpr float cell_tap(int distance) {
  constexpr float taps[3] = {0.40261996f, 0.24420134f, 0.05448868f};
  return taps[distance < 0 ? -distance : distance];
}

/// Sums over the five cells centered `row` rows below cell (x, y). Beyond the border, the nearest cell is
/// used. `Inside`: the cell has cells_reach cells on its left and right, so no column needs clamping.
template <bool Inside = false>
PF_HD NeighborSums row_of_cells(const Cells& cells, int x, int y, int row, float likeness2) {
  NeighborSums sums;
  const int line = clamp(y + row, 0, cells.u.height - 1);
  const Cell middle = cells(x, y);
  PF_UNROLL
  for (int i = -cells_reach; i <= cells_reach; ++i)
    sums.add(cells(Inside ? x + i : clamp(x + i, 0, cells.u.width - 1), line), middle,
             cell_tap(i) * cell_tap(row), likeness2);
  return sums;
}

/// Total over the five rows of cells around a cell.
PF_HD NeighborSums total(const NeighborSums& a, const NeighborSums& b, const NeighborSums& c,
                         const NeighborSums& d, const NeighborSums& e) {
  return {((a.weight + b.weight) + (c.weight + d.weight)) + e.weight, ((a.u + b.u) + (c.u + d.u)) + e.u,
          ((a.v + b.v) + (c.v + d.v)) + e.v, ((a.squares + b.squares) + (c.squares + d.squares)) + e.squares};
}

/// Mean and spread from the total. u0, v0: the flow that the sums are relative to.
PF_HD CellNeighborhood neighborhood(const NeighborSums& sum, float u0, float v0) {
  const float inverse = reciprocal(sum.weight), du = sum.u * inverse, dv = sum.v * inverse;
  return {u0 + du, v0 + dv, larger(fma(sum.squares, inverse, -fma(du, du, dv * dv)), 0.0f)};
}

}  // namespace parafield
