// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "markov/neighbor_counts.hpp"
#include "markov/sweep/sweep.hpp"

// Sites of a row are updated in chunks. The labels of a chunk's neighbors are gathered first; then each label
// is tried at all of its sites, so that every inner loop runs along the row and vectorizes.
namespace parafield {
namespace {

constexpr int chunk = sweep_chunk;

template <class T>
using PerSite = T[chunk];

/// Neighbors of a chunk's sites: see Neighbor.
struct Neighborhood {
  PerSite<float> x[8], y[8], weight[8];
};

/// Gathers the neighbors of `count` sites of row y: x0, x0 + Stride and so on.
template <int Stride, class Data>
void gather_neighbors(const Energy<Data>& energy, View<const Label> labels, int x0, int y, int count,
                      Neighborhood& around) {
  const int neighbors = energy.pair.neighbors, shift = energy.grid.shift(), mask = (1 << shift) - 1;
  for (int k = 0; k < neighbors; ++k) {
    const Offset to = neighbor_offset(k);
    float *nx = around.x[k], *ny = around.y[k], *weight = around.weight[k];
    const bool row_inside = y + to.y >= 0 && y + to.y < energy.height;
    const int begin = !row_inside ? count : x0 + to.x < 0 ? 1 : 0;
    // Sites whose neighbor is not beyond the last column.
    const int most = (energy.width - 1 - to.x - x0) / Stride + 1;
    const int end =
        !row_inside ? begin : larger(begin, smaller(count, energy.width - 1 - to.x < x0 ? 0 : most));
    for (int i = 0; i < smaller(begin, count); ++i) nx[i] = ny[i] = weight[i] = 0;
    for (int i = end; i < count; ++i) nx[i] = ny[i] = weight[i] = 0;
    if (begin >= end) continue;
    const Label* row = labels.row(y + to.y) + x0 + to.x;
    for (int i = begin; i < end; ++i) {
      const int label = row[i * Stride];
      nx[i] = float(label & mask);
      ny[i] = float(label >> shift);
    }
    const View<float>& plane = energy.edges.forward[edge_plane(k)];
    if (!plane) {
      for (int i = begin; i < end; ++i) weight[i] = 1;
      continue;
    }
    const float* edge = is_forward(k) ? plane.row(y) + x0 : plane.row(y + to.y) + x0 + to.x;
    for (int i = begin; i < end; ++i) weight[i] = edge[i * Stride];
  }
}

/// Pair costs at site i: see pair_costs.
template <PairModel Model, int Neighbors, bool X, bool Y>
PF_HD float pair_costs_at(const PairCost& pair, const Neighborhood& around, float lx, float ly, int i) {
  return pair_costs<Model, Neighbors, X, Y>(pair, lx, ly, [&](int k) {
    return Neighbor{around.x[k][i], around.y[k][i], around.weight[k][i]};
  });
}

/// Calls use(label, cost_at) for each label, lowest first; cost_at(i) is its energy at site i of the chunk.
template <PairModel Model, int Neighbors, int Stride, class Data, class Use>
void try_labels(const Energy<Data>& energy, const Neighborhood& around, int x0, int y, int count,
                float* tables, Use use) {
  const LabelGrid grid = energy.grid;
  const PairCost pair = energy.pair;
  const auto data_row = [&](int lx, int ly) { return energy.data.row(y, lx, ly); };
  if constexpr (Model == PairModel::separable) {
    float* const along_y = tables + grid.nx * chunk;
    for (int lx = 0; lx < grid.nx; ++lx) {
      float* const along_x = tables + lx * chunk;
      for (int i = 0; i < count; ++i)
        along_x[i] = pair_costs_at<Model, Neighbors, true, false>(pair, around, float(lx), 0, i);
    }
    for (int ly = 0; ly < grid.ny; ++ly) {
      for (int i = 0; i < count; ++i)
        along_y[i] = pair_costs_at<Model, Neighbors, false, true>(pair, around, 0, float(ly), i);
      for (int lx = 0; lx < grid.nx; ++lx) {
        const auto data = data_row(lx, ly);
        const float* const along_x = tables + lx * chunk;
        use(grid.label(lx, ly), [=](int i) { return (data(x0 + i * Stride) + along_x[i]) + along_y[i]; });
      }
    }
  } else {
    for (int ly = 0; ly < grid.ny; ++ly)
      for (int lx = 0; lx < grid.nx; ++lx) {
        const auto data = data_row(lx, ly);
        use(grid.label(lx, ly), [=, &around](int i) {
          return data(x0 + i * Stride) +
                 pair_costs_at<Model, Neighbors, true, true>(pair, around, float(lx), float(ly), i);
        });
      }
  }
}

/// Calls f(x0, y, count, scratch) for all chunks of `sites`.
template <class F>
void for_each_chunk(Cpu& cpu, int width, int height, Sites sites, F f) {
  const int rows = (height - sites.first_row() + sites.row_stride() - 1) / sites.row_stride();
  cpu.few_rows(rows, [=](RowRange part, void* scratch) {
    for (int i = part.begin; i < part.end; ++i) {
      const int y = sites.first_row() + i * sites.row_stride();
      for (int x = sites.first(y); x < width; x += chunk * sites.stride())
        f(x, y, smaller(chunk, (width - x + sites.stride() - 1) / sites.stride()),
          static_cast<float*>(scratch));
    }
  });
}

/// Calls f.template operator()<Model, Neighbors, Stride>() with the values of a pair cost and of sites.
template <class F>
void with_model(const PairCost& pair, Sites sites, F f) {
  with_model(pair, [&]<PairModel Model, int Neighbors>() {
    sites.stride() == 1 ? f.template operator()<Model, Neighbors, 1>()
                        : f.template operator()<Model, Neighbors, 2>();
  });
}

/// ICM of all sites at once for Energy::is_binary, by counts of neighbors.
void icm_binary(Cpu& cpu, const Energy<StoredCosts>& energy, View<const Label> in, View<Label> out,
                int* flags, int sweep) {
  for_each_chunk(cpu, energy.width, energy.height, {}, [=](int x0, int y, int count, float*) {
    const int neighbors = energy.pair.neighbors;
    const float pair = energy.pair.cost<PairModel::linear>(1, 0);
    PerSite<int> ones, all;
    count_neighbors(in, neighbors, x0, y, count, ones, all);
    const float *const still = energy.data.volume.row(y, 0) + x0, *const moving =
                                                                      energy.data.volume.row(y, 1) + x0;
    const Label* const old = in.row(y) + x0;
    Label* const now = out.row(y) + x0;
    int changed = 0;
    for (int i = 0; i < count; ++i) {
      const int label = binary_label(still[i], moving[i], ones[i], all[i], pair);
      changed |= label ^ old[i];
      now[i] = Label(label);
    }
    if (changed) __atomic_store_n(flags + sweep + 1, 1, __ATOMIC_RELAXED);
  });
}

}  // namespace

template <class Backend, class Data>
void icm_sweep(Backend& cpu, const Energy<Data>& energy, View<const Label> in, View<Label> out, Sites sites,
               View<int> changes, int sweep) {
  int* const flags = changes.data;
  if (!__atomic_load_n(flags + sweep, __ATOMIC_RELAXED)) return;
  if constexpr (__is_same(Data, StoredCosts))
    if (energy.is_binary() && sites.colors == 1) return icm_binary(cpu, energy, in, out, flags, sweep);
  with_model(energy.pair, sites, [&]<PairModel Model, int Neighbors, int Stride>() {
    for_each_chunk(cpu, energy.width, energy.height, sites, [=](int x0, int y, int count, float* scratch) {
      Neighborhood around;
      gather_neighbors<Stride>(energy, in, x0, y, count, around);
      PerSite<float> least;
      PerSite<int> best;
      for (int i = 0; i < count; ++i) least[i] = 3e38f, best[i] = 0;
      try_labels<Model, Neighbors, Stride>(energy, around, x0, y, count, scratch,
                                           [&](int label, auto cost_at) {
                                             for (int i = 0; i < count; ++i) {
                                               const float cost = cost_at(i);
                                               const bool better = cost < least[i];
                                               least[i] = better ? cost : least[i];
                                               best[i] = better ? label : best[i];
                                             }
                                           });
      const Label* const old = in.row(y) + x0;
      Label* const now = out.row(y) + x0;
      int changed = 0;
      for (int i = 0; i < count; ++i) {
        changed |= old[i * Stride] ^ best[i];
        now[i * Stride] = Label(best[i]);
      }
      if (changed) __atomic_store_n(flags + sweep + 1, 1, __ATOMIC_RELAXED);
    });
  });
}

template <class Backend, class Data>
void gibbs_sweep(Backend& cpu, const Energy<Data>& energy, View<Label> labels, Sites sites, Temperature t) {
  with_model(energy.pair, sites, [&]<PairModel Model, int Neighbors, int Stride>() {
    for_each_chunk(cpu, energy.width, energy.height, sites, [=](int x0, int y, int count, float* scratch) {
      const LabelGrid grid = energy.grid;
      const int total = grid.count(), group = group_size(grid);
      Neighborhood around;
      gather_neighbors<Stride>(energy, View<const Label>(labels), x0, y, count, around);
      PerSite<float> least, sum, sum_of_group, aim;
      PerSite<int> drawn;
      for (int i = 0; i < count; ++i) least[i] = 3e38f;
      float *const probabilities = scratch + (grid.nx + 1) * chunk, *probability = probabilities;
      try_labels<Model, Neighbors, Stride>(energy, around, x0, y, count, scratch, [&](int, auto cost_at) {
        for (int i = 0; i < count; ++i) {
          const float cost = cost_at(i);
          probability[i] = cost;
          least[i] = smaller(cost, least[i]);
        }
        probability += chunk;
      });
      const auto sum_labels = [&](auto add) {  // add(p) adds a label to sum_of_group
        for (int i = 0; i < count; ++i) sum[i] = sum_of_group[i] = 0;
        for (int label = 0; label < total; ++label) {
          add(probabilities + label * chunk);
          if ((label + 1) % group != 0 && label + 1 < total) continue;
          for (int i = 0; i < count; ++i) sum[i] += sum_of_group[i], sum_of_group[i] = 0;
        }
      };
      sum_labels([&](float* p) {
        for (int i = 0; i < count; ++i) {
          p[i] = exponential((least[i] - p[i]) * t.inverse);
          sum_of_group[i] += p[i];
        }
      });
      for (int i = 0; i < count; ++i)
        aim[i] = random_number(t.key, x0 + i * Stride, y) * sum[i], drawn[i] = 0;
      sum_labels([&](const float* p) {
        for (int i = 0; i < count; ++i) {
          sum_of_group[i] += p[i];
          drawn[i] += sum[i] + sum_of_group[i] <= aim[i] ? 1 : 0;
        }
      });
      Label* const now = labels.row(y) + x0;
      for (int i = 0; i < count; ++i) {
        const int label = smaller(drawn[i], total - 1), ly = label / grid.nx;
        now[i * Stride] = grid.label(label - ly * grid.nx, ly);
      }
    });
  });
}

template <class Backend, class Data>
void energy_terms(Backend& cpu, const Energy<Data>& energy, View<const Label> labels, View<float> terms) {
  cpu.rows(energy.height, [=](int y) {
    for (int x = 0; x < energy.width; ++x) terms(x, y) = energy_term(energy, labels, x, y);
  });
}

template <class Backend, class Data>
void costs_around(Backend& cpu, const Energy<Data>& energy, View<const Label> labels, CostsAround costs) {
  cpu.rows(energy.height, [=](int y) {
    for (int x = 0; x < energy.width; ++x) store_costs_around(energy, labels(x, y), x, y, costs);
  });
}

template <class Backend>
void clear_changes(Backend&, View<int> changes) {
  for (int i = 0; i < changes.width; ++i) changes.data[i] = i == 0;
}

PF_SWEEP_STEPS(Cpu);

}  // namespace parafield
