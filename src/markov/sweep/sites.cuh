// SPDX-License-Identifier: MIT
#pragma once
#include "markov/sweep/sweep.hpp"

/// Site of a thread: its neighbors, and the energies of its labels.
namespace parafield {
namespace {

constexpr int threads_x = 32, threads_y = 4, site_threads = threads_x * threads_y;

/// Loads all neighbors at once, because with branches each load would wait. Outside the image the nearest
/// pixel is loaded.
template <int Neighbors, class Data>
__device__ void find_neighbors(const Energy<Data>& energy, View<const Label> labels, int x, int y,
                               Neighbor (&around)[Neighbors]) {
  const int pitch = int(labels.stride());
  const int columns[3] = {larger(x - 1, 0), x, smaller(x + 1, energy.width - 1)};
  const int rows[3] = {larger(y - 1, 0) * pitch, y * pitch, smaller(y + 1, energy.height - 1) * pitch};
  const bool columns_inside[3] = {x > 0, true, x + 1 < energy.width};
  const bool rows_inside[3] = {y > 0, true, y + 1 < energy.height};
  Label label[Neighbors];
  PF_UNROLL
  for (int k = 0; k < Neighbors; ++k)
    label[k] = labels.data[rows[neighbor_offset(k).y + 1] + columns[neighbor_offset(k).x + 1]];
  if (energy.edges.forward[0]) {
    PF_UNROLL
    for (int k = 0; k < Neighbors; ++k) {
      const View<float>& plane = energy.edges.forward[edge_plane(k)];
      around[k].weight = is_forward(k)
                             ? plane(x, y)
                             : plane(columns[neighbor_offset(k).x + 1], larger(y + neighbor_offset(k).y, 0));
    }
  } else {
    PF_UNROLL
    for (int k = 0; k < Neighbors; ++k) around[k].weight = 1;
  }
  PF_UNROLL
  for (int k = 0; k < Neighbors; ++k) {
    const bool inside = columns_inside[neighbor_offset(k).x + 1] && rows_inside[neighbor_offset(k).y + 1];
    around[k] = {float(energy.grid.x(label[k])), float(energy.grid.y(label[k])),
                 inside ? around[k].weight : 0.0f};
  }
}

/// A label whose energy is more than gibbs_reach temperatures above the least has a weight below 2^-40.
/// Counting such a weight as 0 changes a sum by less than 2^-39, including rounding.
constexpr float gibbs_reach = 28, most_skipped = 0x1p-39f;

/// Sum of weights, some of which are skipped. It is between `low`, which counts skipped weights as 0, and
/// `high`, which counts an upper bound for each. Rounding is monotonic, so the sum is exact whenever the two
/// bounds are equal. If they differ, they almost always become equal again a few additions later.
struct SureSum {
  float low = 0, high = 0;
  float unsure = 0;      // `high` after the last group where the bounds differed
  int last_unsure = -1;  // index of that group, or -1

  __device__ void add(float weight) { low += weight, high += weight; }
  __device__ void skip(int count) { high += float(count) * most_skipped; }
  /// Adds the sum of a group. Groups must be added in order.
  __device__ void add(const SureSum& group, int index) {
    low += group.low, high += group.high;
    if (low != high) last_unsure = index, unsure = high;
  }
  /// Upper bound of the running sum after group `index`; `low_there` is the lower bound of the same sum.
  __device__ float high_at(int index, float low_there) const {
    return index >= 0 && index == last_unsure ? unsure : low_there;
  }
  /// Whether both the total and the first group whose running sum exceeds `aim` are known exactly.
  __device__ bool is_sure(float aim) const { return low == high && (last_unsure < 0 || unsure <= aim); }
};

/// Energies of a site's labels.
template <PairModel Model, int Neighbors, class Data>
struct Site {
  const Energy<Data>& energy;
  Neighbor around[Neighbors];
  float* table;  // pair costs along x in shared memory: this thread's column, with a stride of `site_threads`
  typename Data::Site data;

  __device__ Site(const Energy<Data>& energy, View<const Label> labels, int x, int y, float* table)
      : energy(energy), table(table), data(energy.data.site(x, y)) {
    find_neighbors(energy, labels, x, y, around);
    if constexpr (Model == PairModel::separable) {
      const int columns = energy.grid.ny > 1 ? energy.grid.nx : 0;
#pragma unroll 4
      for (int lx = 0; lx < columns; ++lx) table[lx * site_threads] = costs_of<true, false>(lx, 0);
    }
  }

  /// Pair costs of label (lx, ly): see pair_costs.
  template <bool X, bool Y>
  __device__ float costs_of(int lx, int ly) const {
    return pair_costs<Model, Neighbors, X, Y>(energy.pair, float(lx), float(ly),
                                              [&](int k) { return around[k]; });
  }

  /// Calls use(index, energy) for labels [begin, end) of row ly, lowest first.
  template <class Use>
  __device__ void try_row(int ly, int begin, int end, Use use) const {
    const int first = ly * energy.grid.nx;
    const auto costs = data.row(ly);
    if constexpr (Model == PairModel::separable) {
      if (energy.grid.ny > 1) {
        const float along_y = costs_of<false, true>(0, ly);
#pragma unroll 4
        for (int lx = begin; lx < end; ++lx)
          use(first + lx, (costs(lx) + table[lx * site_threads]) + along_y);
      } else {  // a single row: each pair cost is used once
#pragma unroll 4
        for (int lx = begin; lx < end; ++lx) use(lx, costs(lx) + costs_of<true, false>(lx, 0));
      }
    } else {
#pragma unroll 4
      for (int lx = begin; lx < end; ++lx) use(first + lx, costs(lx) + costs_of<true, true>(lx, ly));
    }
  }
  template <class Use>
  __device__ void try_all(Use use) const {
    for (int ly = 0; ly < energy.grid.ny; ++ly) try_row(ly, 0, energy.grid.nx, use);
  }
  __device__ Label label(int index) const {
    const int ly = index / energy.grid.nx;
    return energy.grid.label(index - ly * energy.grid.nx, ly);
  }
};

}  // namespace
}  // namespace parafield
