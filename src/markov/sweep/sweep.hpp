#pragma once
#include "markov/energy.hpp"

/// Steps of the solvers, for any data cost.
namespace parafield {

constexpr int sweep_chunk = 128;  // sites that the CPU updates together

/// Which sites a step updates: all, or those of one of 2 colors (a checkerboard, for four neighbors) or of 4 (2 x 2,
/// for eight).
struct Sites {
  int colors = 1, color = 0;

  PF_HD int stride() const { return colors == 1 ? 1 : 2; }
  /// Rows that have any: first, and from one to the next.
  PF_HD int first_row() const { return colors == 4 ? color >> 1 : 0; }
  PF_HD int row_stride() const { return colors == 4 ? 2 : 1; }
  /// The first column of such a row.
  PF_HD int first(int y) const { return colors == 1 ? 0 : colors == 2 ? (y + color) & 1 : color & 1; }
};

/// Whether each sweep has changed anything: one for each sweep, and a first that is not 0.
struct Changes {
  View<int> flags;
};

/// Before the first sweep: nothing has changed in any.
template <class Backend>
void clear_changes(Backend& backend, Changes changes);

/// Iterated conditional modes: the sites take the label of least energy given their neighbors' in `in`. Does nothing
/// where the sweep before changed nothing. `in` and `out` may be one where `sites` are no neighbors.
template <class Backend, class Data>
void icm_sweep(Backend& backend, const Energy<Data>& energy, View<const Label> in, View<Label> out,
               Sites sites, Changes changes, int sweep);

/// The Gibbs sampler: the sites draw a label by its probability at a temperature, given their neighbors'.
struct Temperature {
  float inverse = 1;
  std::uint32_t key = 0;  // of the sweep's random numbers
};
template <class Backend, class Data>
void gibbs_sweep(Backend& backend, const Energy<Data>& energy, View<Label> labels, Sites sites,
                 Temperature t);

/// Each site's data cost and the pair costs of its forward edges: their sum is the energy.
template <class Backend, class Data>
void energy_terms(Backend& backend, const Energy<Data>& energy, View<const Label> labels, View<float> terms);

/// Data costs at the label of each site, and at the labels before and after it in x, and in y where the grid has rows.
/// At the grid's border, where there is none, the middle one stands in. Planes but the first may be left out together.
struct CostsAround {
  View<float> middle = {}, before_x = {}, after_x = {}, before_y = {}, after_y = {};
};
template <class Backend, class Data>
void costs_around(Backend& backend, const Energy<Data>& energy, View<const Label> labels, CostsAround costs);

/// Bytes of scratch memory that a thread of the CPU needs for the sweeps over a grid: a table and the Gibbs sampler's
/// probabilities, for a chunk of sites.
inline std::size_t sweep_scratch(LabelGrid grid, bool gibbs) {
  return sizeof(float) * sweep_chunk * std::size_t(grid.nx + 1 + (gibbs ? grid.count() : 0));
}

// What both backends compute.

/// Calls f.template operator()<Model, Neighbors>() for what an energy asks for at run time.
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

/// Labels whose probabilities are added up first: a row of the grid, or 16 where it has one row only. Sums over all are
/// sums of these, so that a drawn label can be found by group.
PF_HD int group_size(LabelGrid grid) { return grid.ny > 1 ? grid.nx : smaller(grid.nx, 16); }
PF_HD int group_count(LabelGrid grid) {
  return grid.ny > 1 ? grid.ny : (grid.nx + group_size(grid) - 1) / group_size(grid);
}

/// A bijection that leaves no pattern (Wellons' lowbias32).
PF_HD std::uint32_t scrambled(std::uint32_t x) {
  x ^= x >> 16;
  x *= 0x7feb352dU;
  x ^= x >> 15;
  x *= 0x846ca68bU;
  x ^= x >> 16;
  return x;
}

/// A random number in [0, 1) of a site in a sweep.
PF_HD float random_number(std::uint32_t sweep_key, int x, int y) {
  const std::uint32_t site = scrambled(std::uint32_t(x) + 0x9e3779b9U * std::uint32_t(y));
  return float(int(scrambled(site ^ sweep_key) >> 8)) * (1.0f / 16777216);
}

/// The better one of two labels: `ones` of `all` neighbors have label 1, and each that differs costs `pair`.
PF_HD int binary_label(float cost0, float cost1, int ones, int all, float pair) {
  return fma(float(all - ones), pair, cost1) < fma(float(ones), pair, cost0) ? 1 : 0;
}

template <class Data>
PF_HD float data_cost(const Energy<Data>& energy, int lx, int ly, int x, int y) {
  return energy.data.row(y, lx, ly)(x);
}

template <class Data>
PF_HD float energy_term(const Energy<Data>& energy, View<const Label> labels, int x, int y) {
  const LabelGrid grid = energy.grid;
  const PairCost& pair = energy.pair;
  const Label label = labels(x, y);
  const int lx = grid.x(label), ly = grid.y(label);
  float sum = data_cost(energy, lx, ly, x, y);
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

template <class Data>
PF_HD void store_costs_around(const Energy<Data>& energy, Label label, int x, int y,
                              const CostsAround& costs) {
  const LabelGrid grid = energy.grid;
  const int lx = grid.x(label), ly = grid.y(label);
  const float middle = data_cost(energy, lx, ly, x, y);
  const bool inside_x = lx > 0 && lx + 1 < grid.nx, inside_y = ly > 0 && ly + 1 < grid.ny;
  costs.middle(x, y) = middle;
  if (!costs.before_x) return;
  costs.before_x(x, y) = inside_x ? data_cost(energy, lx - 1, ly, x, y) : middle;
  costs.after_x(x, y) = inside_x ? data_cost(energy, lx + 1, ly, x, y) : middle;
  if (grid.ny == 1) return;
  costs.before_y(x, y) = inside_y ? data_cost(energy, lx, ly - 1, x, y) : middle;
  costs.after_y(x, y) = inside_y ? data_cost(energy, lx, ly + 1, x, y) : middle;
}

}  // namespace parafield
