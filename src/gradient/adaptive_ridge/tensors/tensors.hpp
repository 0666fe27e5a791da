#pragma once
#include "steps/warp/warp.hpp"
#include "core/workspace.hpp"
#include "gradient/adaptive_ridge/cells.hpp"

/// The normal equations of every pixel, from frames warped by the flow so far; their plain solution; and its statistics in
/// cells. Steps 1 and 2 of parafield/methods/adaptive_ridge.hpp.
namespace parafield {

constexpr int most_frames = 5, most_instants = 3;
constexpr int window_reach = 3;

/// The method's parameters as the arithmetic needs them: intensities 0..255.
struct TensorWeights {
  float window[window_reach + 1];  ///< taps; [0] for the middle; their sum is 1
  float prefilter;                 ///< share of each neighbor
  float contrast;
  float inverse_robust2;
};

/// The frames of a level, the oldest first, and which is the one that the flow belongs to.
struct WarpFrames {
  View<const float> frame[most_frames];
  int count;
  int middle;  ///< 0 of two

  PF_HD View<const float> reference() const { return frame[middle]; }
};

/// Planes of a level: sums over each pixel's window. A f = -b; E the weighted squared residual of its solution.
struct NormalPlanes {
  View<float> xx, xy, yy, xt, yt, residual;
};

/// with_luma: the cells' brightness too, which depends on the frame alone.
template <class Backend>
void ridge_tensors(Backend& backend, const WarpFrames& frames, FlowPlanes flow, const TensorWeights& weights,
                   const NormalPlanes& out, const Cells& cells, bool with_luma);

/// Scratch memory that a thread of the CPU needs, in bytes: rows of the warped frames, of an instant's two images and of
/// three smoothings of them under the window of three, of the products, of their sums along under the window of seven, of
/// the sums down, of a cell's sums and of its columns' flow.
constexpr int ridge_margin = 16;
inline int ridge_pitch(int width) { return (width + 2 * ridge_margin + 15) / 16 * 16; }
/// Where they begin.
struct RidgeRows {
  static constexpr int warped = 0, images = warped + most_frames, filtered = images + 2,
                       products = filtered + most_instants * 3 * 3, along = products + 6,
                       sums = along + 6 * 7, columns = sums + 6, luma = columns + 4, near = luma + 1,
                       count = near + 2;
};
inline std::size_t ridge_scratch(int width) {
  return sizeof(float) * std::size_t(ridge_pitch(width)) * RidgeRows::count;
}

// What both backends compute.

/// Derivatives at one instant come from two images: the mean of frames around it, and their difference.
struct Instant {
  float mean, difference;
};

/// How many instants `count` frames have: between two, at the middle of three, at the middle three of five.
PF_HD constexpr int instants_of(int frames) { return frames == 5 ? 3 : 1; }

/// Weight of an instant, 0 the earliest.
PF_HD constexpr float weight_of(int instant, int instants) {
  return instants == 1 ? 1.0f : instant == 1 ? 0.5f : 0.25f;
}

/// A frame's value where the flow leads to; NaN outside it.
PF_HD float warped(const float* pixels, int pitch, int width, int height, float x, float y) {
  const Match match = locate(x, y, width, height);
  const float value = sample_cubic(pixels, pitch, width, height, match);
  return match.inside ? value : __builtin_nanf("");
}

/// (prefilter, 1 - 2 prefilter, prefilter) and (-1 0 1) / 2 of three neighbors.
PF_HD float smoothed(float before, float here, float after, float prefilter) {
  return fma(prefilter, before + after, (1 - 2 * prefilter) * here);
}
PF_HD float central(float before, float after) { return 0.5f * (after - before); }

/// The instant's images at one pixel, from the warped values of frames that follow each other; `after` of three.
template <int Frames>
PF_HD Instant instant(float before, float here, float after, float prefilter) {
  if constexpr (Frames == 2) return {0.5f * (before + here), here - before};
  return {smoothed(before, here, after, prefilter), central(before, after)};
}

/// One pixel's part of the sums, of one instant.
struct Products {
  static constexpr int count = 6;
  float xx, xy, yy, xt, yt, tt;
};
PF_HD Products products(float gx, float gy, float gt, float u, float v, float weight,
                        const TensorWeights& p) {
  const float gradient2 = fma(gx, gx, fma(gy, gy, p.contrast));
  const float w0 = weight / fma(gt * gt, p.inverse_robust2, gradient2);
  const float b0 = fma(-gy, v, fma(-gx, u, gt));
  const bool counts =
      is_finite(w0) & is_finite(b0);  // otherwise a pixel is NaN or huge, or a match lies outside
  const float w = counts ? w0 : 0.0f, x = counts ? gx : 0.0f, y = counts ? gy : 0.0f, b = counts ? b0 : 0.0f;
  const float wx = w * x, wy = w * y, wb = w * b;
  return {wx * x, wx * y, wy * y, wx * b, wy * b, wb * b};
}

/// A gaussian's sum over seven values.
PF_HD float windowed(float a, float b, float c, float d, float e, float f, float g, const float (&taps)[4]) {
  return fma(taps[3], a + g, fma(taps[2], b + f, fma(taps[1], c + e, taps[0] * d)));
}

/// How well the flow of a pixel is determined, 0 to 1 and never quite 0: the weight that it has in its cell.
PF_HD float determination(float xx, float xy, float yy) {
  constexpr float scale = 0.05f, least = 1e-3f;
  const float determinant = larger(fma(xx, yy, -(xy * xy)), 0.0f);
  return determinant / fma(scale, xx + yy, determinant + 1e-12f) + least;
}

/// A pixel's solution without shrinkage, but held a little to where it was, and the residual there.
struct PlainSolution {
  float u, v, residual;
};
PF_HD PlainSolution plain_solution(const Products& sum, float u0, float v0) {
  constexpr float hold = 1e-3f;
  const float a = sum.xx + hold, c = sum.yy + hold, b = sum.xy;
  const float r = fma(-hold, u0, sum.xt), s = fma(-hold, v0, sum.yt);
  const float inverse = 1 / fma(a, c, -(b * b));
  const float u = fma(b, s, -(c * r)) * inverse, v = fma(b, r, -(a * s)) * inverse;
  const float residual =
      fma(u, fma(sum.xx, u, fma(2 * sum.xy, v, 2 * sum.xt)), fma(v, fma(sum.yy, v, 2 * sum.yt), sum.tt));
  return {u, v, larger(residual, 0.0f)};
}

}  // namespace parafield
