// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "markov/neighbor_counts.hpp"
#include "markov/sweep/sweep.hpp"

// Sites of a row are updated in chunks. The labels of a chunk's neighbors are gathered first; then each label
// is tried at all of its sites, so that every inner loop runs along the row and vectorizes.
namespace parafield {
namespace {

constexpr int most_sites = sweep_chunk;

template <class T>
using PerSite = T[most_sites];

/// Sites of row y that are updated together: x0, x0 + stride and so on.
struct Chunk {
  int x0, y, count, stride;
};

/// Type-erased data costs. Loops over labels that read costs through this are compiled once for all types.
struct AnyCosts {
  const void* data;
  void (*read)(const void* data, int lx, int ly, Chunk chunk, float* costs);
};

/// Writes the costs of label (lx, ly) at the sites of a chunk.
template <class Data>
void read_costs(const void* data, int lx, int ly, Chunk chunk, float* costs) {
  const Data copy = *static_cast<const Data*>(data);  // lets the compiler know that `costs` does not alias it
  const auto row = copy.row(chunk.y, lx, ly);
  const int x0 = chunk.x0, count = chunk.count;
  if (chunk.stride == 1)
    for (int i = 0; i < count; ++i) costs[i] = row(x0 + i);
  else
    for (int i = 0; i < count; ++i) costs[i] = row(x0 + 2 * i);
}

template <class Data>
Energy<AnyCosts> with_any_costs(const Energy<Data>& energy) {
  return {energy.width, energy.height, energy.grid,
          energy.pair,  energy.edges,  {&energy.data, read_costs<Data>}};
}

/// Costs of label (lx, ly) at the sites of a chunk, as a function of the site. `room`: memory for them. A
/// stride of 2 requires AnyCosts.
template <class Data>
auto chunk_costs(const Data& data, int lx, int ly, Chunk chunk, float* room) {
  if constexpr (__is_same(Data, AnyCosts)) {
    data.read(data.data, lx, ly, chunk, room);
    return CostRow{room};
  } else {
    return [row = data.row(chunk.y, lx, ly), x0 = chunk.x0](int i) { return row(x0 + i); };
  }
}

/// Neighbors of a chunk's sites: see Neighbor.
struct Neighborhood {
  PerSite<float> x[8], y[8], weight[8];
};

template <class Data>
void gather_neighbors(const Energy<Data>& energy, View<const Label> labels, Chunk chunk,
                      Neighborhood& around) {
  const int neighbors = energy.pair.neighbors, shift = energy.grid.shift(), mask = (1 << shift) - 1;
  const auto [x0, y, count, stride] = chunk;
  for (int k = 0; k < neighbors; ++k) {
    const Offset to = neighbor_offset(k);
    float *nx = around.x[k], *ny = around.y[k], *weight = around.weight[k];
    const bool row_inside = y + to.y >= 0 && y + to.y < energy.height;
    const int begin = !row_inside ? count : x0 + to.x < 0 ? 1 : 0;
    // Number of sites whose neighbor is not beyond the last column.
    const int most = (energy.width - 1 - to.x - x0) / stride + 1;
    const int end =
        !row_inside ? begin : larger(begin, smaller(count, energy.width - 1 - to.x < x0 ? 0 : most));
    for (int i = 0; i < smaller(begin, count); ++i) nx[i] = ny[i] = weight[i] = 0;
    for (int i = end; i < count; ++i) nx[i] = ny[i] = weight[i] = 0;
    if (begin >= end) continue;
    const Label* row = labels.row(y + to.y) + x0 + to.x;
    for (int i = begin; i < end; ++i) {
      const int label = row[i * stride];
      nx[i] = float(label & mask);
      ny[i] = float(label >> shift);
    }
    const View<float>& plane = energy.edges.forward[edge_plane(k)];
    if (!plane) {
      for (int i = begin; i < end; ++i) weight[i] = 1;
      continue;
    }
    const float* edge = is_forward(k) ? plane.row(y) + x0 : plane.row(y + to.y) + x0 + to.x;
    for (int i = begin; i < end; ++i) weight[i] = edge[i * stride];
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
template <PairModel Model, int Neighbors, class Data, class Use>
void try_labels(const Energy<Data>& energy, const Neighborhood& around, Chunk chunk, float* tables, Use use) {
  const LabelGrid grid = energy.grid;
  const PairCost pair = energy.pair;
  [[maybe_unused]] PerSite<float> room;
  const auto costs_of = [&](int lx, int ly) { return chunk_costs(energy.data, lx, ly, chunk, room); };
  if constexpr (Model == PairModel::separable) {
    float* const along_y = tables + grid.nx * most_sites;
    for (int lx = 0; lx < grid.nx; ++lx) {
      float* const along_x = tables + lx * most_sites;
      for (int i = 0; i < chunk.count; ++i)
        along_x[i] = pair_costs_at<Model, Neighbors, true, false>(pair, around, float(lx), 0, i);
    }
    for (int ly = 0; ly < grid.ny; ++ly) {
      for (int i = 0; i < chunk.count; ++i)
        along_y[i] = pair_costs_at<Model, Neighbors, false, true>(pair, around, 0, float(ly), i);
      for (int lx = 0; lx < grid.nx; ++lx) {
        const auto cost = costs_of(lx, ly);
        const float* const along_x = tables + lx * most_sites;
        use(grid.label(lx, ly), [=](int i) { return (cost(i) + along_x[i]) + along_y[i]; });
      }
    }
  } else {
    for (int ly = 0; ly < grid.ny; ++ly)
      for (int lx = 0; lx < grid.nx; ++lx) {
        const auto cost = costs_of(lx, ly);
        use(grid.label(lx, ly), [=, &around](int i) {
          return cost(i) + pair_costs_at<Model, Neighbors, true, true>(pair, around, float(lx), float(ly), i);
        });
      }
  }
}

/// Calls f(chunk, scratch) for all chunks of `sites`.
template <class F>
void for_each_chunk(Cpu& cpu, int width, int height, Sites sites, F f) {
  const int rows = (height - sites.first_row() + sites.row_stride() - 1) / sites.row_stride();
  cpu.few_rows(rows, [=](RowRange part, void* scratch) {
    const int stride = sites.stride();
    for (int i = part.begin; i < part.end; ++i) {
      const int y = sites.first_row() + i * sites.row_stride();
      for (int x = sites.first(y); x < width; x += most_sites * stride)
        f(Chunk{x, y, smaller(most_sites, (width - x + stride - 1) / stride), stride},
          static_cast<float*>(scratch));
    }
  });
}

/// ICM for Energy::is_binary that updates all sites at once, from counts of neighbors.
void icm_binary(Cpu& cpu, const Energy<StoredCosts>& energy, View<const Label> in, View<Label> out,
                int* flags, int sweep) {
  for_each_chunk(cpu, energy.width, energy.height, {}, [=](Chunk chunk, float*) {
    const int x0 = chunk.x0, y = chunk.y, count = chunk.count;
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

template <class Data>
void icm_chunks(Cpu& cpu, const Energy<Data>& energy, View<const Label> in, View<Label> out, Sites sites,
                int* flags, int sweep) {
  with_model(energy.pair, [&]<PairModel Model, int Neighbors>() {
    for_each_chunk(cpu, energy.width, energy.height, sites, [=](Chunk chunk, float* scratch) {
      const int x0 = chunk.x0, y = chunk.y, count = chunk.count, stride = chunk.stride;
      Neighborhood around;
      gather_neighbors(energy, in, chunk, around);
      PerSite<float> least;
      PerSite<int> best;
      for (int i = 0; i < count; ++i) least[i] = 3e38f, best[i] = 0;
      try_labels<Model, Neighbors>(energy, around, chunk, scratch, [&](int label, auto cost_at) {
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
        changed |= old[i * stride] ^ best[i];
        now[i * stride] = Label(best[i]);
      }
      if (changed) __atomic_store_n(flags + sweep + 1, 1, __ATOMIC_RELAXED);
    });
  });
}

void gibbs_chunks(Cpu& cpu, const Energy<AnyCosts>& energy, View<Label> labels, Sites sites, Temperature t) {
  with_model(energy.pair, [&]<PairModel Model, int Neighbors>() {
    for_each_chunk(cpu, energy.width, energy.height, sites, [=](Chunk chunk, float* scratch) {
      const int x0 = chunk.x0, y = chunk.y, count = chunk.count, stride = chunk.stride;
      const LabelGrid grid = energy.grid;
      const int total = grid.count(), group = group_size(grid);
      Neighborhood around;
      gather_neighbors(energy, labels, chunk, around);
      PerSite<float> least, sum, sum_of_group, aim;
      PerSite<int> drawn;
      for (int i = 0; i < count; ++i) least[i] = 3e38f;
      float *const probabilities = scratch + (grid.nx + 1) * most_sites, *probability = probabilities;
      try_labels<Model, Neighbors>(energy, around, chunk, scratch, [&](int, auto cost_at) {
        for (int i = 0; i < count; ++i) {
          const float cost = cost_at(i);
          probability[i] = cost;
          least[i] = smaller(cost, least[i]);
        }
        probability += most_sites;
      });
      const auto sum_labels = [&](auto add) {  // add(p) adds a label to sum_of_group
        for (int i = 0; i < count; ++i) sum[i] = sum_of_group[i] = 0;
        for (int label = 0; label < total; ++label) {
          add(probabilities + label * most_sites);
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
        aim[i] = random_number(t.key, x0 + i * stride, y) * sum[i], drawn[i] = 0;
      sum_labels([&](const float* p) {
        for (int i = 0; i < count; ++i) {
          sum_of_group[i] += p[i];
          drawn[i] += sum[i] + sum_of_group[i] <= aim[i] ? 1 : 0;
        }
      });
      Label* const now = labels.row(y) + x0;
      for (int i = 0; i < count; ++i) {
        const int label = smaller(drawn[i], total - 1), ly = label / grid.nx;
        now[i * stride] = grid.label(label - ly * grid.nx, ly);
      }
    });
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
  sites.stride() == 1 ? icm_chunks(cpu, energy, in, out, sites, flags, sweep)
                      : icm_chunks(cpu, with_any_costs(energy), in, out, sites, flags, sweep);
}

template <class Backend, class Data>
void gibbs_sweep(Backend& cpu, const Energy<Data>& energy, View<Label> labels, Sites sites, Temperature t) {
  gibbs_chunks(cpu, with_any_costs(energy), labels, sites, t);
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
