// SPDX-License-Identifier: MIT
#pragma once
#include "core/workspace.hpp"
#include "gradient/adaptive_ridge/cells.hpp"
#include "steps/resize/resize.hpp"
#include "steps/warp/warp.hpp"

/// Normal equations of every pixel, from frames warped by the flow so far; the solution without shrinkage,
/// and its statistics in cells (steps 1 to 3 of parafield/methods/adaptive_ridge.hpp).
namespace parafield {

constexpr int most_frames = 5, most_instants = 3;
constexpr int window_reach = 3;  ///< px: the window has 7x7 pixels

/// Parameters in the units of the arithmetic, with intensities from 0 to 255.
struct TensorWeights {
  float window[window_reach + 1];  ///< half of the window's taps, [0] in the middle; the window sums to 1
  float prefilter;                 ///< weight of each of the two neighbors
  float contrast;                  ///< added to the squared gradient
  float inverse_robust2;           ///< 1 / robust^2, 1 / px^2
};

/// Frames of a level, oldest first.
struct WarpFrames {
  View<const float> frame[most_frames];
  int count;
  int middle;  ///< index of the frame whose flow is estimated; 0 for a pair

  PF_HD View<const float> reference() const { return frame[middle]; }
};

/// Sums over a pixel's window: A = (xx xy; xy yy) and b = (xt yt) of the normal equations A f = -b, and the
/// weighted squared residual E of their solution.
struct NormalSums {
  float xx, xy, yy, xt, yt, residual;
};

/// A row of them, for loops that vectorize.
struct NormalRow {
  float *xx, *xy, *yy, *xt, *yt, *residual;

  PF_HD NormalSums operator[](int x) const { return {xx[x], xy[x], yy[x], xt[x], yt[x], residual[x]}; }
  PF_HD void set(int x, const NormalSums& sums) const {
    xx[x] = sums.xx, xy[x] = sums.xy, yy[x] = sums.yy;
    xt[x] = sums.xt, yt[x] = sums.yt, residual[x] = sums.residual;
  }
};

/// One plane per term, all with the same pitch. The planes have fewer than 2^32 values.
struct NormalPlanes {
  View<float> xx, xy, yy, xt, yt, residual;

