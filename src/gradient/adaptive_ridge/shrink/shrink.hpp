// SPDX-License-Identifier: MIT
#pragma once
#include "gradient/adaptive_ridge/cells.hpp"
#include "gradient/adaptive_ridge/tensors/tensors.hpp"

/// Shrinkage of the flow toward the mean around it (steps 3 and 4 of parafield/methods/adaptive_ridge.hpp).
namespace parafield {

struct Shrinkage {
  float gain;       ///< `shrinkage` of the method, scaled for this round
  float likeness2;  ///< square of the brightness difference (0..255) that halves a cell's weight
};

/// The inputs of both steps.
struct ShrinkInput {
  NormalPlanes normal;
  View<const float> luma;
  Cells cells;  ///< statistics of the flow before
  Shrinkage p;

  PF_HD Size size() const { return {luma.width, luma.height}; }
};

/// Shrinks the flow of every pixel and takes its median over `side` x `side` pixels: 3, 5, or 0 for none.
/// `unsmoothed`: planes for the flow before the median, used only on the CPU; they may be xt and yt of
/// `in.normal`.
template <class Backend>
void shrink_flow(Backend& backend, const ShrinkInput& in, int side, FlowPlanes unsmoothed, FlowPlanes out);

/// Computes only the statistics of the shrunk flow, for another round.
template <class Backend>
void shrink_cells(Backend& backend, const ShrinkInput& in, const Cells& out);

/// The last cell whose center is before column or row x; -1 if x is before the first center.
PF_HD int cell_before(int x) { return (x - cell_side / 2) >> 3; }
/// Interpolation share of the next cell at x, 0..1.
PF_HD float share_after(int x) {
  return fma(1.0f / cell_side, float((x - cell_side / 2) & (cell_side - 1)), 0.5f / cell_side);
}

/// Weights of the four cells around a pixel (a, b above c, d), from distance and similarity of brightness.
struct CellWeights {
  float a, b, c, d, inverse;  ///< inverse: 1 / their sum
};
/// a, b, c, d: brightness of the cells. `luma`: brightness of the pixel.
PF_HD CellWeights cell_weights(float a, float b, float c, float d, float share_x, float share_y, float luma,
                               float likeness2) {
  constexpr float least = 1e-3f;  // added to a share, so that a distant similar cell still counts
  constexpr float most = 1e4f;    // limits a difference, because three squares of differences are multiplied
  const float brightness = is_finite(luma) ? luma : a;
  const auto unlikeness = [=](float other) {
    const float difference = smaller(magnitude(other - brightness), most);
    return fma(difference, difference, likeness2);
  };
  const float p = unlikeness(a), q = unlikeness(b), r = unlikeness(c), s = unlikeness(d);
  const float top = p * q, bottom = r * s;  // weights are share / unlikeness, scaled by p q r s
  const float x1 = share_x, x0 = 1 - x1, y1 = share_y, y0 = 1 - y1;
  const float wa = fma(x0, y0, least) * q * bottom, wb = fma(x1, y0, least) * p * bottom,
              wc = fma(x0, y1, least) * s * top, wd = fma(x1, y1, least) * r * top;
  return {wa, wb, wc, wd, reciprocal((wa + wb) + (wc + wd))};
}
/// The mean around a pixel, interpolated from the four cells around it.
PF_HD CellNeighborhood interpolated(const CellNeighborhood& a, const CellNeighborhood& b,
                                    const CellNeighborhood& c, const CellNeighborhood& d,
                                    const CellWeights& weight) {
  const auto mean = [&](float ma, float mb, float mc, float md) {
    return fma(weight.a, ma, fma(weight.b, mb, fma(weight.c, mc, weight.d * md))) * weight.inverse;
  };
  return {mean(a.u, b.u, c.u, d.u), mean(a.v, b.v, c.v, d.v), mean(a.spread, b.spread, c.spread, d.spread)};
}

/// The flow that minimizes the residual plus k times the squared distance to the mean, with k = gain *
/// residual / spread, after Hoerl, Kennard and Baldwin. Where the system has no usable solution, the result
/// is the mean. The flow is clamped to the level's size (right, bottom).
PF_HD Motion shrunk(const NormalSums& sum, const CellNeighborhood& mean, float gain, float right,
                    float bottom) {
  constexpr float least_spread = 1e-4f, most_spread = 1e15f, least = 1e-6f, most_determinant = 1e30f;
  const float k = fma(gain, quotient(sum.residual, clamp(mean.spread, least_spread, most_spread)), least);
  const float a = sum.xx + k, b = sum.xy, c = sum.yy + k;
  const float r = fma(-k, mean.u, sum.xt), s = fma(-k, mean.v, sum.yt);
  const float determinant = fma(a, c, -(b * b)), inverse = reciprocal(determinant);
  const float u = fma(b, s, -(c * r)) * inverse, v = fma(b, r, -(a * s)) * inverse;
  const bool solved = (determinant > 0) & (determinant <= most_determinant) & is_finite(u) & is_finite(v);
  return {clamp(solved ? u : mean.u, -right, right), clamp(solved ? v : mean.v, -bottom, bottom)};
}

}  // namespace parafield
