// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "gradient/adaptive_ridge/shrink/shrink.hpp"
#include "steps/median/median.hpp"

// All pixel rows between the centers of two rows of cells read the same cells. The cells' values are
// therefore spread over the columns once for all these rows. The lower row's values are then reused as the
// upper row's for the next pixel rows.
//
// For 16 pixels with AVX-512: 48 multiplications and fused multiply-adds, about as many other operations, 3
// divisions and 23 loads, which take at least 35 cycles. One thread of an AMD EPYC at 3.9 GHz takes 60
// cycles, or 1.0 ns per pixel.
namespace parafield {
namespace {

/// Rows of scratch memory: three for the means of a row of cells, then the groups that start at these rows.
constexpr int spread_rows = 3, column_rows = spread_rows + 4 * 2 * 2, near_rows = column_rows + 4,
              flow_rows = near_rows + 2;
static_assert(flow_rows + 2 <= RidgeRows::count);

struct Band {
  const ShrinkInput& in;
  float* scratch;

  int width() const { return in.luma.width; }
  float* row(int i) const { return scratch + i * ridge_pitch(width()) + ridge_margin; }
  /// Means of a row of cells: u, v, spread.
  float* mean(int which) const { return row(which); }
  /// For each column, the value of the cell before it (side 0) or after it (side 1) in a row of cells.
  /// `which`: u, v, spread, luma.
  float* spread_out(int which, int side, int cell_row) const {
    return row(spread_rows + which * 4 + side * 2 + (cell_row & 1));
  }
  float* column(int which) const { return row(column_rows + which); }
  float* near(int which) const { return row(near_rows + which); }
  float* flow(int which) const { return row(flow_rows + which); }
};

/// Computes the means around cells `begin` to `end` - 1 of row y.
template <bool Inside>
void find_means(const Band& band, int y, int begin, int end) {
  const Cells cells = band.in.cells;
  const float likeness2 = band.in.p.likeness2;
  float *const u = band.mean(0), *const v = band.mean(1), *const spread = band.mean(2);
#pragma GCC ivdep
  for (int x = begin; x < end; ++x) {
    const auto row = [=](int k) { return row_of_cells<Inside>(cells, x, y, k, likeness2); };
    const CellNeighborhood mean =
        neighborhood(total(row(-2), row(-1), row(0), row(1), row(2)), cells.u(x, y), cells.v(x, y));
    u[x] = mean.u, v[x] = mean.v, spread[x] = mean.spread;
  }
}

/// Computes the means of a row of cells and spreads them over the columns.
void spread_row(const Band& band, int cell_row) {
  const Cells cells = band.in.cells;
  const int count = cells.u.width, y = clamp(cell_row, 0, cells.u.height - 1);
  const int left = smaller(cells_reach, count), right = larger(count - cells_reach, left);
  find_means<false>(band, y, 0, left);
  find_means<true>(band, y, left, right);
  find_means<false>(band, y, right, count);
  const float* const from[] = {band.mean(0), band.mean(1), band.mean(2), cells.luma.row(y)};
  for (int which = 0; which < 4; ++which)
    for (int side = 0; side < 2; ++side) {
      float* const to = band.spread_out(which, side, cell_row);
      for (int before = -1; before < count; ++before) {  // the first and last cells reach into the margins
        const float value = from[which][clamp(before + side, 0, count - 1)];
        float* const columns = to + before * cell_side + cell_side / 2;
        for (int i = 0; i < cell_side; ++i) columns[i] = value;
      }
    }
}

/// A row of cells that is spread over the columns.
struct SpreadRow {
  const float *u, *v, *spread, *luma;