  PF_HD unsigned index(int x, int y) const { return unsigned(y) * unsigned(xx.stride()) + unsigned(x); }
  PF_HD NormalSums load(unsigned i) const {
    return {xx.data[i], xy.data[i], yy.data[i], xt.data[i], yt.data[i], residual.data[i]};
  }
  PF_HD void store(unsigned i, const NormalSums& sums) const {
    xx.data[i] = sums.xx, xy.data[i] = sums.xy, yy.data[i] = sums.yy;
    xt.data[i] = sums.xt, yt.data[i] = sums.yt, residual.data[i] = sums.residual;
  }
  PF_HD NormalSums at(int x, int y) const { return load(index(x, y)); }
  PF_HD NormalRow row(int y) const {
    return {xx.row(y), xy.row(y), yy.row(y), xt.row(y), yt.row(y), residual.row(y)};
  }
};

/// Where normal equations are stored, and the statistics of their solutions. `with_luma`: also compute the
/// brightness of the cells, which does not depend on the flow.
struct TensorOutput {
  NormalPlanes normal;
  Cells cells;
  bool with_luma;
};

/// Computes normal equations and cells from frames warped by the flow `start`.
template <class Backend>
void ridge_tensors(Backend& backend, const WarpFrames& frames, StartingFlow start,
                   const TensorWeights& weights, const TensorOutput& out);

/// Scratch memory of a CPU thread: rows of `ridge_pitch` floats, with a margin on both sides.
constexpr int ridge_margin = 16;
inline int ridge_pitch(int width) { return (width + 2 * ridge_margin + 15) / 16 * 16; }
struct RidgeRows {
  static constexpr int columns = 0;                    ///< four sums of cells
  static constexpr int luma = columns + 4;             ///< brightness of cells
  static constexpr int near = luma + 1;                ///< flow that the cells' sums are relative to
  static constexpr int warped = near + 2;              ///< warped frames
  static constexpr int images = warped + most_frames;  ///< mean and difference at an instant
  static constexpr int filtered = images + 2;          ///< three images of each instant, 3 rows each
  static constexpr int products = filtered + most_instants * 3 * 3;  ///< six products
  static constexpr int at_once = 4;                                  ///< rows that are solved together
  static constexpr int rows_along = at_once + 2 * window_reach;
  static constexpr int along = products + 6;  ///< sums along rows, rows_along rows each
  static constexpr int count = along + 6 * rows_along;
};
/// Bytes of scratch memory for each thread.
inline std::size_t ridge_scratch(int width) {
  return sizeof(float) * std::size_t(ridge_pitch(width)) * RidgeRows::count;
}

/// A pixel's values at one instant: the mean of the frames around it and their difference, from which the
/// derivatives are computed.
struct Instant {
  float mean, difference;
};

/// Number of instants: one, between two frames; one, in the middle of three; or three, at the middle three of
/// five.
PF_HD constexpr int instants_of(int frames) { return frames == 5 ? 3 : 1; }

/// Weight of an instant; instant 0 is the earliest. The weights sum to 1. Under constant acceleration a, the
/// flows at the three instants of five frames differ from the flow of the middle pair by -3/2 a, -1/2 a and
/// 1/2 a; these weights cancel the differences out.
PF_HD constexpr float weight_of(int instant, int instants) {
  return instants == 1 ? 1.0f : instant == 0 ? 0.125f : instant == 1 ? 0.25f : 0.625f;
}

/// Prefilter over three neighbors: (prefilter, 1 - 2 prefilter, prefilter).
template <class Number>
PF_HD Number smoothed(Number before, Number here, Number after, Number prefilter) {
  return fma(prefilter, before + after, (Number(1.0f) - Number(2.0f) * prefilter) * here);
}
/// Derivative over three neighbors: (-1 0 1) / 2.
template <class Number>
PF_HD Number central(Number before, Number after) {
  return Number(0.5f) * (after - before);
}

/// A pixel's values at an instant, from consecutive warped frames. With two frames, `after` is unused.
template <int Frames>
PF_HD Instant instant(float before, float here, float after, float prefilter) {
  if constexpr (Frames == 2) return {0.5f * (before + here), here - before};
  return {smoothed(before, here, after, prefilter), central(before, after)};
}

/// A pixel's contribution to the sums at one instant.
struct Products {
  static constexpr int count = 6;
  float xx, xy, yy, xt, yt, tt;
};
/// gx, gy, gt: derivatives. u, v: flow at which the pixel is linearized. `weight`: weight of the instant.
PF_HD Products products(float gx, float gy, float gt, float u, float v, float weight,
                        const TensorWeights& p) {
  const float gradient2 = fma(gx, gx, fma(gy, gy, p.contrast));
  const float divisor = fma(gt * gt, p.inverse_robust2, gradient2), w0 = quotient(weight, divisor);
  const float b0 = fma(-gy, v, fma(-gx, u, gt));
  const bool counts =
      is_finite(divisor) & is_finite(b0);  // false if a pixel is NaN or huge, or a match is outside
  const float w = counts ? w0 : 0.0f, x = counts ? gx : 0.0f, y = counts ? gy : 0.0f, b = counts ? b0 : 0.0f;
  const float wx = w * x, wy = w * y, wb = w * b;
  return {wx * x, wx * y, wy * y, wx * b, wy * b, wb * b};
}

/// Weighted sum of seven values, with d in the middle.
template <class Number>
PF_HD Number windowed(Number a, Number b, Number c, Number d, Number e, Number f, Number g,
                      const Number (&taps)[4]) {
  return fma(taps[3], a + g, fma(taps[2], b + f, fma(taps[1], c + e, taps[0] * d)));
}

/// How well a pixel's flow is determined, from just above 0 to about 1. This is the pixel's weight in its
/// cell.
PF_HD float determination(float xx, float xy, float yy) {
  constexpr float scale = 0.05f, least = 1e-3f;
  const float determinant = larger(fma(xx, yy, -(xy * xy)), 0.0f);
  return quotient(determinant, fma(scale, xx + yy, determinant + 1e-12f)) + least;
}

/// A pixel's solution without shrinkage, and its weighted squared residual.
struct PlainSolution {
  float u, v, residual;
};
PF_HD NormalSums normal_sums(const Products& sum, const PlainSolution& solution) {
  return {sum.xx, sum.xy, sum.yy, sum.xt, sum.yt, solution.residual};
}
/// u0, v0: the flow so far, which weakly regularizes the solution and thereby ensures that one always exists.
PF_HD PlainSolution plain_solution(const Products& sum, float u0, float v0) {
  constexpr float hold = 1e-3f;
  const float a = sum.xx + hold, c = sum.yy + hold, b = sum.xy;
  const float r = fma(-hold, u0, sum.xt), s = fma(-hold, v0, sum.yt);
  const float inverse = reciprocal(fma(a, c, -(b * b)));
  const float u = fma(b, s, -(c * r)) * inverse, v = fma(b, r, -(a * s)) * inverse;
  const float residual =
      fma(u, fma(sum.xx, u, fma(2 * sum.xy, v, 2 * sum.xt)), fma(v, fma(sum.yy, v, 2 * sum.yt), sum.tt));
  return {u, v, larger(residual, 0.0f)};
}

}  // namespace parafield
