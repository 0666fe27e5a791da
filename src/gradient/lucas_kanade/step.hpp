#pragma once
#include "steps/gradient/gradient.hpp"
#include "steps/resize/resize.hpp"
#include "steps/warp/warp.hpp"
#include "core/workspace.hpp"
#include "parafield/methods/lucas_kanade.hpp"

/// One least-squares solution at every pixel of a level: Marzat, eq. 5, with each pixel of the window
/// linearized at its own flow. For a window W around x, I0 and I1 the frames, w weights:
///   e = I1(p + flow(p)) - I0(p),  t = e - grad I0 . flow(p)                          for every pixel p
///   A = sum_W w grad I0 grad I0^T,  b = sum_W w grad I0 t + A flow(x)
///   flow(x) <- flow(x) - (A + alpha I)^-1 b
namespace parafield {

/// The method's parameters as the arithmetic needs them: intensities 0..255, sums over the window.
struct LeastSquares {
  int before, after;      ///< the window of x: x - before .. x + after, likewise y
  float alpha;            ///< eq. 5, times 255^2 and the window's pixels
  float robust2;          ///< square of the robust scale, times 255^2; 0 = all weights 1
  float eigenvalue_unit;  ///< 1 / (255^2 and the window's pixels)
  float min_eigenvalue;
  float max_residual;  ///< 0..255

  PF_HD int window() const { return before + 1 + after; }
};

inline LeastSquares least_squares(const LucasKanade& method) {
  const float unit = 255.0f * 255.0f * float(method.window * method.window);
  return {method.window / 2,
          (method.window - 1) / 2,
          method.alpha * unit,
          method.robust * method.robust * 255 * 255,
          1 / unit,
          method.min_eigenvalue,
          method.max_residual * 255};
}

/// The flow that a solution starts from: `flow`, or, where `coarser` is given, that of the coarser level enlarged; then
/// `flow` is room for it, which a backend may use or not.
struct StartingFlow {
  FlowPlanes flow;
  FlowPlanes coarser = {};
};

/// Solves once at every pixel of a level. `in` and `out` do not overlap.
template <class Backend>
void least_squares_step(Backend& backend, View<const float> frame0, View<const float> frame1,
                        const LeastSquares& p, StartingFlow in, FlowPlanes out, Trust trust = {});

/// The five sums of the normal equations: of one pixel, or of a window.
struct NormalEquations {
  static constexpr int count = 5;
  float xx, xy, yy, xt, yt;
};

/// The CPU takes a level in tiles of about this many columns, so that the rows under the window stay in its
/// cache.
constexpr int least_squares_tile = 640;

/// Scratch memory that a thread of the CPU needs, in bytes: of a tile, the sums along the rows of as many
/// rows as the window has, one row of products, one of sums over the window.
PF_HD std::size_t least_squares_scratch(const LeastSquares& p) {
  const std::size_t rows = std::size_t(p.window()) + 2,
                    columns = std::size_t(least_squares_tile + 64 + p.window());
  return rows * NormalEquations::count * columns * sizeof(float);
}

/// One pixel's part. gx, gy: gradient of frame 0; e: difference to the match; u, v: the pixel's flow.
PF_HD NormalEquations normal_equations(float gx, float gy, float e, bool inside, float u, float v,
                                       float robust2) {
  float t = fma(-gy, v, fma(-gx, u, e));
  const bool counts = inside & is_finite(t);
  gx = counts ? gx : 0.0f;  // also NaN and inf leave no trace
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

/// The new flow of a pixel from the sums over its window. It stays where the system cannot be solved, and
/// within the size of the level: no match lies further away.
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

/// Whether to trust the flow of a pixel, whose match lies at `match` and whose brightness differs there by `residual`
/// (NaN: either is no number).
PF_HD bool is_trusted(float eigenvalue, float residual, const Match& match, const LeastSquares& p) {
  return (eigenvalue >= p.min_eigenvalue) & (magnitude(residual) <= p.max_residual) & match.inside;
}

}  // namespace parafield
