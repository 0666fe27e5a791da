// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "gradient/adaptive_ridge/tensors/tensors.hpp"

// A thread goes down rows of cells. It keeps the filtered images of the instants in rings of three
// rows and the sums of products along rows in rings of seven, so that each row is made once by it and
// stays in the cache.
namespace parafield {
namespace {

constexpr int planes = Products::count;

struct Band {
  WarpFrames frames;
  FlowPlanes flow;
  TensorWeights p;
  NormalPlanes out;
  Cells cells;
  bool with_luma;
  float* scratch;

  int width() const { return flow.u.width; }
  int height() const { return flow.u.height; }
  /// Column 0 of a row of scratch memory.
  float* row(int i) const { return scratch + i * ridge_pitch(width()) + ridge_margin; }
  float* warped_row(int frame) const { return row(RidgeRows::warped + frame); }
  float* image(int which) const { return row(RidgeRows::images + which); }
  float* filtered(int instant, int which, int y) const {
    return row(RidgeRows::filtered + 9 * instant + 3 * which + y % 3);
  }
  float* product(int plane) const { return row(RidgeRows::products + plane); }
  float* along(int plane, int y) const { return row(RidgeRows::along + 7 * plane + y % 7); }
  float* sum(int plane) const { return row(RidgeRows::sums + plane); }
  CellColumns columns() const {
    constexpr int first = RidgeRows::columns;
    return {row(first), row(first + 1), row(first + 2), row(first + 3)};
  }
  float* luma() const { return row(RidgeRows::luma); }
  float* near(int which) const { return row(RidgeRows::near + which); }
};

/// Repeats the values at the border `reach` times on both sides.
void extend(float* row, int width, int reach) {
  for (int x = 1; x <= reach; ++x) row[-x] = row[0], row[width - 1 + x] = row[width - 1];
}

/// Columns whose warp is computed together.
constexpr int warp_block = 16;

/// Row y of a frame, warped by `step` times the flow, at the columns from `begin` to `end` - 1.
void warp_pixels(View<const float> frame, FlowPlanes flow, float step, int y, int begin, int end,
                 float* __restrict out) {
  const int width = frame.width, height = frame.height, pitch = int(frame.stride());
  const float line = float(y);
  const float *const pixels = frame.data, *const u = flow.u.row(y), *const v = flow.v.row(y);
#pragma GCC ivdep
  for (int x = begin; x < end; ++x)
    out[x] = warped(pixels, pitch, width, height, fma(step, u[x], float(x)), fma(step, v[x], line));
}

/// The same at warp_block columns from `begin` on, up to three times as fast. Where flow changes slowly, all
/// matches are shifted by the same number of whole pixels, or by one of two, along x and along y. For each
/// shift, the pixels to read lie side by side. Returns false, without a result, if the shifts differ more, or
/// if a match lies near the border.
bool warp_alike(View<const float> frame, FlowPlanes flow, float step, int y, int begin,
                float* __restrict out) {
  const int width = frame.width, height = frame.height, pitch = int(frame.stride());
  const float *const u = flow.u.row(y) + begin, *const v = flow.v.row(y) + begin;
  int column[warp_block], row[warp_block];  // where a match's shift puts the first pixel of the block
  float share_x[warp_block], share_y[warp_block];
  int left = width, right = 0, top = height, bottom = 0, inside = 1;
  for (int i = 0; i < warp_block; ++i) {
    const Match match = locate(fma(step, u[i], float(begin + i)), fma(step, v[i], float(y)), width, height);
    column[i] = match.x - i, row[i] = match.y, share_x[i] = match.share_x, share_y[i] = match.share_y;
    left = smaller(left, column[i]), right = larger(right, column[i]);
    top = smaller(top, row[i]), bottom = larger(bottom, row[i]);
    inside &= int(match.inside);
  }
  const bool reads_inside =
      (left >= 1) & (right + warp_block + 1 < width) & (top >= 1) & (bottom + 2 < height);
  if (!inside | !reads_inside | (right - left > 1) | (bottom - top > 1)) return false;
  for (int down = top; down <= bottom; ++down)
    for (int along = left; along <= right; ++along) {
      const float* const at = frame.data + (down - 1) * pitch + along - 1;
#pragma GCC ivdep
      for (int i = 0; i < warp_block; ++i) {
        const float value = mixed_cubic(at + i, pitch, cubic_shares(share_x[i]), cubic_shares(share_y[i]));
        const bool is_this = (column[i] == along) & (row[i] == down);
        out[begin + i] = is_this ? value : out[begin + i];
      }
    }
  return true;
}

/// Row y of a frame, warped by `step` times the flow.
void warp_row(View<const float> frame, FlowPlanes flow, float step, int y, float* out) {
  int x = 0;
  for (; x + warp_block <= frame.width; x += warp_block)
    if (!warp_alike(frame, flow, step, y, x, out)) warp_pixels(frame, flow, step, y, x, x + warp_block, out);
  warp_pixels(frame, flow, step, y, x, frame.width, out);
}

/// Warps row y of the frames, and filters each instant's images along it.
template <int Frames>
void filter_row(const Band& band, int y) {
  constexpr int instants = instants_of(Frames), middle = (Frames - 1) / 2;
  const int width = band.width();
  const float prefilter = band.p.prefilter;
  const float* at[Frames];
  for (int i = 0; i < Frames; ++i) {
    at[i] = i == middle ? band.frames.frame[i].row(y) : band.warped_row(i);
    if (i != middle) warp_row(band.frames.frame[i], band.flow, float(i - middle), y, band.warped_row(i));
  }
  for (int i = 0; i < instants; ++i) {
    float *const mean = band.image(0), *const difference = band.image(1);
    const float *const before = at[i], *const here = at[i + 1], *const after = at[Frames == 2 ? 1 : i + 2];
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) {
      const Instant images = instant<Frames>(before[x], here[x], after[x], prefilter);
      mean[x] = images.mean;
      difference[x] = images.difference;
    }
    extend(mean, width, 1);
    extend(difference, width, 1);
    float* const slope = band.filtered(i, 0, y);
    float* const smooth = band.filtered(i, 1, y);
    float* const change = band.filtered(i, 2, y);
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) {
      slope[x] = central(mean[x - 1], mean[x + 1]);
      smooth[x] = smoothed(mean[x - 1], mean[x], mean[x + 1], prefilter);
      change[x] = smoothed(difference[x - 1], difference[x], difference[x + 1], prefilter);
    }
  }
}

