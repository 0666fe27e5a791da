// SPDX-License-Identifier: MIT
#pragma once
#include "steps/gradient/gradient.hpp"
#include "steps/resize/resize.hpp"
#include "steps/warp/warp.hpp"

/// One least-squares solution at every pixel of a level: Marzat, eq. 5, but with each pixel of the window
/// linearized at its own flow. For a window W around x, frames I0 and I1, and weights w:
///   e = I1(p + flow(p)) - I0(p),  t = e - grad I0 . flow(p)                          for every pixel p
///   A = sum_W w grad I0 grad I0^T,  b = sum_W w grad I0 t + A flow(x)
///   flow(x) <- flow(x) - (A + alpha I)^-1 b
namespace parafield {

/// Parameters in the units of the arithmetic: intensities 0..255, sums over the window.
struct LeastSquares {
  int before, after;      ///< the window of x is x - before to x + after, likewise in y
  float alpha;            ///< alpha of eq. 5, times 255^2 and the number of pixels in the window
  float robust2;          ///< square of the robust scale, times 255^2; 0 = every pixel has weight 1
  float eigenvalue_unit;  ///< 1 / (255^2 times the number of pixels in the window)
  float min_eigenvalue;   ///< least smaller eigenvalue, times eigenvalue_unit, of valid flow
  float max_residual;     ///< largest brightness difference of valid flow, 0..255

  PF_HD int window() const { return before + 1 + after; }
};

/// Converts parameters in the units of methods/lucas_kanade.hpp: intensities in [0, 1], means over the
/// window.
inline LeastSquares least_squares(int window, float alpha, float robust = 0, float min_eigenvalue = 0,
                                  float max_residual = 1) {
  const float unit = 255.0f * 255.0f * float(window * window);
  return {window / 2, (window - 1) / 2, alpha * unit,      robust * robust * 255 * 255,
          1 / unit,   min_eigenvalue,   max_residual * 255};
}

/// Solves once at every pixel of a level. `in` and `out` must not overlap. Give `trust` planes only in the
/// last solution. `follows`: another solution has run since the frames were written. On CUDA, this one may
/// then read the frames while the preceding kernel still runs.
template <class Backend>
void least_squares_step(Backend& backend, View<const float> frame0, View<const float> frame1,
                        const LeastSquares& p, StartingFlow in, FlowPlanes out, Trust trust = {},
                        bool follows = false);

/// The five sums of the normal equations, of one pixel or of a window.
struct NormalEquations {
  static constexpr int count = 5;
  float xx, xy, yy, xt, yt;

  /// From and to memory, where the five are `apart` floats from each other.
  template <class Offset>
  PF_HD static NormalEquations load(const float* from, Offset apart) {
    return {from[0], from[apart], from[2 * apart], from[3 * apart], from[4 * apart]};
  }
  template <class Offset>
  PF_HD void store(float* to, Offset apart) const {
    to[0] = xx, to[apart] = xy, to[2 * apart] = yy, to[3 * apart] = xt, to[4 * apart] = yt;
  }
};

/// Approximate number of columns in a tile. The CPU processes a level in tiles so that the rows under the
/// window stay in the cache.
constexpr int least_squares_tile = 640;

/// Bytes of scratch memory for a CPU thread: one row of sums along the tile for each row of the window, one
/// row of products, and one row of sums over the window.
PF_HD std::size_t least_squares_scratch(const LeastSquares& p) {
  const std::size_t rows = std::size_t(p.window()) + 2,
                    columns = std::size_t(least_squares_tile + 64 + p.window());
  return rows * NormalEquations::count * columns * sizeof(float);
}

/// One pixel's part of the sums. gx, gy: gradient of frame 0. e: brightness difference at the match; if the
/// match is not `inside` frame 1, the pixel has no weight. u, v: the pixel's flow.
PF_HD NormalEquations normal_equations(float gx, float gy, float e, bool inside, float u, float v,
                                       float robust2) {
  float t = fma(-gy, v, fma(-gx, u, e));
  const bool counts = inside & is_finite(t);
  gx = counts ? gx : 0.0f;  // multiplying by 0 would keep NaN and infinities
  gy = counts ? gy : 0.0f;
  t = counts ? t : 0.0f;
  float wx = gx, wy = gy;
  if (robust2 > 0) {
    const float weight = counts ? robust2 / fma(e, e, robust2) : 0.0f;
    wx = weight * gx;
    wy = weight * gy;
  }
  return {wx * gx, wx * gy, wy * gy, wx * t, wy * t};
}

/// New flow of a pixel from the sums over its window. It stays at (u, v) if the system has no solution, and
/// is limited to the size of the level, because no match is further away.
PF_HD Motion solve(const NormalEquations& sum, float u, float v, float alpha, int width, int height) {
  const float r = fma(sum.xy, v, fma(sum.xx, u, sum.xt)), s = fma(sum.yy, v, fma(sum.xy, u, sum.yt));
  const float a = sum.xx + alpha, b = sum.xy, c = sum.yy + alpha;
  const float determinant = fma(a, c, -(b * b));
  const float inverse = 1 / determinant;
  const float du = fma(b, s, -(c * r)) * inverse, dv = fma(b, r, -(a * s)) * inverse;
  const bool solved = (determinant > 0) & is_finite(du) & is_finite(dv);
  const float right = float(width), bottom = float(height);
  return {clamp(solved ? u + du : u, -right, right), clamp(solved ? v + dv : v, -bottom, bottom)};
}

/// Whether a pixel's flow is valid. `residual`: brightness difference at the match; NaN makes the flow
/// invalid. `inside`: whether the match is inside the frame.
PF_HD bool is_trusted(float eigenvalue, float residual, bool inside, const LeastSquares& p) {
  return (eigenvalue >= p.min_eigenvalue) & (magnitude(residual) <= p.max_residual) & inside;
}

/// Confidence: smaller eigenvalue / (residual^2 + noise variance), for intensities in [0, 1]. Its inverse is
/// roughly the variance of the pixel's flow. 0 if the match is outside the frame or not finite.
PF_HD float confidence_of(float eigenvalue, float residual, bool inside) {
  const float unit = residual * (1.0f / 255);
  const bool known = inside & is_finite(unit);
  return known ? eigenvalue / fma(unit, unit, 1e-5f) : 0.0f;
}

}  // namespace parafield
