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

/// Refined disparities of every other pixel of every other row: d(i, j) belongs to pixel (2 i, 2 j). The
/// data costs around the labels are summed over the pixels of the same label in a window. `certainty`: how
/// much more the two adjacent labels cost in the window, their mean.
struct RefinedLabels {
  View<float> d, certainty;
};

/// Stores the values of labels, px. With sub_pixel, parabolas refine flow. `v` is empty for disparities,
/// which stay whole. The confidence is the margin or, without margins, the smaller label_confidence of x and
/// y. Valid pixels are known and have a match inside the image and enough margin. Unless they are empty, also
/// computes `refined` disparities.
template <class Backend>
void label_values(Backend& backend, const Values& values, View<float> u, View<float> v, Trust trust,
                  const RefinedLabels& refined);

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

constexpr int refined_radius = 2;  // px, of the window of RefinedLabels

/// How much more the labels before and after a pixel's label cost, summed over a window.
struct CostRises {
  float before = 0, after = 0;

  /// Adds a pixel of the window. `same`: whether it has the same label.
  PF_HD void add(bool same, float cost_before, float cost, float cost_after) {
    before += same ? cost_before - cost : 0.0f;
    after += same ? cost_after - cost : 0.0f;
  }
  /// Offset of the minimum, -0.5 to 0.5 labels: where two lines of opposite slopes through the three costs
  /// meet. Farther from their minimum, the costs of real images rise less than that, which draws offsets to
  /// whole labels; the polynomial undoes this. It was fitted to rendered planes that face the camera, with
  /// textures of several scales, because on slanted planes errors of both signs cancel out.
  PF_HD float offset() const {
    const float most = larger(before, after);
    const bool is_least = bool((before >= 0) & (after >= 0) & (most > 0));
    const float of_lines = is_least ? 0.5f * (before - after) / most : 0.0f;
    const float rest = 1 - 2 * magnitude(of_lines);
    return of_lines * fma(0.8f, rest, 1.0f);
  }
  PF_HD float mean() const { return 0.5f * (before + after); }
};

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