/// Makes the products of row y, and their sums along it.
template <int Frames>
void product_row(const Band& band, int y) {
  constexpr int instants = instants_of(Frames);
  const int width = band.width(), above = larger(y - 1, 0), below = smaller(y + 1, band.height() - 1);
  const TensorWeights p = band.p;
  const float* const u = band.flow.u.row(y);
  const float* const v = band.flow.v.row(y);
  float* out[planes];
  for (int i = 0; i < planes; ++i) out[i] = band.product(i);
  for (int i = 0; i < instants; ++i) {
    const float *const slope0 = band.filtered(i, 0, above), *const slope1 = band.filtered(i, 0, y),
                       *const slope2 = band.filtered(i, 0, below);
    const float *const smooth0 = band.filtered(i, 1, above), *const smooth2 = band.filtered(i, 1, below);
    const float *const change0 = band.filtered(i, 2, above), *const change1 = band.filtered(i, 2, y),
                       *const change2 = band.filtered(i, 2, below);
    const float weight = weight_of(i, instants);
    const bool first = i == 0;
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) {
      const Products part =
          products(smoothed(slope0[x], slope1[x], slope2[x], p.prefilter), central(smooth0[x], smooth2[x]),
                   smoothed(change0[x], change1[x], change2[x], p.prefilter), u[x], v[x], weight, p);
      out[0][x] = first ? part.xx : out[0][x] + part.xx;
      out[1][x] = first ? part.xy : out[1][x] + part.xy;
      out[2][x] = first ? part.yy : out[2][x] + part.yy;
      out[3][x] = first ? part.xt : out[3][x] + part.xt;
      out[4][x] = first ? part.yt : out[4][x] + part.yt;
      out[5][x] = first ? part.tt : out[5][x] + part.tt;
    }
  }
  for (int i = 0; i < planes; ++i) {
    const float* const from = out[i];
    float* const to = band.along(i, y);
    extend(out[i], width, window_reach);
#pragma GCC ivdep
    for (int x = 0; x < width; ++x)
      to[x] = windowed(from[x - 3], from[x - 2], from[x - 1], from[x], from[x + 1], from[x + 2], from[x + 3],
                       p.window);
  }
}

