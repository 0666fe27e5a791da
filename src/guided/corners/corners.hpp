#pragma once
#include "steps/gradient/gradient.hpp"
#include "guided/feature_grid.hpp"

/// Shi, Tomasi: Good features to track, 1994: a pixel is as good a feature as the smaller eigenvalue of the gradient tensor
/// around it is large.
namespace parafield {

/// Finds each cell's strongest corner: of its pixels that are maxima of the 3x3 pixels around them, the one of the largest
/// score, which has to be at least `least_corner`; of equals the first, by rows. The score is the smaller eigenvalue of the
/// mean gradient tensor of 3x3 pixels; beyond the border the nearest pixel stands in. A score that is no number (a pixel
/// near is none) is no corner's.
/// `scores`: an image as large as luma, for the scores; `corners`: NaN where a cell has none.
template <class Backend>
void find_corners(Backend& backend, View<const float> luma, const FeatureGrid& grid, View<float> scores,
                  Feature* corners);

/// Of intensities 0..255. What a frame's strongest corner has does not matter, so that no part of it depends on another.
constexpr float least_corner = 0.1f;

/// A pixel's gradient tensor, or the sum of some.
struct CornerTensor {
  float xx, xy, yy;

  PF_HD CornerTensor operator+(const CornerTensor& other) const {
    return {xx + other.xx, xy + other.xy, yy + other.yy};
  }
};

PF_HD CornerTensor corner_tensor(float gx, float gy) { return {gx * gx, gx * gy, gy * gy}; }

/// At pixel (x, y) of the frame.
PF_HD CornerTensor corner_tensor_at(View<const float> luma, int x, int y) {
  const int right = luma.width - 1, bottom = luma.height - 1;
  const float* const row = luma.row(y);
  const auto column = [=](int i) { return row[clamp(i, 0, right)]; };
  const auto line = [=](int j) { return luma.row(clamp(j, 0, bottom))[x]; };
  return corner_tensor(derivative(column(x - 2), column(x - 1), column(x + 1), column(x + 2)),
                       derivative(line(y - 2), line(y - 1), line(y + 1), line(y + 2)));
}

/// Of the sum of nine tensors; -1 where it is no number.
PF_HD float corner_score(const CornerTensor& sum) {
  const float score = smaller_eigenvalue(sum.xx, sum.xy, sum.yy) * (1.0f / 9);
  return is_finite(sum.xx + sum.yy) ? score : -1.0f;
}

/// Whether pixel (x, y) has the largest score of the 3x3 pixels around it, of equals the first.
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
