// SPDX-License-Identifier: MIT
#pragma once
#include "markov/energy.hpp"

/// Steps of ICM and annealing, and energies. They work with any data cost.
namespace parafield {

constexpr int sweep_chunk = 128;  // sites of a row that the CPU updates together

/// Sites (pixels) that a step updates: all of them (1 color), or the sites of one color. Sites of one color
/// are never neighbors. With 4 neighbors there are 2 colors, a checkerboard. With 8 neighbors there are 4
/// colors: a color has every second column of every second row.
struct Sites {
  int colors = 1, color = 0;

  /// Columns from one site of a row to the next one.
  PF_HD int stride() const { return colors == 1 ? 1 : 2; }
  /// First row with sites, and the number of rows from one such row to the next.
  PF_HD int first_row() const { return colors == 4 ? color >> 1 : 0; }
  PF_HD int row_stride() const { return colors == 4 ? 2 : 1; }
  /// First column with a site in row y, a row with sites.
  PF_HD int first(int y) const { return colors == 1 ? 0 : colors == 2 ? (y + color) & 1 : color & 1; }
};

/// Resets the flags that record which sweeps have changed a label. changes[i + 1] is the flag of sweep i and
/// becomes 0. changes[0] becomes 1, so that sweep 0 runs.
template <class Backend>
void clear_changes(Backend& backend, View<int> changes);

/// One sweep of iterated conditional modes (Jodoin table 1) over `sites`. Each site takes the label of least
/// energy, given the labels `in`. If `sites` has several colors, `in` and `out` may be the same. Does nothing
/// if the previous sweep changed no label.
template <class Backend, class Data>
void icm_sweep(Backend& backend, const Energy<Data>& energy, View<const Label> in, View<Label> out,
               Sites sites, View<int> changes, int sweep);

/// Temperature of a sweep.
struct Temperature {
  float inverse = 1;      // 1 / temperature
  std::uint32_t key = 0;  // key of the sweep's random numbers
};

/// One sweep of the Gibbs sampler (Jodoin eq. 10, table 1) over `sites`. Each site draws a label, given the
/// labels of its neighbors. A label's probability is exp(-energy / temperature), divided by the sum over all
/// labels.
template <class Backend, class Data>
void gibbs_sweep(Backend& backend, const Energy<Data>& energy, View<Label> labels, Sites sites,
                 Temperature t);

/// Stores a term for each site: its data cost plus the pair costs of its forward edges. The sum of the terms
/// is the energy.
template <class Backend, class Data>
void energy_terms(Backend& backend, const Energy<Data>& energy, View<const Label> labels, View<float> terms);

/// Costs around each site's label: the cost of the label itself (`middle`), and the costs of the labels
/// before and after it in the grid, along x and along y. At the grid's border, `middle` replaces both. A grid
/// of one row needs no planes of y. All planes but `middle` may be empty.
struct CostsAround {
  View<float> middle = {}, before_x = {}, after_x = {}, before_y = {}, after_y = {};
  View<float> margin = {};  // for beliefs: the least of the labels not adjacent to the site's, minus its own
};
/// Whether two labels are adjacent in the grid, or the same.
PF_HD bool is_beside(LabelGrid grid, int label, int other) {
  const int dy = label / grid.nx - other / grid.nx, dx = label % grid.nx - other % grid.nx;
  return dx >= -1 && dx <= 1 && dy >= -1 && dy <= 1;
}
/// Margin of a site if all other labels are adjacent to its own.
constexpr float most_margin = 1e30f;

/// Stores the data costs around each site's label.
template <class Backend, class Data>
void costs_around(Backend& backend, const Energy<Data>& energy, View<const Label> labels, CostsAround costs);

/// Bytes of scratch memory for each CPU thread: the pair costs of a chunk and, for the Gibbs sampler, the
/// probabilities of all labels.
inline std::size_t sweep_scratch(LabelGrid grid, bool gibbs) {
  return sizeof(float) * sweep_chunk * std::size_t(grid.nx + 1 + (gibbs ? grid.count() : 0));
}

// The functions below are shared by both backends.

/// Calls f.template operator()<Model, Neighbors>() with the model and the number of neighbors of a pair cost.
template <class F>
void with_model(const PairCost& pair, F f) {
  const auto with_pair = [&]<PairModel Model>() {
    pair.neighbors == 4 ? f.template operator()<Model, 4>() : f.template operator()<Model, 8>();
  };
  switch (pair.model) {
    case PairModel::separable:
      return with_pair.template operator()<PairModel::separable>();
    case PairModel::linear:
      return with_pair.template operator()<PairModel::linear>();
    case PairModel::quadratic:
      return with_pair.template operator()<PairModel::quadratic>();
  }
}

/// Neighbor of a site: column `x` and row `y` of its label in the grid, and the weight of the edge to it. A
/// neighbor outside the image has weight 0.
struct Neighbor {
  float x, y, weight;
};

/// Sum of the pair costs of label (lx, ly) with all neighbors: the part along x (`X`), the part along y
/// (`Y`), or both together. neighbor(k) returns a Neighbor.
template <PairModel Model, int Neighbors, bool X, bool Y, class NeighborAt>
PF_HD float pair_costs(const PairCost& pair, float lx, float ly, NeighborAt neighbor) {
  float sum = 0;
  PF_UNROLL
  for (int k = 0; k < Neighbors; ++k) {
    const Neighbor to = neighbor(k);
    sum = fma(to.weight, pair.cost<Model>(X ? lx - to.x : 0, Y ? ly - to.y : 0), sum);
  }
  return sum;
}

/// Number of labels in a group: a row of the grid, or 16 labels in a grid of one row. Probabilities are
/// summed within each group first and then over the groups, so that the group of a drawn label can be found
/// before the label itself.
PF_HD int group_size(LabelGrid grid) { return grid.ny > 1 ? grid.nx : smaller(grid.nx, 16); }
PF_HD int group_count(LabelGrid grid) {
  return grid.ny > 1 ? grid.ny : (grid.nx + group_size(grid) - 1) / group_size(grid);
}

/// Hash of a number. Different numbers have different hashes (Wellons' lowbias32).
PF_HD std::uint32_t scrambled(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  x ^= x >> 16;
  return x;
}

/// Random number in [0, 1) for a site in a sweep.
PF_HD float random_number(std::uint32_t sweep_key, int x, int y) {
  const std::uint32_t site = scrambled(std::uint32_t(x) + 0x9e3779b9U * std::uint32_t(y));
  return float(int(scrambled(site ^ sweep_key) >> 8)) * (1.0f / 16777216);
}

/// Label of least energy of a site with two labels. cost0 and cost1 are their data costs. `ones` of its `all`
/// neighbors have label 1. Each neighbor with the other label costs `pair`.
PF_HD int binary_label(float cost0, float cost1, int ones, int all, float pair) {
  return fma(float(all - ones), pair, cost1) < fma(float(ones), pair, cost0) ? 1 : 0;
}

/// Data cost of site (x, y) plus the pair costs of its forward edges.
template <class Data>
PF_HD float energy_term(const Energy<Data>& energy, View<const Label> labels, int x, int y) {
  const LabelGrid grid = energy.grid;
  const PairCost& pair = energy.pair;
  const Label label = labels(x, y);
  const int lx = grid.x(label), ly = grid.y(label);
  float sum = energy.data.row(y, lx, ly)(x);
  for (int k = 0; k < pair.neighbors; ++k) {
    if (!is_forward(k)) continue;
    const int nx = x + neighbor_offset(k).x, ny = y + neighbor_offset(k).y;
    if (nx < 0 || nx >= energy.width || ny >= energy.height) continue;
    const Label other = labels(nx, ny);
    const float dx = float(lx - grid.x(other)), dy = float(ly - grid.y(other));
    const float cost = pair.model == PairModel::quadratic ? pair.cost<PairModel::quadratic>(dx, dy)
                                                          : pair.cost<PairModel::linear>(dx, dy);
    sum = fma(energy.edges.weight(x, y, k), cost, sum);
  }
  return sum;
}

/// Stores the costs around label (lx, ly) at pixel (x, y). cost_at(lx, ly) returns a label's cost.
template <class CostAt>
PF_HD void store_costs_around(const CostsAround& costs, LabelGrid grid, int lx, int ly, int x, int y,
                              CostAt cost_at) {
  const float middle = cost_at(lx, ly);
  const bool inside_x = lx > 0 && lx + 1 < grid.nx, inside_y = ly > 0 && ly + 1 < grid.ny;
  costs.middle(x, y) = middle;
  if (!costs.before_x) return;
  costs.before_x(x, y) = inside_x ? cost_at(lx - 1, ly) : middle;
  costs.after_x(x, y) = inside_x ? cost_at(lx + 1, ly) : middle;
  if (grid.ny == 1) return;
  costs.before_y(x, y) = inside_y ? cost_at(lx, ly - 1) : middle;
  costs.after_y(x, y) = inside_y ? cost_at(lx, ly + 1) : middle;
}
template <class Data>
PF_HD void store_costs_around(const Energy<Data>& energy, Label label, int x, int y,
                              const CostsAround& costs) {
  const LabelGrid grid = energy.grid;
  store_costs_around(costs, grid, grid.x(label), grid.y(label), x, y,
                     [&](int lx, int ly) { return energy.data.row(y, lx, ly)(x); });
}

/// Instantiate the steps for a backend: PF_DATA_STEPS for one type of data costs, PF_SWEEP_STEPS for all.
#define PF_DATA_STEPS(Backend, Data)    \
  PF_STEP(icm_sweep<Backend, Data>);    \
  PF_STEP(gibbs_sweep<Backend, Data>);  \
  PF_STEP(energy_terms<Backend, Data>); \
  PF_STEP(costs_around<Backend, Data>)
#define PF_SWEEP_STEPS(Backend)               \
  PF_DATA_STEPS(Backend, StoredCosts);        \
  PF_DATA_STEPS(Backend, Differences<1>);     \
  PF_DATA_STEPS(Backend, Differences<3>);     \
  PF_STEP(energy_terms<Backend, KnownCosts>); \
  PF_STEP(clear_changes<Backend>)

}  // namespace parafield
