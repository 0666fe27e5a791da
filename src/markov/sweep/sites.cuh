#pragma once
#include "markov/sweep/sweep.hpp"

/// Site of a thread: its neighbors, and the energies of its labels.
namespace parafield {
namespace {

constexpr int threads_x = 32, threads_y = 4, threads = threads_x * threads_y;

/// Neighbors of a site: their labels (column and row in the grid), and weights of edges, 0 outside the image.
template <int Neighbors>
struct Neighborhood {
  float x[Neighbors], y[Neighbors], weight[Neighbors];
};

/// Loads all neighbors at once, outside the image from the nearest pixel: with branches each load would wait.
template <int Neighbors, class Data>
__device__ Neighborhood<Neighbors> neighbors_of(const Energy<Data>& energy, View<const Label> labels, int x,
                                                int y) {
  Neighborhood<Neighbors> around;
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
      around.weight[k] = is_forward(k)
                             ? plane(x, y)
                             : plane(columns[neighbor_offset(k).x + 1], larger(y + neighbor_offset(k).y, 0));
    }
  } else {
    PF_UNROLL
    for (int k = 0; k < Neighbors; ++k) around.weight[k] = 1;
  }
  PF_UNROLL
  for (int k = 0; k < Neighbors; ++k) {
    const bool inside = columns_inside[neighbor_offset(k).x + 1] && rows_inside[neighbor_offset(k).y + 1];
    around.x[k] = float(energy.grid.x(label[k]));
    around.y[k] = float(energy.grid.y(label[k]));
    around.weight[k] = inside ? around.weight[k] : 0.0f;
  }
  return around;
}

// Pair costs of a label: along x, along y, and both together.

template <PairModel Model, int Neighbors>
__device__ float pair_costs_x(const PairCost& pair, const Neighborhood<Neighbors>& around, float lx) {
  float sum = 0;
  PF_UNROLL
  for (int k = 0; k < Neighbors; ++k) sum = fma(around.weight[k], pair.cost<Model>(lx - around.x[k], 0), sum);
  return sum;
}
template <PairModel Model, int Neighbors>
__device__ float pair_costs_y(const PairCost& pair, const Neighborhood<Neighbors>& around, float ly) {
  float sum = 0;
  PF_UNROLL
  for (int k = 0; k < Neighbors; ++k) sum = fma(around.weight[k], pair.cost<Model>(0, ly - around.y[k]), sum);
  return sum;
}
template <PairModel Model, int Neighbors>
__device__ float pair_costs(const PairCost& pair, const Neighborhood<Neighbors>& around, float lx, float ly) {
  float sum = 0;
  PF_UNROLL
  for (int k = 0; k < Neighbors; ++k)
    sum = fma(around.weight[k], pair.cost<Model>(lx - around.x[k], ly - around.y[k]), sum);
  return sum;
}

/// Absolute differences of gray for displacements, with weight 1 and without a limit, as in most uses.
struct PlainDifferences {
  const float *frame0, *frame1;
  std::ptrdiff_t pitch;
  int x0, y0;

  struct LabelRow {
    float value;
    const float* matches;
    __device__ float operator()(int lx) const { return magnitude(value - matches[lx]); }
  };
  struct Site {
    float value;
    const float* matches;
    std::ptrdiff_t pitch;
    __device__ LabelRow row(int ly) const { return {value, matches + ly * pitch}; }
  };
  __device__ Site site(int x, int y) const {
    return {frame0[y * pitch + x], frame1 + (y + y0) * pitch + x + x0, pitch};
  }
};

/// Energies of a site's labels. `Side`: side of the square grid, or 0 if the compiler does not know it.
template <PairModel Model, int Neighbors, class Data, int Side>
struct Site {
  const Energy<Data>& energy;
  Neighborhood<Neighbors> around;
  float* table;  // pair costs along x in shared memory: the site's own column, a float in every `threads`
  typename Data::Site data;
  float own[Side > 0 ? Side : 1];  // the same in registers, if the compiler knows the side

  __device__ Site(const Energy<Data>& energy, View<const Label> labels, int x, int y, float* table)
      : energy(energy),
        around(neighbors_of<Neighbors>(energy, labels, x, y)),
        table(table),
        data(energy.data.site(x, y)) {
    if constexpr (Side > 0) {
      PF_UNROLL
      for (int lx = 0; lx < Side; ++lx) own[lx] = pair_costs_x<Model>(energy.pair, around, float(lx));
    } else if constexpr (Model == PairModel::separable) {
      if (energy.grid.ny > 1)
        for (int lx = 0; lx < energy.grid.nx; ++lx)
          table[lx * threads] = pair_costs_x<Model>(energy.pair, around, float(lx));
    }
  }

  /// Calls use(index, energy) for labels [begin, end) of row ly, lowest first; with a known side for all.
  template <class Use>
  __device__ void try_row(int ly, int begin, int end, Use use) const {
    const int first = ly * (Side > 0 ? Side : energy.grid.nx);
    const auto costs = data.row(ly);
    if constexpr (Side > 0) {
      const float along_y = pair_costs_y<Model>(energy.pair, around, float(ly));
      PF_UNROLL
      for (int lx = 0; lx < Side; ++lx) use(first + lx, (costs(lx) + own[lx]) + along_y);
    } else if constexpr (Model == PairModel::separable) {
      if (energy.grid.ny > 1) {
        const float along_y = pair_costs_y<Model>(energy.pair, around, float(ly));
#pragma unroll 4
        for (int lx = begin; lx < end; ++lx) use(first + lx, (costs(lx) + table[lx * threads]) + along_y);
      } else {  // a single row: each pair cost is used once
#pragma unroll 4
        for (int lx = begin; lx < end; ++lx)
          use(lx, costs(lx) + pair_costs_x<Model>(energy.pair, around, float(lx)));
      }
    } else {
#pragma unroll 4
      for (int lx = begin; lx < end; ++lx)
        use(first + lx, costs(lx) + pair_costs<Model>(energy.pair, around, float(lx), float(ly)));
    }
  }
  template <class Use>
  __device__ void try_all(Use use) const {
    const int rows = Side > 0 ? Side : energy.grid.ny;
    for (int ly = 0; ly < rows; ++ly) try_row(ly, 0, energy.grid.nx, use);
  }
  __device__ Label label(int index) const {
    const int ly = index / energy.grid.nx;
    return energy.grid.label(index - ly * energy.grid.nx, ly);
  }
};

}  // namespace
}  // namespace parafield
