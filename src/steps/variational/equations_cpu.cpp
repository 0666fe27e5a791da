// SPDX-License-Identifier: MIT
#include "steps/variational/color_edges.hpp"
#include "steps/variational/data_rows.hpp"

namespace parafield {
namespace {

/// Spreads values at the middles of cells over the columns. `mid`: a row of cells. `twice_first`: twice the
/// position of column 0.
void spread(const float* mid, int cells, int width, int twice_first, float* out) {
  const auto value_at = [=](int x) {
    const BetweenCells at = between_cells(2 * x + twice_first, cells);
    return interpolate(mid[at.cell], mid[smaller(at.cell + 1, cells - 1)], at.share);
  };
  const int first =
      smaller((slope_cell - twice_first) / 2, width);  // first column not before cell 0's middle
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

/// Writes the slopes at a row of edges. `slope`: slopes of u and v along one axis. `twice_x`, `twice_y`:
/// twice the position of the first edge. `mid`: scratch for a row of cells.
void slopes_of_row(const View<float>* slope, int twice_x, int twice_y, int width, float* mid,
                   float* const* out) {
  const int cells = slope[0].width, rows = slope[0].height;
  const BetweenCells at = between_cells(twice_y, rows);
  for (int i = 0; i < 2; ++i) {
    const float *const above = slope[i].row(at.cell), *const below =
                                                          slope[i].row(smaller(at.cell + 1, rows - 1));
    for (int c = 0; c < cells; ++c) mid[c] = interpolate(above[c], below[c], at.share);
    spread(mid, cells, width, twice_x, out[i]);
  }
}

/// Edges of a row of pixels: slopes of u and v, then their products with the weights.
struct EdgeRow {
  float* weight;
  float* slope[2];
};

/// How a thread weighs smoothness and writes equations, row after row.
struct Weights {
  ComparedFrames frames;
  RefinementPlanes planes;
  FlowPlanes flow;
  float smoothness;
  float* scratch;

  static constexpr int rows = 13;  ///< of scratch memory

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

  /// Weighs the edges of row y.
  void weigh(int y) const {
    const int width = this->width();
    const EdgeRow along = this->along(), down = this->down(y);
    const bool last = y == height() - 1;
    slopes_of_row(planes.slopes.slope, 1, 2 * y, width, mid(), along.slope);
    slopes_of_row(planes.slopes.slope + 2, 0, 2 * y + 1, width, mid(), down.slope);
    const float *const u = flow.u.row(y), *const v = flow.v.row(y),
                       *const u_below = flow.u.row(last ? y : y + 1),
                       *const v_below = flow.v.row(last ? y : y + 1);
    float *const edge_x = row(11), *const edge_y = row(12);
    weigh_color_edges(frames, y, edge_x, edge_y);
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

  /// Writes the weights of row y and its pixels' equations. The rows y and y - 1 must be weighed, and `data`
  /// must have computed row y.
  void write(int y, const Band& data) const {
    const EdgeRow along = this->along(), down = this->down(y), above = this->down(y + 1);
    const int width = this->width();
    if (y == 0)
      for (float* const row : {above.weight, above.slope[0], above.slope[1]})
        for (int x = 0; x < width; ++x) row[x] = 0;
    const float *const weight_x = along.weight, *const along_u = along.slope[0],
                       *const along_v = along.slope[1];
    const float *const weight_y = down.weight, *const down_u = down.slope[0], *const down_v = down.slope[1];
    const float *const weight_up = above.weight, *const up_u = above.slope[0], *const up_v = above.slope[1];
    const float *const u = flow.u.row(y), *const v = flow.v.row(y);
    const float *const xx = data.sum(0), *const xy = data.sum(1), *const yy = data.sum(2),
                       *const xt = data.sum(3), *const yt = data.sum(4);
    const EquationPlanes& equations = planes.equations;
    float *const to_xx = equations.xx.row(y), *const to_xy = equations.xy.row(y),
                 *const to_yy = equations.yy.row(y), *const to_u = equations.side_u.row(y),
                 *const to_v = equations.side_v.row(y), *const to_x = planes.weight_x.row(y),
                 *const to_y = planes.weight_y.row(y);
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) {
      const float around = (weight_x[x - 1] + weight_x[x]) + (weight_up[x] + weight_y[x]);
      const PixelEquations pixel = pixel_equations(
          xx[x], xy[x], yy[x], xt[x], yt[x], around, (along_u[x - 1] - along_u[x]) + (up_u[x] - down_u[x]),
          (along_v[x - 1] - along_v[x]) + (up_v[x] - down_v[x]), u[x], v[x]);
      to_xx[x] = pixel.xx, to_xy[x] = pixel.xy, to_yy[x] = pixel.yy, to_u[x] = pixel.u, to_v[x] = pixel.v;
      to_x[x] = weight_x[x], to_y[x] = weight_y[x];
    }
  }
};

static_assert(data_rows + Weights::rows <= other_rows);

}  // namespace

template <class Backend>
void build_equations(Backend& cpu, const ComparedFrames& frames, const RefinementPlanes& planes,
                     FlowPlanes flow, FlowPlanes back, float smoothness) {
  cpu.few_rows(flow.u.height, [=](RowRange rows, void* scratch) {
    float* const memory = static_cast<float*>(scratch);
    const Band band{frames, flow, back, memory};
    const Weights weights{frames, planes, flow, smoothness,
                          memory + data_rows * refinement_pitch(flow.u.width)};
    DataRows data(band, rows);
    if (!rows.continues && rows.begin > 0) weights.weigh(rows.begin - 1);
    for (int y = rows.begin; y < rows.end; ++y) {
      data.compute(y);
      weights.weigh(y);
      weights.write(y, band);
    }
  });
}

PF_STEP(build_equations<Cpu>);

}  // namespace parafield
