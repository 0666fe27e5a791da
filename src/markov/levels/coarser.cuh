// SPDX-License-Identifier: MIT
#pragma once
#include "core/cuda/backend.hpp"
#include "markov/levels/packing.cuh"

/// Data costs and weights of two coarser levels in one launch, because the launches of small levels take
/// longer than their work.
namespace parafield {
namespace {

/// Blocks of a launch: first those of the data costs, then those of each level's weights.
struct CoarserBlocks {
  unsigned sums = 0, weights[2] = {};

  __host__ __device__ unsigned count() const { return sums + weights[0] + weights[1]; }
};

/// Weights of a coarser level, computed when they are read.
struct CoarserWeights {
  View<float> fine;
  int j;  // the edges' direction
  CoarseEdges edges;
  int width, height;

  __device__ float operator()(int x, int y) const { return mean_weight(fine, j, x, y, edges); }
};
struct CoarserFlatness {
  View<float> fine;
  int width, height;

  __device__ float operator()(int x, int y) const { return least_flatness(fine, x, y); }
};
struct CoarserColors {
  View<const std::uint32_t> fine;
  int width, height;

  __device__ std::uint32_t operator()(int x, int y) const { return mean_color(fine, x, y); }
};

/// Computes the weights of a level's pixel (x, y) from the planes of the next finer level.
template <class Weights, class Flatness, class Colors>
__device__ void find_weights(const Weights (&fine)[2], const Flatness& fine_flatness,
                             const Colors& fine_colors, const LevelWeights& to, View<std::uint32_t> color,
                             CoarseEdges edges, int number, int x, int y) {
  if (color) color(x, y) = mean_color(fine_colors, x, y);
  if (!to.plain[0]) return;
  const float right = mean_weight(fine[0], 0, x, y, edges), down = mean_weight(fine[1], 1, x, y, edges);
  to.plain[0](x, y) = right;
  to.plain[1](x, y) = down;
  if (!to.flatness) return;
  const int next_x = smaller(x + 1, to.flatness.width - 1), next_y = smaller(y + 1, to.flatness.height - 1);
  const float here = least_flatness(fine_flatness, x, y), growth = growth_of(number);
  const float beside = least_flatness(fine_flatness, next_x, y),
              below = least_flatness(fine_flatness, x, next_y);
  to.flatness(x, y) = here;
  to.used[0](x, y) = x + 1 < to.flatness.width ? used_weight(right, here, beside, growth) : 0.0f;
  to.used[1](x, y) = used_weight(down, here, below, growth);
}

/// Sums the data costs of 2 x 2 pixels of the first level, one after the other, and then their sums for the
/// pixel of the second level that they belong to. A warp or a part of it shares the values of a pixel.
template <class Value>
__device__ void sum_costs(const PairUnits& units, int values, int lanes, const PropagationLevel<Value>& fine,
                          const PropagationLevel<Value>& level, const PropagationLevel<Value>& next,
                          int place) {
  constexpr int each = 8 / int(sizeof(Value)), pixels = 4;
  struct alignas(8) Vector {
    Value value[each];
  };
  const int lane = place % lanes, pixel = place / lanes, columns = (level.width + 1) / 2;
  const int row = pixel / columns, next_x = pixel - row * columns;
  const bool is_inside = 2 * row < level.height;
  const int next_y = is_inside ? row : 0;
  // Vector v of pixel (x, y); 0 outside the level.
  const auto load = [&](const PropagationLevel<Value>& from, int x, int y, int v) {
    if (x >= from.width || y >= from.height) return Vector{};
    const Value* const at = from.data + (std::ptrdiff_t(y) * from.width + x) * values;
    return reinterpret_cast<const Vector*>(at)[v];
  };
  const auto store = [&](const PropagationLevel<Value>& to, int x, int y, int v, const Vector& vector) {
    if (!is_inside || x >= to.width || y >= to.height) return;
    reinterpret_cast<Vector*>(to.data + (std::ptrdiff_t(y) * to.width + x) * values)[v] = vector;
  };
  const auto add = [](const Vector(&of)[4], Sum<Value>(&sum)[each]) {
    PF_UNROLL
    for (int i = 0; i < each; ++i)
      sum[i] = (Sum<Value>(of[0].value[i]) + Sum<Value>(of[1].value[i])) +
               (Sum<Value>(of[2].value[i]) + Sum<Value>(of[3].value[i]));
  };
  const auto sum_at = [&](const PropagationLevel<Value>& from, int x, int y, int v, Sum<Value>(&sum)[each]) {
    const Vector of[4] = {load(from, 2 * x, 2 * y, v), load(from, 2 * x + 1, 2 * y, v),
                          load(from, 2 * x, 2 * y + 1, v), load(from, 2 * x + 1, 2 * y + 1, v)};
    add(of, sum);
  };
  const auto vector_of = [&](const Sum<Value>(&sum)[each], Sum<Value> least) {
    Vector vector;
    PF_UNROLL
    for (int i = 0; i < each; ++i) vector.value[i] = summed_value(sum[i], least, units, Value());
    return vector;
  };
  constexpr bool is_relative = sizeof(Value) == 2;  // to the pixel's least sum
  const Sum<Value> start = Sum<Value>(is_relative ? 1 << 30 : 0);
  const auto lower = [](Sum<Value>& least, const Sum<Value>(&sum)[each]) {
    if constexpr (is_relative) {
      PF_UNROLL
      for (int i = 0; i < each; ++i) least = smaller(least, sum[i]);
    }
  };
  const auto x_of = [&](int k) { return 2 * next_x + (k & 1); };
  const auto y_of = [&](int k) { return 2 * next_y + (k >> 1); };

  Sum<Value> least[pixels] = {start, start, start, start}, next_least = start, sum[each];
  for (int v = lane; is_relative && v < values / each; v += lanes) {
    PF_UNROLL
    for (int k = 0; k < pixels; ++k) sum_at(fine, x_of(k), y_of(k), v, sum), lower(least[k], sum);
  }
  for (int step = 1; is_relative && step < lanes; step *= 2) {
    PF_UNROLL
    for (int k = 0; k < pixels; ++k)
      least[k] = smaller(least[k], __shfl_xor_sync(whole_warp, least[k], step));
  }
  const auto is_of_level = [&](int k) { return x_of(k) < level.width && y_of(k) < level.height; };
  const auto next_sum_at = [&](int v, bool stores) {
    Vector of[pixels];
    PF_UNROLL
    for (int k = 0; k < pixels; ++k) {
      sum_at(fine, x_of(k), y_of(k), v, sum);
      of[k] = is_of_level(k) ? vector_of(sum, least[k]) : Vector{};
      if (stores) store(level, x_of(k), y_of(k), v, of[k]);
    }
    add(of, sum);
  };
  for (int v = lane; v < values / each; v += lanes) {
    next_sum_at(v, true);
    lower(next_least, sum);
  }
  if (next.width == 0) return;
  for (int step = 1; is_relative && step < lanes; step *= 2)
    next_least = smaller(next_least, __shfl_xor_sync(whole_warp, next_least, step));
  for (int v = lane; v < values / each; v += lanes) {
    if (values / each > lanes) next_sum_at(v, false);  // otherwise `sum` is still that of the only vector
    store(next, next_x, next_y, v, vector_of(sum, next_least));
  }
}

template <class Value>
__global__ void __launch_bounds__(threads)
    coarser_kernel(PairUnits units, int values, int lanes,
                   const __grid_constant__ PropagationLevel<Value> fine,
                   const __grid_constant__ CoarserLevels<Value> coarser, CoarserBlocks blocks) {
  begin_kernel();
  const auto& [number, level, color, edges] = coarser;
  const unsigned block = blockIdx.x;
  const int thread = int(threadIdx.x);
  if (block < blocks.sums)
    return sum_costs(units, values, lanes, fine, level[0], level[1], int(block) * threads + thread);
  const LevelWeights& from = fine.weights;
  const bool is_second = block >= blocks.sums + blocks.weights[0];
  const PropagationLevel<Value>& to = level[is_second ? 1 : 0];
  const int first = int(block - blocks.sums - (is_second ? blocks.weights[0] : 0)) * threads;
  const int y = (first + thread) / to.width, x = first + thread - y * to.width;
  if (y >= to.height) return;
  if (!is_second) {
    find_weights(from.plain, from.flatness, from.color, to.weights, color[0], edges, number, x, y);
  } else {
    const int width = level[0].width, height = level[0].height;
    const CoarserWeights weights[2] = {{from.plain[0], 0, edges, width, height},
                                       {from.plain[1], 1, edges, width, height}};
    find_weights(weights, CoarserFlatness{from.flatness, width, height},
                 CoarserColors{from.color, width, height}, to.weights, color[1], edges, number + 1, x, y);
  }
}

/// Launches coarser_kernel. `values`: per pixel, see Packing.
template <class Value>
void launch_coarser(Cuda& cuda, const PairUnits& units, int values, const PropagationLevel<Value>& fine,
                    const CoarserLevels<Value>& coarser) {
  int lanes = 1;
  while (lanes < 32 && lanes * 8 / int(sizeof(Value)) < values) lanes *= 2;
  CoarserBlocks blocks;
  const PropagationLevel<Value>& first = coarser.level[0];
  if (first.data) blocks.sums = blocks_for((first.width + 1) / 2 * ((first.height + 1) / 2), threads / lanes);
  for (int i = 0; i < 2; ++i)
    if (const auto& level = coarser.level[i]; level.weights.plain[0] || coarser.color[i])
      blocks.weights[i] = blocks_for(level.width * level.height, threads);
  cuda.launch(coarser_kernel<Value>, dim3(blocks.count()), dim3(threads), 0, units, values, lanes, fine,
              coarser, blocks);
}

}  // namespace
}  // namespace parafield
