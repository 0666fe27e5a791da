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
/// ... and the label of least cost without that part, where solvers start: started with it, a mask would hold itself up.
template <class Backend>
void change_costs(Backend& backend, const Change& change, Volume costs, View<Label> winners);

/// A mask of labels; confidence: how much more the other label costs the pixel.
struct MaskOf {
  View<const Label> labels;
  Volume costs;
  PairCost pair;
  View<const std::uint8_t> known0, known1;
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

PF_HD void store_value(const Values& from, View<float> u, View<float> v, const Trust& trust, int x, int y) {
  const LabelGrid grid = from.grid;
  const Label label = from.labels(x, y);
  const float middle = from.costs.middle(x, y);
  const float before = from.costs.before_x(x, y), after = from.costs.after_x(x, y);
  const int whole_x = grid.x0 + grid.x(label), whole_y = grid.y0 + grid.y(label);
  float confidence = 0.5f * (before + after) - middle;
  u(x, y) = from.sub_pixel ? float(whole_x) + parabola(before, middle, after) : float(whole_x);
  if (v) {
    const float above = from.costs.before_y(x, y), below = from.costs.after_y(x, y);
    confidence = smaller(confidence, 0.5f * (above + below) - middle);
    v(x, y) = from.sub_pixel ? float(whole_y) + parabola(above, middle, below) : float(whole_y);
  }
  if (!trust.valid) return;
  const int match_x = x + whole_x * from.step, match_y = v ? y + whole_y : y;
  const bool inside = (match_x >= 0) & (match_x < u.width) & (match_y >= 0) & (match_y < u.height);
  trust.valid(x, y) = inside & (from.known(x, y) != 0);
  trust.confidence(x, y) = larger(confidence, 0.0f);
}

PF_HD void store_change(const Change& change, const Volume& costs, View<Label> winners, int x, int y) {
  float difference = magnitude(change.frame1[0](x, y) - change.frame0[0](x, y));
  if (change.channels == 3)
    difference = (difference + magnitude(change.frame1[1](x, y) - change.frame0[1](x, y)) +
                  magnitude(change.frame1[2](x, y) - change.frame0[2](x, y))) *
                 (1.0f / 3);
  const float off = difference - change.mean;
  const bool moved = change.last && change.last(x, y) != 0;
  const float with = change.last ? change.temporal : 0.0f;
  const float still = change.weight * (difference * difference), moving = change.weight * (off * off);
  costs.row(y, 0)[x] = still + (moved ? with : -with);
  costs.row(y, 1)[x] = moving + (moved ? -with : with);
  winners(x, y) = moving < still ? 1 : 0;
}

PF_HD void store_mask(const MaskOf& from, View<std::uint8_t> moving, const Trust& trust, int x, int y) {
  const Label label = from.labels(x, y);
  float more = from.costs.row(y, 1 - label)[x] - from.costs.row(y, label)[x];
  for (int k = 0; k < from.pair.neighbors; ++k) {
    const int nx = x + neighbor_offset(k).x, ny = y + neighbor_offset(k).y;
    if (nx < 0 || nx >= moving.width || ny < 0 || ny >= moving.height) continue;
    const float one = from.pair.cost<PairModel::linear>(1, 0);
    more += from.labels(nx, ny) == label ? one : -one;
  }
  moving(x, y) = std::uint8_t(label);
  trust.valid(x, y) = from.known0(x, y) & from.known1(x, y);
  trust.confidence(x, y) = larger(more, 0.0f);
}

}  // namespace parafield
