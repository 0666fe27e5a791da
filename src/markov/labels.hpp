#pragma once
#include "core/arithmetic.hpp"
#include "parafield/image.hpp"

namespace parafield {

/// Where a label lies in its grid: x + (y << 8), or x alone where the grid has one row. Ties go to the lowest.
using Label = std::uint16_t;

/// The labels: two of a mask, disparities, or displacements; nx * ny of them, the first of value (x0, y0).
struct LabelGrid {
  int nx = 1, ny = 1, x0 = 0, y0 = 0;

  PF_HD int count() const { return nx * ny; }
  PF_HD int shift() const { return ny > 1 ? 8 : 16; }
  PF_HD Label label(int x, int y) const { return Label(x + (y << shift())); }
  PF_HD int x(Label label) const { return label & ((1 << shift()) - 1); }
  PF_HD int y(Label label) const { return label >> shift(); }
};

/// What a pair of labels costs by their distance, and how often a compiler has to know the model.
enum class PairModel {
  separable,  ///< linear without a limit: a sum of what x and y cost
  linear,     ///< linear with a limit; Potts is linear with limit 1
  quadratic
};

struct PairCost {
  PairModel model = PairModel::separable;
  float slope = 0, limit = 1e30f;  // limit: of the cost
  int neighbors = 4;

  /// The cost of labels that are dx and dy apart.
  template <PairModel Model>
  PF_HD float cost(float dx, float dy) const {
    if constexpr (Model == PairModel::separable) return slope * (magnitude(dx) + magnitude(dy));
    if constexpr (Model == PairModel::linear) return smaller(slope * (magnitude(dx) + magnitude(dy)), limit);
    return smaller(slope * fma(dx, dx, dy * dy), limit);
  }
};

/// The neighbors of a site, those of a smaller neighborhood first; the second half of four or eight (the forward
/// edges) belong to the site itself when edges are counted.
struct Offset {
  int x, y;
};
PF_HD constexpr Offset neighbor_offset(int k) {
  constexpr Offset offsets[8] = {{-1, 0}, {0, -1}, {1, 0}, {0, 1}, {-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
  return offsets[k];
}
PF_HD constexpr bool is_forward(int k) { return (k & 2) != 0; }
/// Which of the planes of EdgeWeights has the edge to neighbor k, and the forward neighbor of plane j.
PF_HD constexpr int edge_plane(int k) { return (k & 1) + 2 * (k >> 2); }
PF_HD constexpr Offset forward_offset(int j) { return neighbor_offset((j & 1) + 2 + 4 * (j >> 1)); }

/// A part of an image; no data stays none.
template <class T>
View<T> part_of(const View<T>& whole, int x, int y, Size size) {
  if (!whole) return {};
  return {&whole(x, y), size.width, size.height, whole.pitch};
}

/// Weights of the edges from each site to its forward neighbors: right, down, down right, down left. No data: all 1.
struct EdgeWeights {
  View<float> forward[4];

  /// Of the edge from (x, y) to neighbor k, which lies inside.
  PF_HD float weight(int x, int y, int k) const {
    const View<float>& plane = forward[edge_plane(k)];
    if (!plane) return 1;
    const Offset to = neighbor_offset(k);
    return is_forward(k) ? plane(x, y) : plane(x + to.x, y + to.y);
  }
};

}  // namespace parafield
