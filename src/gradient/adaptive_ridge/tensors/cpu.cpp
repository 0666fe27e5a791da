// SPDX-License-Identifier: MIT
#include "gradient/adaptive_ridge/tensors/band.hpp"

// Each thread works down rows of cells. It keeps the filtered images of the instants in rings of three rows
// and the sums of products along rows in rings of ten. Each of its rows is therefore computed once and stays
// in the L2 cache.
//
// Time per pixel on one thread of an AMD EPYC with AVX-512 at 3.9 GHz, 640x480: warp 0.9 ns, filters 0.6,
// products and their sums along rows 0.5, sums over windows 0.45, solutions and cells 0.7.
namespace parafield {
namespace {

constexpr int tensor_planes = Products::count;
constexpr int at_once = RidgeRows::at_once;  // rows that are solved together

struct TensorBand : CellBand {
  WarpFrames frames;

  float* warped_row(int frame) const { return row(RidgeRows::warped + frame); }
  float* image(int which) const { return row(RidgeRows::images + which); }
  float* filtered(int instant, int which, int y) const {
    return row(RidgeRows::filtered + 9 * instant + 3 * which + y % 3);
  }
  float* product(int plane) const { return row(RidgeRows::products + plane); }
  float* along(int plane, int y) const {
    return row(RidgeRows::along + RidgeRows::rows_along * plane + y % RidgeRows::rows_along);
  }
};

/// Filters images along a row, whose margins must be filled. Writes up to 15 values past its end.
void filter_along(const float* mean, const float* difference, int width, float prefilter, float* slope,
                  float* smooth, float* change) {
#ifdef PF_HAS_FLOATS
  constexpr int count = Floats::count;
  const Floats share(prefilter);
  Floats m0 = Floats::load(mean - count), m1 = Floats::load(mean), d0 = Floats::load(difference - count),
         d1 = Floats::load(difference);
  for (int x = 0; x < width; x += count) {
    const Floats m2 = Floats::load(mean + x + count), d2 = Floats::load(difference + x + count);
    const Floats before = Floats::shifted<count - 1>(m0, m1), after = Floats::shifted<1>(m1, m2);
    central(before, after).store(slope + x);
    smoothed(before, m1, after, share).store(smooth + x);
    smoothed(Floats::shifted<count - 1>(d0, d1), d1, Floats::shifted<1>(d1, d2), share).store(change + x);
    m0 = m1, m1 = m2, d0 = d1, d1 = d2;
  }
#else
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) {
    slope[x] = central(mean[x - 1], mean[x + 1]);
    smooth[x] = smoothed(mean[x - 1], mean[x], mean[x + 1], prefilter);
    change[x] = smoothed(difference[x - 1], difference[x], difference[x + 1], prefilter);
  }
#endif
}

/// Warps row y of the frames and filters each instant's images along it.
template <int Frames>
void filter_row(const TensorBand& band, int y) {
  constexpr int instants = instants_of(Frames), middle = (Frames - 1) / 2;
  const int width = band.width();
  const float prefilter = band.p.prefilter;
  const FlowRow flow{band.flow.u.row(y), band.flow.v.row(y)};
  const float* at[Frames];
  for (int i = 0; i < Frames; ++i) {
    at[i] = i == middle ? band.frames.frame[i].row(y) : band.warped_row(i);
    if (i != middle) warp_row(band.frames.frame[i], flow, float(i - middle), y, band.warped_row(i));
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
    filter_along(mean, difference, width, prefilter, slope, smooth, change);
  }
}

/// Sums over windows along a row, whose margins must be filled. Writes up to 15 values past its end.
void sum_along(const float* from, int width, const float (&window)[window_reach + 1], float* to) {
#ifdef PF_HAS_FLOATS
  // Seven shifted loads would take twice as long, because most of them cross cache lines.
  constexpr int count = Floats::count;
  const Floats taps[] = {Floats(window[0]), Floats(window[1]), Floats(window[2]), Floats(window[3])};
  Floats before = Floats::load(from - count), here = Floats::load(from);
  for (int x = 0; x < width; x += count) {
    const Floats after = Floats::load(from + x + count);
    windowed(Floats::shifted<count - 3>(before, here), Floats::shifted<count - 2>(before, here),
             Floats::shifted<count - 1>(before, here), here, Floats::shifted<1>(here, after),
             Floats::shifted<2>(here, after), Floats::shifted<3>(here, after), taps)
        .store(to + x);
    before = here, here = after;
  }
#else
#pragma GCC ivdep
  for (int x = 0; x < width; ++x)
    to[x] = windowed(from[x - 3], from[x - 2], from[x - 1], from[x], from[x + 1], from[x + 2], from[x + 3],
                     window);
#endif
}

/// Computes the products of row y and their sums along the row.
template <int Frames>
void product_row(const TensorBand& band, int y) {
  constexpr int instants = instants_of(Frames);
  const int width = band.width(), above = larger(y - 1, 0), below = smaller(y + 1, band.height() - 1);
  const TensorWeights p = band.p;
  const float* const u = band.flow.u.row(y);
  const float* const v = band.flow.v.row(y);
  float* out[tensor_planes];
  for (int i = 0; i < tensor_planes; ++i) out[i] = band.product(i);
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
  for (int i = 0; i < tensor_planes; ++i) {
    extend(out[i], width, window_reach);
    sum_along(out[i], width, p.window, band.along(i, y));
  }
}

/// Computes the normal equations of rows y to y + Count - 1 and adds their solutions to the cells' sums.
/// These rows read nearly the same sums along rows, so the sums are loaded once for all of them, one chunk of
/// columns at a time.
template <int Count>
void solve_rows(const TensorBand& band, int y) {
  constexpr int chunk = 64, reads = Count + 2 * window_reach;
  const int width = band.width(), bottom = band.height() - 1;
  const TensorWeights p = band.p;
  const float* at[tensor_planes][reads];
  for (int i = 0; i < tensor_planes; ++i)
    for (int k = 0; k < reads; ++k) at[i][k] = band.along(i, clamp(y + k - window_reach, 0, bottom));
  for (int begin = 0; begin < width; begin += chunk) {
    const int end = smaller(begin + chunk, width);
    float sums[tensor_planes][Count][chunk];
    for (int i = 0; i < tensor_planes; ++i) {
      const float* rows[reads];
      PF_UNROLL
      for (int k = 0; k < reads; ++k) rows[k] = at[i][k] + begin;
      float(&to)[Count][chunk] = sums[i];
#pragma GCC ivdep
      for (int x = 0; x < end - begin; ++x) {
        float values[reads];
        PF_UNROLL
        for (int k = 0; k < reads; ++k) values[k] = rows[k][x];
        PF_UNROLL
        for (int k = 0; k < Count; ++k)
          to[k][x] = windowed(values[k], values[k + 1], values[k + 2], values[k + 3], values[k + 4],
                              values[k + 5], values[k + 6], p.window);
      }
    }
    for (int k = 0; k < Count; ++k) {
      const float* const of_row[tensor_planes] = {sums[0][k], sums[1][k], sums[2][k],
                                                  sums[3][k], sums[4][k], sums[5][k]};
      band.solve_sums(of_row, y + k, begin, end);
    }
  }
}

template <int Frames>
void solve_cells(const TensorBand& band, RowRange rows) {
  const int height = band.height();
  int multiplied = RowRange{rows.begin * cell_side, 0, rows.continues}.first_new(window_reach, height);
  int filtered = RowRange{multiplied, 0, rows.continues}.first_new(1, height);
  band.for_cells(rows, [&](int y, int end) {
    const int count = y + at_once <= end ? at_once : 1;
    for (; multiplied <= smaller(y + count - 1 + window_reach, height - 1); ++multiplied) {
      for (; filtered <= smaller(multiplied + 1, height - 1); ++filtered) filter_row<Frames>(band, filtered);
      product_row<Frames>(band, multiplied);
    }
    count == at_once ? solve_rows<at_once>(band, y) : solve_rows<1>(band, y);
    return count;
  });
}

}  // namespace

template <class Backend>
void ridge_tensors(Backend& cpu, const WarpFrames& frames, StartingFlow start, const TensorWeights& weights,
                   const TensorOutput& out) {
  if (start.coarser.u) enlarge_flow(cpu, start.coarser, start.flow);
  cpu.few_rows(out.cells.u.height, 1, [=](RowRange rows, void* scratch) {
    const TensorBand band{{start.flow, frames.reference(), weights, out, ridge_pitch(start.flow.u.width),
                           static_cast<float*>(scratch)},
                          frames};
    with_one_of<2, 3, 5>(frames.count, [&]<int Frames>() { solve_cells<Frames>(band, rows); });
  });
}

PF_STEP(ridge_tensors<Cpu>);

}  // namespace parafield
