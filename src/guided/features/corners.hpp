// SPDX-License-Identifier: MIT
#pragma once
#include "guided/features/grid.hpp"
#include "steps/gradient/gradient.hpp"

/// Corners (Shi, Tomasi: Good features to track, 1994), scored by an eigenvalue of the gradient tensor.
namespace parafield {

/// Finds each cell's strongest corner: the pixel with the largest score among the pixels that score at least
/// `least_corner` and are a maximum of the 3x3 pixels around them. The first pixel in row order wins ties.
/// The score is the smaller eigenvalue of the gradient tensor averaged over 3x3 pixels; beyond the border,
/// the nearest pixel is used. A pixel whose score is not finite is not a corner. `scores`: scratch image.
/// `corners`: one per cell, NaN = none.
template <class Backend>
void find_corners(Backend& backend, View<const float> luma, const FeatureGrid& grid, View<float> scores,
                  Feature* corners);

/// Smallest score of a corner, for intensities 0..255. It does not depend on the rest of the frame.
constexpr float least_corner = 0.1f;

/// Gradient tensor of a pixel, or a sum of several.
struct CornerTensor {
  float xx, xy, yy;

  PF_HD CornerTensor operator+(const CornerTensor& other) const {
    return {xx + other.xx, xy + other.xy, yy + other.yy};
  }
};

PF_HD CornerTensor corner_tensor(float gx, float gy) { return {gx * gx, gx * gy, gy * gy}; }

/// Gradient tensor of pixel (x, y).
PF_HD CornerTensor corner_tensor_at(View<const float> luma, int x, int y) {
  const int right = luma.width - 1, bottom = luma.height - 1;
  const float* const row = luma.row(y);
  const auto column = [=](int i) { return row[clamp(i, 0, right)]; };
  const auto line = [=](int j) { return luma.row(clamp(j, 0, bottom))[x]; };
  return corner_tensor(derivative(column(x - 2), column(x - 1), column(x + 1), column(x + 2)),
                       derivative(line(y - 2), line(y - 1), line(y + 1), line(y + 2)));
}

/// Score from the sum of nine tensors; -1 if it is not finite.
PF_HD float corner_score(const CornerTensor& sum) {
  const float score = smaller_eigenvalue(sum.xx, sum.xy, sum.yy) * (1.0f / 9);
  return is_finite(sum.xx + sum.yy) ? score : -1.0f;
}

/// Whether pixel (x, y) has the largest score of the 3x3 pixels around it. The first pixel in row order wins
/// ties.
PF_HD bool is_peak(View<const float> scores, int x, int y) {
  const float here = scores(x, y);
  bool is_largest = true;
  for (int j = larger(y - 1, 0); j <= smaller(y + 1, scores.height - 1); ++j)
    for (int i = larger(x - 1, 0); i <= smaller(x + 1, scores.width - 1); ++i) {
      const bool is_before = (j < y) | ((j == y) & (i < x));
      const float other = scores(i, j);
      is_largest &= is_before ? other < here : other <= here;
    }
  return is_largest;
}

}  // namespace parafield
