// SPDX-License-Identifier: MIT
#pragma once
#include "core/workspace.hpp"
#include "markov/sweep/sweep.hpp"

/// Steps that convert labels to values and back, for disparities and displacements.
namespace parafield {

/// Stores the labels nearest to a disparity field (without v) or a flow field.
template <class Backend>
void nearest_labels(Backend& backend, View<const float> u, View<const float> v, LabelGrid grid,
                    View<Label> labels);

/// Labels to convert into values.
struct Values {
  View<const Label> labels;
  CostsAround costs;               // around the labels
  View<const std::uint8_t> known;  // 1 where all planes of the frame are finite
  LabelGrid grid;
  int step = 1;  // a label of value (x, y) moves a pixel by (x * step, y) px
  bool sub_pixel = false;
  float uniqueness = 0;  // least margin of a valid label
};

/// Stores the values of labels, px. With sub_pixel, parabolas refine flow. `v` is empty for disparities,
/// which stay whole; refined disparities go to `fine`, if it is not empty. The confidence is the margin or,
/// without margins, the smaller label_confidence of x and y. Valid pixels are known and have a match inside
/// the image and enough margin.
template <class Backend>
void label_values(Backend& backend, const Values& values, View<float> u, View<float> v, View<float> fine,
                  Trust trust);

// Shared by both backends.

PF_HD int nearest_index(float value, int first, int count) {
  const float index = clamp(value - float(first), 0.0f, float(count - 1));
  return int(index + 0.5f);
}

/// Label of the value nearest to (u, v).
PF_HD Label nearest_label(LabelGrid grid, float u, float v) {
  return grid.label(nearest_index(u, grid.x0, grid.nx), nearest_index(v, grid.y0, grid.ny));
}

/// Offset of the minimum of the parabola through three costs, -0.5..0.5 labels; 0 if it has none.
PF_HD float parabola(float before, float middle, float after) {
  const float curvature = before - 2 * middle + after;
  return curvature > 0 ? clamp(0.5f * (before - after) / curvature, -0.5f, 0.5f) : 0.0f;
}

/// Value along x or y of a label with whole value `whole` and the costs around it.
PF_HD float label_value(int whole, bool sub_pixel, float before, float middle, float after) {
  return float(whole) + (sub_pixel ? parabola(before, middle, after) : 0.0f);
}

/// Smaller offsets of disparities become 0, so that surfaces that face the camera keep whole disparities.
constexpr float least_disparity_offset = 0.08f;

/// Refined disparity of a label with whole value `whole`: where two lines of opposite slopes through the
/// three costs meet. The slope is the steeper one between two of them.
PF_HD float disparity_value(int whole, float before, float middle, float after) {
  const float left = before - middle, right = after - middle, larger_one = larger(left, right);
  const bool is_least = bool((left >= 0) & (right >= 0) & (larger_one > 0));
  const float offset = is_least ? 0.5f * (left - right) / larger_one : 0.0f;
  return float(whole) + (magnitude(offset) < least_disparity_offset ? 0.0f : offset);
}

/// Confidence of a label from its margin; 0 if all other labels are adjacent to it.
PF_HD float margin_confidence(float margin) { return margin < most_margin ? margin : 0; }

/// Mean cost of the two adjacent labels minus the label's own cost; at least 0.
PF_HD float label_confidence(float before, float middle, float after) {
  return larger(0.5f * (before + after) - middle, 0.0f);
}

/// Whether the match of pixel (x, y) lies inside the image. `moves_y`: whether labels have a value in y.
PF_HD bool is_inside(LabelGrid grid, Label label, int step, bool moves_y, int x, int y, int width,
                     int height) {
  const int match_x = x + (grid.x0 + grid.x(label)) * step,
            match_y = moves_y ? y + grid.y0 + grid.y(label) : y;
  return (match_x >= 0) & (match_x < width) & (match_y >= 0) & (match_y < height);
}

}  // namespace parafield
