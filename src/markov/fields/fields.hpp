#pragma once
#include "core/workspace.hpp"
#include "markov/sweep/sweep.hpp"
#include "parafield/methods/energy.hpp"

/// Steps from labels to results, and from a start to labels.
namespace parafield {

/// The labels nearest to a field: of disparities (no v), or of flow.
template <class Backend>
void nearest_labels(Backend& backend, View<const float> u, View<const float> v, LabelGrid grid,
                    View<Label> labels);

/// What labels are worth: their values, refined by parabolas through the costs around them where `sub_pixel` is set;
/// confidence: how far the costs beside lie above the label's, the smaller one of x and y. Valid where the pixel is known
/// and its match lies inside the image, (value.x * step, value.y) away. `v` only for grids of displacements.
struct Values {
  View<const Label> labels;
  CostsAround costs;
  View<const std::uint8_t> known;
  LabelGrid grid;
  int step = 1;
  bool sub_pixel = false;
};
template <class Backend>
void label_values(Backend& backend, const Values& values, View<float> u, View<float> v, Trust trust);

/// Data costs of a mask's two labels (Jodoin eq. 4), with the last mask's part where there is one.
struct Change {
  View<const float> frame0[3], frame1[3];
  int channels = 1;
  float mean = 0, weight = 0;  // 1 / sigma^2
  float temporal = 0;
  View<const Label> last;
};
/// ... the label of least cost without the last mask's part, where solvers start (started with it, a mask would hold itself
/// up), and where both frames have values. Elsewhere both labels cost nothing.
template <class Backend>
void change_costs(Backend& backend, const Change& change, Volume costs, View<Label> winners,
                  View<std::uint8_t> known);

/// A mask of labels; confidence: how much more the other label costs the pixel.
struct MaskOf {
  View<const Label> labels;
  Volume costs;
  PairCost pair;
  View<const std::uint8_t> known;
};
template <class Backend>
void mask_of(Backend& backend, const MaskOf& from, View<std::uint8_t> moving, Trust trust);

/// 1 where a mask is not 0.
template <class Backend>
void labels_of_mask(Backend& backend, View<const std::uint8_t> mask, View<Label> labels);

// What both backends compute.

PF_HD int nearest_index(float value, int first, int count) {
  const float index = clamp(value - float(first), 0.0f, float(count - 1));
  return int(index + 0.5f);
}

/// Where the parabola through three costs is least, in labels from the middle one; 0 where it is none.
PF_HD float parabola(float before, float middle, float after) {
  const float curvature = before - 2 * middle + after;
  return curvature > 0 ? clamp(0.5f * (before - after) / curvature, -0.5f, 0.5f) : 0.0f;
}

/// How far the costs beside a label's lie above it, in the mean.
PF_HD float label_confidence(float before, float middle, float after) {
  return larger(0.5f * (before + after) - middle, 0.0f);
}

/// Whether a label's match lies inside the image; `moves_y`: whether labels have a y.
PF_HD bool is_inside(LabelGrid grid, Label label, int step, bool moves_y, int x, int y, int width,
                     int height) {
  const int match_x = x + (grid.x0 + grid.x(label)) * step,
            match_y = moves_y ? y + grid.y0 + grid.y(label) : y;
  return (match_x >= 0) & (match_x < width) & (match_y >= 0) & (match_y < height);
}

/// Data costs of a pixel whose values differ by that much. `temporal`: what the last label adds to the other one's cost
/// and takes from its own; 0 without one.
struct ChangeCosts {
  float still, moving;
};
PF_HD ChangeCosts change_cost(const Change& change, float difference, float temporal) {
  const bool finite = is_finite(difference);
  const float off = difference - change.mean;
  return {finite ? fma(change.weight, difference * difference, temporal) : 0.0f,
          finite ? fma(change.weight, off * off, -temporal) : 0.0f};
}
PF_HD bool seems_moving(const Change& change, float difference) {
  const float off = difference - change.mean;
  return off * off < difference * difference;
}
PF_HD float mean_difference(float red0, float green0, float blue0, float red1, float green1, float blue1) {
  return (magnitude(red1 - red0) + magnitude(green1 - green0) + magnitude(blue1 - blue0)) * (1.0f / 3);
}

/// How much more the other label costs a pixel; `pair`: what each neighbor costs that differs.
PF_HD float mask_confidence(int label, float still, float moving, int ones, int all, float pair) {
  const int agree = label ? ones : all - ones;
  return larger(fma(pair, float(2 * agree - all), label ? still - moving : moving - still), 0.0f);
}

}  // namespace parafield
