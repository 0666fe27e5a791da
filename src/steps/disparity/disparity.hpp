// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"
#include "steps/consistency/consistency.hpp"

/// Final steps of stereo.
namespace parafield {

/// Stores refined disparities: `fine` where it is valid and at most half a label from `whole`, otherwise
/// `whole`.
template <class Backend>
void take_fine(Backend& backend, View<const float> whole, View<const float> fine,
               View<const std::uint8_t> valid, View<float> out);

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

PF_HD float fine_or_whole(float whole, float fine, bool valid) {
  return (valid & (magnitude(fine - whole) <= 0.5f)) ? fine : whole;
}

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
