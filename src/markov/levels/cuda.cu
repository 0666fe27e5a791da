// SPDX-License-Identifier: MIT
#include "markov/levels/coarser.cuh"
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

template <class Backend, class Data, class Value>
void pack_data(Backend& cuda, const Energy<Data>& energy, const PairUnits& units,
               const PropagationLevel<Value>& level, const PropagationLevel<Value>&,
               const PropagationLevel<Value>&) {
  pack_finest(cuda, energy, units, level);
}

template <class Backend, class Value>
void find_coarser(Backend& cuda, const PairUnits& units, const PropagationLevel<Value>& fine,
                  const CoarserLevels<Value>& coarser) {
  launch_coarser(cuda, units, packing_of<Value>(units).values, fine, coarser);
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
