// SPDX-License-Identifier: MIT
#pragma once
#include "gradient/adaptive_ridge/tensors/tensors.hpp"

/// Normal equations at every second pixel of every second row, for `spacing` 2 of
/// parafield/methods/adaptive_ridge.hpp. These pixels form a grid of the size of the next coarser level. Flow
/// on the grid is in px of the grid, each of which is two px of the frames. The following steps can therefore
/// treat the grid as a level.
namespace parafield {

constexpr int grid_spacing = 2;  ///< px

/// Size of the grid of a level.
PF_HD Size grid_of(Size level) { return {(level.width + 1) / 2, (level.height + 1) / 2}; }

/// Computes normal equations and cells on the grid of two frames. `start`: initial flow on the grid. `luma`:
/// brightness of the grid's pixels.
template <class Backend>
void spaced_tensors(Backend& backend, View<const float> frame, View<const float> next, View<const float> luma,
                    StartingFlow start, const TensorWeights& weights, const TensorOutput& out);

/// Converts parameters to px of the grid. `window` keeps the taps of every second pixel; at most one of these
/// on each side is within the window's reach.
inline TensorWeights grid_weights(TensorWeights weights) {
  constexpr float scale = grid_spacing * grid_spacing;
  weights.contrast *= scale;
  weights.inverse_robust2 *= scale;
  const float sum = weights.window[0] + 2 * weights.window[grid_spacing];
  weights.window[0] /= sum;
  weights.window[1] = weights.window[grid_spacing] / sum;
  weights.window[2] = weights.window[3] = 0;
  return weights;
}

/// A column filtered over three rows, from which a grid pixel's derivatives are computed.
struct FilteredColumn {
  float smooth, slope, change;
};
/// w: pixels of the warped next frame. f: pixels of the frame.
PF_HD FilteredColumn filtered_column(float w0, float w1, float w2, float f0, float f1, float f2,
                                     float prefilter) {
  const Instant a = instant<2>(f0, w0, 0, prefilter), b = instant<2>(f1, w1, 0, prefilter),
                c = instant<2>(f2, w2, 0, prefilter);
  return {smoothed(a.mean, b.mean, c.mean, prefilter), c.mean - a.mean,
          smoothed(a.difference, b.difference, c.difference, prefilter)};
}

/// Products of a grid pixel, from the three columns around it. u, v: its flow. Gradients are per px of the
/// grid.
PF_HD Products grid_products(const FilteredColumn& before, const FilteredColumn& here,
                             const FilteredColumn& after, float u, float v, const TensorWeights& p) {
  return products(after.smooth - before.smooth, smoothed(before.slope, here.slope, after.slope, p.prefilter),
                  smoothed(before.change, here.change, after.change, p.prefilter), u, v, 1, p);
}

/// Weighted sum of three values, with b in the middle.
PF_HD float grid_windowed(float a, float b, float c, const float (&taps)[4]) {
  return fma(taps[1], a + c, taps[0] * b);
}

}  // namespace parafield
