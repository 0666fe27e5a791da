// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/variational/red_black.hpp"

// Each thread relaxes bands of rows. For a few sweeps at a time, it copies a band and the rows around it that
// these sweeps depend on, and lets the sweeps follow each other down the band, each one row behind, so only a
// few rows are in use at any time and stay in the L2 cache. The rows around a band are also relaxed by the
// bands that they belong to. What the sweeps read is split by weigh_smoothness: a row has its even columns first,
// then its odd ones, so that half a sweep reads and writes consecutive values.
namespace parafield {
namespace {

int even_columns(int width) { return (width + 1) / 2; }

/// Writes a row's even columns to `even` and the others to `odd`.
void split(const float* row, int width, float* even, float* odd) {
  const int odds = width / 2;
#pragma GCC ivdep
  for (int k = 0; k < odds; ++k) even[k] = row[2 * k], odd[k] = row[2 * k + 1];
  if (width % 2 != 0) even[odds] = row[width - 1];
}

/// Spreads values at the middles of cells over the columns. `mid`: a row of cells. `twice_first`: twice the
/// position of column 0.
void spread(const float* mid, int cells, int width, int twice_first, float* out) {
  const auto value_at = [=](int x) {
    const BetweenCells at = between_cells(2 * x + twice_first, cells);
    return interpolate(mid[at.cell], mid[smaller(at.cell + 1, cells - 1)], at.share);
  };
  const int first = smaller((slope_cell - twice_first) / 2, width);  // first column not before cell 0's middle
  int x = 0;
  for (; x < first; ++x) out[x] = value_at(x);
  for (; x + slope_cell <= smaller(width, first + slope_cell * (cells - 1)); x += slope_cell) {
    float share[slope_cell];
    for (int k = 0; k < slope_cell; ++k) share[k] = between_cells(2 * (first + k) + twice_first, cells).share;
    const int cell = (x - first) / slope_cell;
    const float a = mid[cell], b = mid[cell + 1];
    for (int k = 0; k < slope_cell; ++k) out[x + k] = interpolate(a, b, share[k]);
  }
  for (; x < width; ++x) out[x] = value_at(x);
}

/// Writes the slopes at a row of edges. `slope`: slopes of u and v along one axis. `twice_x`, `twice_y`: twice
/// the position of the first edge. `mid`: scratch for a row of cells.
void slopes_of_row(const View<float>* slope, int twice_x, int twice_y, int width, float* mid,
                   float* const* out) {
  const int cells = slope[0].width, rows = slope[0].height;
  const BetweenCells at = between_cells(twice_y, rows);
  for (int i = 0; i < 2; ++i) {
    const float *const above = slope[i].row(at.cell), *const below = slope[i].row(smaller(at.cell + 1, rows - 1));
    for (int c = 0; c < cells; ++c) mid[c] = interpolate(above[c], below[c], at.share);
    spread(mid, cells, width, twice_x, out[i]);
  }
}

/// Edges of a row of pixels: slopes of u and v, then their products with the weights.
struct EdgeRow {
  float* weight;
  float* slope[2];
};

/// A thread's part of weigh_smoothness.
struct Weights {
  RefinementPlanes planes;
  FlowPlanes flow;
  float smoothness;
  float* scratch;

  int width() const { return flow.u.width; }
  int height() const { return flow.u.height; }
  float* row(int i) const { return scratch + i * refinement_pitch(width()) + refinement_margin; }
  EdgeRow along() const { return {row(0), {row(1), row(2)}}; }
  EdgeRow down(int y) const {
    const int first = 3 + 3 * (y & 1);
    return {row(first), {row(first + 1), row(first + 2)}};
  }
  float* mid() const { return row(9); }
  float* deviation() const { return row(10); }
  float* equations(int i) const { return row(11 + i); }  // i: 0 to 4

  /// Weighs the edges of row y.
  void weigh(int y) const {
    const int width = this->width();
    const EdgeRow along = this->along(), down = this->down(y);
    const bool last = y == height() - 1;
    slopes_of_row(planes.slopes.slope, 1, 2 * y, width, mid(), along.slope);
    slopes_of_row(planes.slopes.slope + 2, 0, 2 * y + 1, width, mid(), down.slope);
    const float *const u = flow.u.row(y), *const v = flow.v.row(y), *const u_below = flow.u.row(last ? y : y + 1),
                *const v_below = flow.v.row(last ? y : y + 1), *const edge_x = planes.edge_x.row(y),
                *const edge_y = planes.edge_y.row(y);
    float *const weight_x = along.weight, *const along_u = along.slope[0], *const along_v = along.slope[1],
                 *const weight_y = down.weight, *const down_u = down.slope[0], *const down_v = down.slope[1],
                 *const apart = deviation();
    const float strength = smoothness;
#pragma GCC ivdep
    for (int x = 0; x < width - 1; ++x)
      apart[x] = squares(u[x + 1] - u[x] - along_u[x], v[x + 1] - v[x] - along_v[x]);
    apart[width - 1] = 0;
    if (!last) {
#pragma GCC ivdep
      for (int x = 0; x < width; ++x)
        apart[x] += squares(u_below[x] - u[x] - down_u[x], v_below[x] - v[x] - down_v[x]);
    }
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) {
      const float weight = smoothness_weight(strength, apart[x]);
      weight_x[x] = edge_x[x] * weight, weight_y[x] = edge_y[x] * weight;
      along_u[x] *= weight_x[x], along_v[x] *= weight_x[x];
      down_u[x] *= weight_y[x], down_v[x] *= weight_y[x];
    }
    weight_x[-1] = along_u[-1] = along_v[-1] = 0;
  }
  static float squares(float a, float b) { return fma(a, a, b * b); }

