// SPDX-License-Identifier: MIT
#pragma once
#include "core/workspace.hpp"
#include "steps/warp/warp.hpp"

/// Checks of a field against the other frame's, and the confidence of stereo.
namespace parafield {

/// Forward-backward check. Each pixel moves to the second frame by its flow and back by the flow there;
/// `valid` is cleared if it leaves the frame or returns more than `tolerance` px away.
template <class Backend>
void check_consistency(Backend& backend, FlowPlanes forward, FlowPlanes backward, float tolerance,
                       View<std::uint8_t> valid);

/// Left-right check. The pixel at column x of the left image moves to the nearest pixel at x - d of the right
/// image, where halves round to the right; `valid` is cleared if it leaves the image or the disparity there
/// differs by more than `tolerance` px. A disparity in `right` points from column x to column x + d of the
/// left image. `unsure` may be empty; otherwise it receives 1 for pixels that are not valid or whose
/// disparities differ at all, and 0 for the others.
template <class Backend>
void check_disparities(Backend& backend, View<const float> left, View<const float> right, float tolerance,
                       View<std::uint8_t> valid, View<std::uint8_t> unsure);

/// Projects the disparities of the left image into the right image. Each pixel gets the largest disparity
/// that points to it, which belongs to the nearest surface, or -infinity if none does. Unless `valid` is
/// empty, then checks the disparities of the left image: see check_disparities.
template <class Backend>
void project_disparities(Backend& backend, View<const float> left, View<float> right, float tolerance = 0,
                         View<std::uint8_t> valid = {}, View<std::uint8_t> unsure = {});

/// Planes that confidence is computed from. `right` and `right_margin` may be empty.
struct DisparityEvidence {
  View<const float> left, right;  // integer disparities
  View<const float> right_margin;
};

/// Turns margins of the left image into confidence, in place: min(margin, margin in the right image + 0.3) /
/// (1 + e^2) * s^2. Here e is the difference to the right image's disparity, at most 9, and s is the fraction
/// of pixels in the 5x5 window whose disparity differs by at most 1. A match outside the right image gives
/// margin 0 and e = 9. Terms of missing planes are left out.
template <class Backend>
void disparity_confidence(Backend& backend, const DisparityEvidence& evidence, View<float> confidence);

// Shared by both backends.

PF_HD bool is_consistent(float u, float v, const float* back_u, const float* back_v, int pitch, int width,
                         int height, int x, int y, float tolerance) {
  const Match match = locate(float(x) + u, float(y) + v, width, height);
  const float du = u + sample(back_u, pitch, width, height, match),
              dv = v + sample(back_v, pitch, width, height, match);
  return match.inside & (fma(du, du, dv * dv) <= tolerance * tolerance);
}

/// The column of the right image that a disparity points to from a column of the left image.
struct Column {
  int x, inside;  // `inside` is 0 or 1: GCC 12 vectorizes no loop with a bool here
};
PF_HD Column column_at(int x, float d, int width) {
  const float place = float(x) - d + 0.5f;  // rounds down to the column; NaN counts as outside
  return {int(clamp(place, 0.0f, float(width - 1))), (place >= 0) & (place < float(width))};
}

/// Absolute difference to the right image's disparity; very large outside the image. `d`: the left disparity
/// at column x; `right`: the row of right disparities, or another type whose right[column] gives them.
template <class Row>
PF_HD float difference_to_right(float d, Row right, int width, int x) {
  const Column column = column_at(x, d, width);
  const float apart = magnitude(right[column.x] - d);
  return column.inside ? apart : 3e38f;
}

/// Marks a pixel that received no disparity.
constexpr float not_projected = -__builtin_inff();

/// Confidence of pixel x of a row from its margin. `similar`: number of pixels of the 5x5 with a similar
/// disparity.
PF_HD float confidence_of(float margin, float d, const float* right, const float* right_margin, int width,
                          int x, int similar) {
  float difference = 0;
  if (right) {
    const Column column = column_at(x, d, width);
    difference = column.inside ? smaller(magnitude(right[column.x] - d), 9.0f) : 9.0f;
    if (right_margin) margin = smaller(margin, column.inside ? right_margin[column.x] + 0.3f : 0.0f);
  }
  const float share = float(similar) * (1.0f / 25);
  return margin / fma(difference, difference, 1.0f) * (share * share);
}

}  // namespace parafield
