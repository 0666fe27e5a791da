// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"
#include "parafield/image.hpp"

namespace parafield {

/// Label of a pixel: its position in the grid of labels, x + (y << 8), or x if the grid has one row.
using Label = std::uint16_t;

/// Grid of all labels: the two labels of a mask, a row of disparities, or displacements in x and y.
struct LabelGrid {
  int nx = 1, ny = 1;  // labels in a row, and rows
  int x0 = 0, y0 = 0;  // value of the first label, px

  PF_HD int count() const { return nx * ny; }
  PF_HD int shift() const { return ny > 1 ? 8 : 16; }
  PF_HD Label label(int x, int y) const { return Label(x + (y << shift())); }
  PF_HD int x(Label label) const { return label & ((1 << shift()) - 1); }
  PF_HD int y(Label label) const { return label >> shift(); }
};

/// Smoothness model: how the cost of two labels grows with their distance. Loops are compiled for each model.
enum class PairModel {
  separable,  ///< linear without a limit: a cost along x plus a cost along y
  linear,     ///< linear with a limit; Potts is linear with limit 1
  quadratic
};

/// Cost of the labels of two neighboring pixels, before the weight of their edge.
struct PairCost {
  PairModel model = PairModel::separable;
  float slope = 0, limit = 1e30f;  // limit: the highest cost
  int neighbors = 4;

  /// Cost of two labels that are dx columns and dy rows of the grid apart.
  template <PairModel Model>
  PF_HD float cost(float dx, float dy) const {
    if constexpr (Model == PairModel::separable) return slope * (magnitude(dx) + magnitude(dy));
    if constexpr (Model == PairModel::linear) return smaller(slope * (magnitude(dx) + magnitude(dy)), limit);
    return smaller(slope * fma(dx, dx, dy * dy), limit);
  }
};

struct Offset {
  int x, y;
};
/// Offset of neighbor k of a site: left, up, right, down, then the diagonal ones.
PF_HD constexpr Offset neighbor_offset(int k) {
  constexpr Offset offsets[8] = {{-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  return offsets[k];
}
/// Whether neighbor k comes after the site in row order, in which case the edge is stored at the site.
PF_HD constexpr bool is_forward(int k) { return (k & 2) != 0; }
/// Index of the plane of EdgeWeights that holds the edge to neighbor k.
PF_HD constexpr int edge_plane(int k) { return (k & 1) + 2 * (k >> 2); }
/// Offset of the forward neighbor that plane j of EdgeWeights leads to.
PF_HD constexpr Offset forward_offset(int j) { return neighbor_offset((j & 1) + 2 + 4 * (j >> 1)); }

/// Part of an image from pixel (x, y) on. An empty view stays empty.
template <class T>
View<T> part_of(const View<T>& whole, int x, int y, Size size) {
  if (!whole) return {};
  return {&whole(x, y), size.width, size.height, whole.pitch};
}

/// Weights, 0..1, of the edges from each site to the right, down, down right and down left. An empty plane
/// means weight 1.
struct EdgeWeights {
  View<float> forward[4];
  View<float> flatness;  // 1 where there is no texture, which makes belief propagation smooth more; empty: 0
  View<float> used[2];   // weights that belief propagation uses to the right and down; empty without flatness
  View<const std::uint32_t> color = {};  // color words (see mix.hpp), for the slopes of belief propagation

  /// Weight of the edge from (x, y) to its neighbor k, which must lie inside the image.
  PF_HD float weight(int x, int y, int k) const {
    const View<float>& plane = forward[edge_plane(k)];
    if (!plane) return 1;
    const Offset to = neighbor_offset(k);
    return is_forward(k) ? plane(x, y) : plane(x + to.x, y + to.y);
  }
};

/// Largest factor by which flatness can raise the weight of an edge, and the largest at each level: 2 at the
/// finest level, and 1.5 times as much at each coarser one.
constexpr float most_growth = 8;
PF_HD float growth_of(int level) {
  float growth = 2;
  for (int k = 0; k < level; ++k) growth *= 1.5f;
  return smaller(growth, most_growth);
}
/// Weight that messages use: `plain`, raised by the smaller flatness of the edge's two pixels.
PF_HD float used_weight(float plain, float flatness, float other, float growth) {
  return plain * fma(growth - 1, smaller(flatness, other), 1.0f);
}

}  // namespace parafield