  /// Writes the weights of row y and its pixels' equations, split into even and odd columns. The rows y and y - 1 must be weighed.
  void write(int y) const {
    const EdgeRow along = this->along(), down = this->down(y), above = this->down(y + 1);
    const int width = this->width();
    if (y == 0)
      for (float* const row : {above.weight, above.slope[0], above.slope[1]})
        for (int x = 0; x < width; ++x) row[x] = 0;
    const float *const weight_x = along.weight, *const along_u = along.slope[0], *const along_v = along.slope[1];
    const float *const weight_y = down.weight, *const down_u = down.slope[0], *const down_v = down.slope[1];
    const float *const weight_up = above.weight, *const up_u = above.slope[0], *const up_v = above.slope[1];
    const float *const u = flow.u.row(y), *const v = flow.v.row(y);
    float* const data[] = {planes.data.xx.row(y), planes.data.xy.row(y), planes.data.yy.row(y),
                           planes.data.xt.row(y), planes.data.yt.row(y)};
    const float *const xx = data[0], *const xy = data[1], *const yy = data[2], *const xt = data[3],
                *const yt = data[4];
    float *const inverse_xx = equations(0), *const inverse_xy = equations(1), *const inverse_yy = equations(2),
                 *const side_u = equations(3), *const side_v = equations(4);
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) {
      const float around = (weight_x[x - 1] + weight_x[x]) + (weight_up[x] + weight_y[x]);
      const PixelEquations pixel = pixel_equations(
          xx[x], xy[x], yy[x], xt[x], yt[x], around, (along_u[x - 1] - along_u[x]) + (up_u[x] - down_u[x]),
          (along_v[x - 1] - along_v[x]) + (up_v[x] - down_v[x]), u[x], v[x]);
      inverse_xx[x] = pixel.xx, inverse_xy[x] = pixel.xy, inverse_yy[x] = pixel.yy, side_u[x] = pixel.u,
      side_v[x] = pixel.v;
    }
    const auto split_to = [=](const float* row, float* to) { split(row, width, to, to + even_columns(width)); };
    for (int i = 0; i < 5; ++i) split_to(equations(i), data[i]);
    split_to(weight_x, planes.weight_x.row(y));
    split_to(weight_y, planes.weight_y.row(y));
  }
};

/// A row of flow with its even and odd columns apart.
struct SplitRow {
  float* column[2];
};

/// A band of rows with the rows around it, which one thread relaxes.
struct Band {
  RefinementPlanes planes;
  FlowPlanes from;
  int top;  ///< first row that is copied
  float* scratch;

  int width() const { return from.u.width; }
  int height() const { return from.u.height; }
  float* row(int i) const { return scratch + i * refinement_pitch(width()) + refinement_margin; }
  /// A row whose even columns have a 0 after them, and whose odd columns have one before and after them.
  SplitRow split_row(int i) const {
    constexpr int gap = 8;
    return {{row(i), row(i) + even_columns(width()) + gap}};
  }
  SplitRow u(int y) const { return split_row(2 * (y - top) + 2); }
  SplitRow v(int y) const { return split_row(2 * (y - top) + 3); }

  void copy(int y) const {
    const int width = this->width();
    const View<float> planes[] = {from.u, from.v};
    const SplitRow rows[] = {u(y), v(y)};
    for (int i = 0; i < 2; ++i) {
      float *const even = rows[i].column[0], *const odd = rows[i].column[1];
      split(planes[i].row(y), width, even, odd);
      even[even_columns(width)] = odd[-1] = odd[width / 2] = 0;
    }
  }