/// Makes the normal equations of row y, and adds its solutions to the cells' sums.
void solve_row(const Band& band, int y) {
  const int width = band.width(), bottom = band.height() - 1;
  const TensorWeights p = band.p;
  float* sums[planes];
  for (int i = 0; i < planes; ++i) {
    const float* at[7];
    for (int k = 0; k < 7; ++k) at[k] = band.along(i, clamp(y + k - 3, 0, bottom));
    float* const to = sums[i] = band.sum(i);
#pragma GCC ivdep
    for (int x = 0; x < width; ++x)
      to[x] = windowed(at[0][x], at[1][x], at[2][x], at[3][x], at[4][x], at[5][x], at[6][x], p.window);
  }
  const float *const u = band.flow.u.row(y), *const v = band.flow.v.row(y), *const u0 = band.near(0),
                     *const v0 = band.near(1);
  float *const xx = band.out.xx.row(y), *const xy = band.out.xy.row(y), *const yy = band.out.yy.row(y),
               *const xt = band.out.xt.row(y), *const yt = band.out.yt.row(y),
               *const residual = band.out.residual.row(y);
  const CellColumns columns = band.columns();
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) {
    const Products sum{sums[0][x], sums[1][x], sums[2][x], sums[3][x], sums[4][x], sums[5][x]};
    const PlainSolution solution = plain_solution(sum, u[x], v[x]);
    xx[x] = sum.xx, xy[x] = sum.xy, yy[x] = sum.yy, xt[x] = sum.xt, yt[x] = sum.yt;
    residual[x] = solution.residual;
    columns.add(x, solution.u - u0[x], solution.v - v0[x], determination(sum.xx, sum.xy, sum.yy));
  }
}

/// Stores the mean brightness of row `cell` of the cells, made of rows `top` to `end` - 1 of pixels.
void store_lumas(const Band& band, int cell, int top, int end) {
  const int width = band.width();
  float* const sums = band.luma();
  for (int x = 0; x < width; ++x) sums[x] = 0;
  for (int y = top; y < end; ++y) {
    const float* const luma = band.frames.reference().row(y);
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) sums[x] += luma[x];
  }
  for (int x = 0; x < band.cells.luma.width; ++x) {
    const int left = x * cell_side, count = smaller(cell_side, width - left);
    store_luma(band.cells, x, cell, cell_total(sums + left, count), count * (end - top));
  }
}

template <int Frames>
void solve_rows(const Band& band, RowRange rows) {
  const int width = band.width(), height = band.height();
  int multiplied = RowRange{rows.begin * cell_side, 0, rows.continues}.first_new(window_reach, height);
  int filtered = RowRange{multiplied, 0, rows.continues}.first_new(1, height);
  for (int cell = rows.begin; cell < rows.end; ++cell) {
    const int top = cell * cell_side, end = smaller(top + cell_side, height);
    const float *const u = band.flow.u.row(top), *const v = band.flow.v.row(top);
    float *const u0 = band.near(0), *const v0 = band.near(1);
    for (int x = 0; x < width; ++x)
      u0[x] = u[x / cell_side * cell_side], v0[x] = v[x / cell_side * cell_side];
    band.columns().clear(width);
    for (int y = top; y < end; ++y) {
      for (; multiplied <= smaller(y + window_reach, height - 1); ++multiplied) {
        for (; filtered <= smaller(multiplied + 1, height - 1); ++filtered)
          filter_row<Frames>(band, filtered);
        product_row<Frames>(band, multiplied);
      }
      solve_row(band, y);
    }
    band.columns().store_row(band.cells, cell, u0, v0, width, end - top);
    if (band.with_luma) store_lumas(band, cell, top, end);
  }
}

}  // namespace

template <class Backend>
void ridge_tensors(Backend& cpu, const WarpFrames& frames, StartingFlow start, const TensorWeights& weights,
                   const NormalPlanes& out, const Cells& cells, bool with_luma) {
  if (start.coarser.u) enlarge_flow(cpu, start.coarser, start.flow);
  cpu.few_rows(cells.u.height, [=](RowRange rows, void* scratch) {
    const Band band{frames, start.flow, weights, out, cells, with_luma, static_cast<float*>(scratch)};
    switch (frames.count) {
      case 2:
        return solve_rows<2>(band, rows);
      case 3:
        return solve_rows<3>(band, rows);
      default:
        return solve_rows<5>(band, rows);
    }
  });
}

PF_STEP(ridge_tensors<Cpu>);

}  // namespace parafield
