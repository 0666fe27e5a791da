// SPDX-License-Identifier: MIT
#pragma once
#include "core/workspace.hpp"
#include "markov/sweep/sweep.hpp"

/// Steps between labels and their values, for disparities and displacements.
namespace parafield {

/// Stores the labels nearest to a disparity field (without v) or a flow field.
template <class Backend>
void nearest_labels(Backend& backend, View<const float> u, View<const float> v, LabelGrid grid,
                    View<Label> labels);

/// Labels that are turned into values.
struct Values {
  View<const Label> labels;
  CostsAround costs;               // of the labels
  View<const std::uint8_t> known;  // 1 where all planes of the frame are finite
  LabelGrid grid;
  int step = 1;  // a label of value (x, y) moves a pixel by (x * step, y) px
  bool sub_pixel = false;
  float least_offset = 0;  // a smaller offset becomes 0, px
};

/// Values::least_offset of disparities: surfaces that face the camera keep whole disparities.
constexpr float least_disparity_offset = 0.15f;

/// Stores the values of labels, px, refined by parabolas with sub_pixel; `v` is empty for disparities.
/// Confidence: the smaller label_confidence of x and y. Valid: known pixels with a match inside the image.
template <class Backend>
void label_values(Backend& backend, const Values& values, View<float> u, View<float> v, Trust trust);

// Both backends compute these.

PF_HD int nearest_index(float value, int first, int count) {
  const float index = clamp(value - float(first), 0.0f, float(count - 1));
  return int(index + 0.5f);
}

/// Label of the value nearest to (u, v).
PF_HD Label nearest_label(LabelGrid grid, float u, float v) {
  return grid.label(nearest_index(u, grid.x0, grid.nx), nearest_index(v, grid.y0, grid.ny));
}

/// Offset of the least value of a parabola through three costs, -0.5..0.5 labels; 0 if it has none.
PF_HD float parabola(float before, float middle, float after) {
  const float curvature = before - 2 * middle + after;
  return curvature > 0 ? clamp(0.5f * (before - after) / curvature, -0.5f, 0.5f) : 0.0f;
}

/// Value along x or y of a label with whole value `whole` and the costs around it.
/// Offsets below `least_offset` count as 0.
PF_HD float label_value(int whole, bool sub_pixel, float least_offset, float before, float middle,
                        float after) {
  const float offset = sub_pixel ? parabola(before, middle, after) : 0.0f;
  return float(whole) + (magnitude(offset) < least_offset ? 0.0f : offset);
}

/// Mean cost of the two labels beside a label, less its own; at least 0.
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
