// SPDX-License-Identifier: MIT
#include "markov/mix/pack.cuh"

namespace parafield {
namespace {

/// Packs data costs. Each lane packs the costs of its labels.
template <class Value, class Data, int PerLane, bool Rows>
__global__ void __launch_bounds__(threads)
    pack_kernel(Energy<Data> energy, PairUnits units, Packing packing, PropagationLevel<Value> level) {
  begin_kernel();
  const int pixel = int(blockIdx.x) * (threads / packing.lanes) + int(threadIdx.x) / packing.lanes;
  const int lane = int(threadIdx.x) % packing.lanes, row = pixel / energy.width;
  const int y = smaller(row, energy.height - 1), x = pixel - row * energy.width;
  const LabelGrid grid = energy.grid;
  const int first = Rows ? 0 : lane * PerLane, ly = Rows ? smaller(lane, grid.ny - 1) : 0;
  const auto costs = energy.data.site(x, y).row(ly);
  float cost[PerLane], least = 3e38f;
  PF_UNROLL
  for (int i = 0; i < PerLane; ++i) {
    cost[i] = costs(smaller(first + i, grid.nx - 1));  // after the last label, repeat its cost for `least`
    least = smaller(least, cost[i]);
  }
  least = units.relative ? least_over(least, packing.lanes) : 0.0f;
  if (row >= energy.height || lane * PerLane >= packing.values) return;
  const auto value = [&](int i) {
    if (first + i >= grid.nx) return Value(sizeof(Value) == 4 ? 1e30f : float(no_label));
    return data_value(cost[i], least, units, Value());
  };
  LaneValues<Value, PerLane> values;
  PF_UNROLL
  for (int i = 0; i < values.words; ++i) {
    if constexpr (sizeof(Value) == 4)
      values.word[i] = value(i);
    else
      values.word[i] = pair_of(value(i), value(i + PerLane / 2));
  }
  values.store(level.data + (std::ptrdiff_t(y) * energy.width + x) * packing.values + lane * PerLane);
}

/// Packs data costs in the order of labels, with a warp for each pixel.
template <class Value, class Data>
__global__ void __launch_bounds__(threads)
    pack_long_kernel(Energy<Data> energy, PairUnits units, int values, PropagationLevel<Value> level) {
  begin_kernel();
  const int pixel = int(blockIdx.x) * (threads / 32) + int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
  const int y = pixel / energy.width, x = pixel - y * energy.width;
  if (y >= energy.height) return;
  const LabelGrid grid = energy.grid;
  const auto site = energy.data.site(x, y);
  const auto cost = [&](int label) { return site.row(label / grid.nx)(label % grid.nx); };
  float least = 0;
  if (units.relative) {
    least = 3e38f;
    for (int label = lane; label < grid.count(); label += 32) least = smaller(least, cost(label));
    least = least_over(least, 32);
  }
  Value* const out = level.data + (std::ptrdiff_t(y) * energy.width + x) * values;
  const Value none = Value(sizeof(Value) == 4 ? 1e30f : float(no_label));
  for (int label = lane; label < values; label += 32)
    out[label] = label < grid.count() ? data_value(cost(label), least, units, Value()) : none;
}

/// Sums data costs, with a warp or a part of it for each pixel of the coarser level.
template <class Value>
__global__ void __launch_bounds__(threads)
    sum_kernel(PairUnits units, int values, int lanes, PropagationLevel<Value> fine,
               PropagationLevel<Value> coarse) {
  begin_kernel();
  const int pixel = int(blockIdx.x) * (threads / lanes) + int(threadIdx.x) / lanes,
            lane = int(threadIdx.x) % lanes;
  const int y = smaller(pixel / coarse.width, coarse.height - 1), x = pixel % coarse.width;
  const bool inside = pixel < coarse.width * coarse.height;
  const bool right = 2 * x + 1 < fine.width, below = 2 * y + 1 < fine.height;
  const Value* const first = fine.data + (std::ptrdiff_t(2 * y) * fine.width + 2 * x) * values;
  const std::ptrdiff_t row = std::ptrdiff_t(fine.width) * values;
  constexpr int each = 8 / int(sizeof(Value));
  struct alignas(8) Vector {
    Value value[each];
  };
  const auto sum_at = [&](int v, Sum<Value>(&sum)[each]) {
    const Vector none{};
    const auto at = [&](const Value* from, bool there) {
      return there ? *reinterpret_cast<const Vector*>(from + v * each) : none;
    };
    const Vector a = at(first, true), b = at(first + values, right), c = at(first + row, below),
                 d = at(first + row + values, right && below);
    PF_UNROLL
    for (int i = 0; i < each; ++i)
      sum[i] = (Sum<Value>(a.value[i]) + Sum<Value>(b.value[i])) +
               (Sum<Value>(c.value[i]) + Sum<Value>(d.value[i]));
  };
  Sum<Value> least = 0, sum[each];
  if constexpr (sizeof(Value) == 2) {
    least = 1 << 30;
    for (int v = lane; v < values / each; v += lanes) {
      sum_at(v, sum);
      PF_UNROLL
      for (int i = 0; i < each; ++i) least = smaller(least, sum[i]);
    }
    for (int step = 1; step < lanes; step *= 2)
      least = smaller(least, __shfl_xor_sync(whole_warp, least, step));
  }
  if (!inside) return;
  Value* const out = coarse.data + (std::ptrdiff_t(y) * coarse.width + x) * values;
  for (int v = lane; v < values / each; v += lanes) {
    sum_at(v, sum);
    Vector vector;
    PF_UNROLL
    for (int i = 0; i < each; ++i) vector.value[i] = summed_value(sum[i], least, units, Value());
    reinterpret_cast<Vector*>(out)[v] = vector;
  }
}

/// Stores data costs in the finest level.
template <class Data, class Value>
void pack_finest(Cuda& cuda, const Energy<Data>& energy, const PairUnits& units,
                 const PropagationLevel<Value>& level) {
  const Packing packing = packing_of<Value>(units);
  const int pixels = level.width * level.height;
  if constexpr (std::is_same_v<Data, MixedCosts> && std::is_integral_v<Value>)
    if (units.per_mix > 0 && packing.per_lane > 0) return pack_mix(cuda, energy, units, level);
  if (packing.per_lane == 0)
    return cuda.launch(pack_long_kernel<Value, Data>, dim3(blocks_for(pixels, threads / 32)), dim3(threads),
                       0, energy, units, packing.values, level);
  with_packing<Value>(packing, [&]<int PerLane, bool Rows>() {
    cuda.launch(pack_kernel<Value, Data, PerLane, Rows>, dim3(blocks_for(pixels, threads / packing.lanes)),
                dim3(threads), 0, energy, units, packing, level);
  });
}

}  // namespace

template <class Backend, class Value>
void sum_data(Backend& cuda, const PairUnits& units, const PropagationLevel<Value>& fine,
              const PropagationLevel<Value>& coarse) {
  const int values = packing_of<Value>(units).values;
  int lanes = 1;
  while (lanes < 32 && lanes * 8 / int(sizeof(Value)) < values) lanes *= 2;
  cuda.launch(sum_kernel<Value>, dim3(blocks_for(coarse.width * coarse.height, threads / lanes)),
              dim3(threads), 0, units, values, lanes, fine, coarse);
}

template <class Backend, class Data, class Value>
void pack_data(Backend& cuda, const Energy<Data>& energy, const PairUnits& units,
               const PropagationLevel<Value>& level, const PropagationLevel<Value>& coarse,
               const PropagationLevel<Value>& third) {
  pack_finest(cuda, energy, units, level);
  if (coarse.data) sum_data(cuda, units, level, coarse);
  if (third.data) sum_data(cuda, units, coarse, third);
}

template <class Backend, class Value>
LevelCounts level_counts(const Backend&, const PairUnits& units, Size size) {
  const std::size_t values = std::size_t(packing_of<Value>(units).values);
  const std::size_t columns = std::size_t(size.width), rows = std::size_t(size.height);
  return {values * columns * rows, values * (columns + 1) * rows, values * columns * (rows + 1)};
}

PF_LEVEL_STEPS(Cuda, float);
PF_LEVEL_STEPS(Cuda, std::uint16_t);

}  // namespace parafield