  /// Relaxes the pixels of row y whose column and row add up to an even (`odd` 0) or odd number.
  void relax(int y, int odd, float factor) const {
    const int width = this->width(), last = height() - 1, evens = even_columns(width);
    const int own = (y + odd) & 1, offset = own * evens, other_offset = evens - offset;
    const float* const none = row(0);  // zeros
    const float *const weights = planes.weight_x.row(y), *const weight = weights + offset,
                *const weight_before = weights + other_offset - (1 - own),
                *const weight_below = planes.weight_y.row(y) + offset,
                *const weight_above = y > 0 ? planes.weight_y.row(y - 1) + offset : none;
    const float *const xx = planes.data.xx.row(y) + offset, *const xy = planes.data.xy.row(y) + offset,
                *const yy = planes.data.yy.row(y) + offset, *const side_u = planes.data.xt.row(y) + offset,
                *const side_v = planes.data.yt.row(y) + offset;
    float *const u = this->u(y).column[own], *const v = this->v(y).column[own];
    const float *const u_after = this->u(y).column[1 - own] + own, *const v_after = this->v(y).column[1 - own] + own;
    const float *const u_above = y > 0 ? this->u(y - 1).column[own] : none,
                *const v_above = y > 0 ? this->v(y - 1).column[own] : none,
                *const u_below = y < last ? this->u(y + 1).column[own] : none,
                *const v_below = y < last ? this->v(y + 1).column[own] : none;
    const auto relaxed_at = [=](int k, float before) {
      const float sum_u = sum_of_neighbors(side_u[k], before, u_after[k - 1], weight[k], u_after[k],
                                           weight_above[k], u_above[k], weight_below[k], u_below[k]),
                  sum_v = sum_of_neighbors(side_v[k], before, v_after[k - 1], weight[k], v_after[k],
                                           weight_above[k], v_above[k], weight_below[k], v_below[k]);
      return relaxed(xx[k], xy[k], yy[k], {sum_u, sum_v}, {u[k], v[k]}, factor);
    };
    const int first = 1 - own, count = own == 0 ? evens : width / 2;
    if (own == 0) {
      const Motion flow = relaxed_at(0, 0);
      u[0] = flow.u, v[0] = flow.v;
    }
#pragma GCC ivdep
    for (int k = first; k < count; ++k) {
      const Motion flow = relaxed_at(k, weight_before[k]);
      u[k] = flow.u, v[k] = flow.v;
    }
  }
};

/// Writes a row from its even and odd columns, close to `start` unless that is null. `to` may be `start`.
void join(const SplitRow& row, const float* start, int width, float* to) {
  const float *const even = row.column[0], *const odd = row.column[1];
  const int odds = width / 2;
  if (start) {
#pragma GCC ivdep
    for (int k = 0; k < odds; ++k) {
      const float before = start[2 * k], after = start[2 * k + 1];
      to[2 * k] = limited(even[k], before), to[2 * k + 1] = limited(odd[k], after);
    }
    if (width % 2 != 0) to[width - 1] = limited(even[odds], start[width - 1]);
  } else {
#pragma GCC ivdep
    for (int k = 0; k < odds; ++k) to[2 * k] = even[k], to[2 * k + 1] = odd[k];
    if (width % 2 != 0) to[width - 1] = even[odds];
  }
}

/// Sweeps `first` to `first` + count - 1 of a band of rows. `start`: flow to stay close to, or empty.
void relax_band(const RefinementPlanes& planes, FlowPlanes from, FlowPlanes start, int first, int count,
                RowRange rows, float* scratch, FlowPlanes to) {
  const int height = from.u.height, width = from.u.width, steps = 2 * count;
  const Band band{planes, from, larger(rows.begin - steps, 0), scratch};
  const int bottom = smaller(rows.end + steps, height);
  for (int k = 0; k < even_columns(width); ++k) band.row(0)[k] = 0;
  for (int y = band.top; y < bottom; ++y) band.copy(y);
  for (int front = band.top; front < bottom + steps; ++front)
    for (int step = 0; step < steps; ++step) {
      const int y = front - step, reach = steps - 1 - step;
      if (y < larger(rows.begin - reach, 0) || y >= smaller(rows.end + reach, height)) continue;
      band.relax(y, step & 1, relaxation(first + step / 2));
    }
  for (int y = rows.begin; y < rows.end; ++y) {
    const SplitRow relaxed[] = {band.u(y), band.v(y)};
    const View<float> planes_to[] = {to.u, to.v}, planes_start[] = {start.u, start.v};
    for (int i = 0; i < 2; ++i)
      join(relaxed[i], start.u ? planes_start[i].row(y) : nullptr, width, planes_to[i].row(y));
  }
}

}  // namespace

template <class Backend>
void weigh_smoothness(Backend& cpu, const RefinementPlanes& planes, FlowPlanes flow, float smoothness) {
  cpu.few_rows(flow.u.height, [=](RowRange rows, void* scratch) {
    const Weights weights{planes, flow, smoothness, static_cast<float*>(scratch)};
    if (!rows.continues && rows.begin > 0) weights.weigh(rows.begin - 1);
    for (int y = rows.begin; y < rows.end; ++y) {
      weights.weigh(y);
      weights.write(y);
    }
  });
}

template <class Backend>
void relax(Backend& cpu, const RefinementPlanes& planes, FlowPlanes flow, int sweeps, FlowPlanes result) {
  each_pass(planes, flow, sweeps, sweeps_at_once, result,
            [&](FlowPlanes from, FlowPlanes start, int first, int count, FlowPlanes to) {
              cpu.bands(to.u.height, relaxed_rows, [=](RowRange rows, void* scratch) {
                relax_band(planes, from, start, first, count, rows, static_cast<float*>(scratch), to);
              });
            });
}

PF_STEP(weigh_smoothness<Cpu>);
PF_STEP(relax<Cpu>);

}  // namespace parafield