  PF_HD CellNeighborhood mean(int x) const { return {u[x], v[x], spread[x]}; }
};

/// Shrinks the flow of row y. The rows of cells around it must already be spread. `out_u` and `out_v` may be
/// xt and yt.
void shrink_row(const Band& band, int y, float* out_u, float* out_v) {
  const int width = band.width(), above = cell_before(y);
  const float share_y = share_after(y), gain = band.in.p.gain, likeness2 = band.in.p.likeness2;
  const float right = float(width), bottom = float(band.in.luma.height);
  const NormalRow normal = band.in.normal.row(y);
  const float* const luma = band.in.luma.row(y);
  const auto corner = [&](int after, int below) {
    const auto of = [&](int which) { return band.spread_out(which, after, above + below); };
    return SpreadRow{of(0), of(1), of(2), of(3)};
  };
  const SpreadRow a = corner(0, 0), b = corner(1, 0), c = corner(0, 1), d = corner(1, 1);
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) {
    const CellWeights weights =
        cell_weights(a.luma[x], b.luma[x], c.luma[x], d.luma[x], share_after(x), share_y, luma[x], likeness2);
    const CellNeighborhood mean = interpolated(a.mean(x), b.mean(x), c.mean(x), d.mean(x), weights);
    const Motion flow = shrunk(normal[x], mean, gain, right, bottom);
    out_u[x] = flow.u, out_v[x] = flow.v;
  }
}

/// Calls f(y) for each of the rows after spreading the rows of cells around it.
template <class F>
void for_rows(const Band& band, RowRange rows, F f) {
  // The first row of cells that is not yet spread.
  int spread = rows.continues ? cell_before(rows.begin - 1) + 2 : cell_before(rows.begin);
  for (int y = rows.begin; y < rows.end; ++y) {
    for (; spread <= cell_before(y) + 1; ++spread) spread_row(band, spread);
    f(y);
  }
}

}  // namespace

template <class Backend>
void shrink_flow(Backend& cpu, const ShrinkInput& in, int side, FlowPlanes unsmoothed, FlowPlanes out) {
  const FlowPlanes shrunk = side > 0 ? unsmoothed : out;
  cpu.few_rows(in.luma.height, [=](RowRange rows, void* scratch) {
    const Band band{in, static_cast<float*>(scratch)};
    for_rows(band, rows, [&](int y) { shrink_row(band, y, shrunk.u.row(y), shrunk.v.row(y)); });
  });
  if (side == 0) return;
  const View<float> from[] = {shrunk.u, shrunk.v}, to[] = {out.u, out.v};
  median(cpu, from, side, to, 2);
}

template <class Backend>
void shrink_cells(Backend& cpu, const ShrinkInput& in, const Cells& out) {
  cpu.few_rows(out.u.height, 1, [=](RowRange cell_rows, void* scratch) {
    const Band band{in, static_cast<float*>(scratch)};
    const int width = in.luma.width, height = in.luma.height;
    CellColumns columns{band.column(0), band.column(1), band.column(2), band.column(3)};
    float *const u0 = band.near(0), *const v0 = band.near(1), *const u = band.flow(0),
                 *const v = band.flow(1);
    const RowRange rows{cell_rows.begin * cell_side, smaller(cell_rows.end * cell_side, height),
                        cell_rows.continues};
    for_rows(band, rows, [&](int y) {
      const int cell = y / cell_side;
      if (y % cell_side == 0) {
        columns.clear(width);
        for (int x = 0; x < width; ++x)
          u0[x] = in.cells.u(x / cell_side, cell), v0[x] = in.cells.v(x / cell_side, cell);
      }
      shrink_row(band, y, u, v);
      const NormalRow normal = in.normal.row(y);
      const CellColumns c = columns;
#pragma GCC ivdep
      for (int x = 0; x < width; ++x)
        c.add(x, u[x] - u0[x], v[x] - v0[x], determination(normal.xx[x], normal.xy[x], normal.yy[x]));
      if (y % cell_side == cell_side - 1 || y == height - 1)
        columns.store_row(out, cell, u0, v0, width, y % cell_side + 1);
    });
  });
}

PF_STEP(shrink_flow<Cpu>);
PF_STEP(shrink_cells<Cpu>);

}  // namespace parafield
