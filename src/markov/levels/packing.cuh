// SPDX-License-Identifier: MIT
#pragma once
#include "core/cuda/kernel.cuh"
#include "markov/levels/levels.hpp"

/// Layout of levels in device memory and in the lanes of a warp.
namespace parafield {
namespace {

constexpr int threads = 128;  // per CUDA block
constexpr unsigned whole_warp = 0xffffffffu;

/// Layout of a pixel's values, which are adjacent in memory. Two 16-bit values share a word: value i of the
/// first half and value i of the second half of a lane's labels, so that one instruction works on both
/// halves.
struct Packing {
  int per_lane = 0;   // values per lane; 0 if a CUDA block computes each pixel, with all labels in order
  int lanes = 0;      // lanes per pixel: a power of two; the last ones may have no labels
  int values = 0;     // values per pixel, including padding
  bool rows = false;  // whether each lane has a row of the grid of labels; otherwise it has a range of them
};

/// Finds the messages on the edges of pixel (x, y), in the order of neighbor_offset.
template <class Value>
__device__ void find_edges(const PropagationLevel<Value>& level, int set, int x, int y, int values,
                           Value* (&edges)[4]) {
  const auto all = set == 0 ? level.edges[0] : level.edges[1];
  const std::ptrdiff_t row = level.width;
  edges[0] = all.across + (y * (row + 1) + x) * values;
  edges[1] = all.down + (y * row + x) * values;
  edges[2] = edges[0] + values;
  edges[3] = edges[1] + row * values;
}

/// Word that a lane computes with: a float, or two 16-bit values.
template <class Value>
using WordOf = std::conditional_t<sizeof(Value) == 4, float, std::uint32_t>;

/// Values of a lane.
template <class Value, int PerLane>
struct LaneValues {
  static constexpr int words = PerLane * int(sizeof(Value)) / 4;
  using Word = WordOf<Value>;
  using Vector = std::conditional_t<words % 4 == 0, uint4, uint2>;
  static constexpr int each = int(sizeof(Vector)) / 4;
  Word word[words];

  __device__ void clear() {
    PF_UNROLL
    for (int i = 0; i < words; ++i) word[i] = 0;
  }
  /// Sets the data costs of padding that is no label.
  __device__ void fill_without_labels() {
    PF_UNROLL
    for (int i = 0; i < words; ++i)
      word[i] = sizeof(Value) == 4 ? Word(1e30f) : Word(no_label) * Word(0x10001u);
  }
  __device__ void load(const Value* from) {
    PF_UNROLL
    for (int i = 0; i < words; i += each) {
      const Vector vector = reinterpret_cast<const Vector*>(from)[i / each];
      memcpy(word + i, &vector, sizeof vector);
    }
  }
  __device__ void store(Value* to) const {
    PF_UNROLL
    for (int i = 0; i < words; i += each) {
      Vector vector;
      memcpy(&vector, word + i, sizeof vector);
      reinterpret_cast<Vector*>(to)[i / each] = vector;
    }
  }
};

// Operations on words. Sums of 16-bit values never carry from one half of a word into the other.

__device__ float least_of(float a, float b) { return fminf(a, b); }  // neither is NaN or -0
__device__ std::uint32_t least_of(std::uint32_t a, std::uint32_t b) { return __vminu2(a, b); }
/// min(a + b, c)
__device__ std::uint32_t raised_least(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  return __viaddmin_u16x2(a, b, c);
}
__device__ std::uint32_t pair_of(std::uint32_t low, std::uint32_t high) { return low | high << 16; }
/// Word filled with one value, twice if it has 16 bits.
__device__ float filled(float value) { return value; }
__device__ std::uint32_t filled(std::uint32_t value) { return value * 0x10001u; }
__device__ std::uint32_t low(std::uint32_t word) { return word & 0xffff; }
__device__ std::uint32_t high(std::uint32_t word) { return word >> 16; }

/// Least value over the lanes of a pixel, returned to every lane.
template <class Word>
__device__ Word least_over(Word value, int lanes) {
  for (int step = 1; step < lanes; step *= 2)
    value = least_of(value, __shfl_xor_sync(whole_warp, value, step));
  return value;
}

/// Packing of a grid of labels. For quadratic costs and very many labels, a CUDA block computes each pixel.
template <class Value>
Packing packing_of(const PairUnits& units) {
  constexpr int vector = 8 / int(sizeof(Value));
  const LabelGrid grid = units.grid;
  const int labels = grid.count();
  const auto rounded = [](int count, int to) { return (count + to - 1) / to * to; };
  Packing packing{0, 1, rounded(labels, vector), false};
  if (units.quadratic) return packing;
  if (grid.ny > 1) {
    if (larger(grid.nx, grid.ny) > 32) return packing;
    packing.per_lane = rounded(grid.nx, grid.nx <= 16 ? 4 : 8);
    packing.values = grid.ny * packing.per_lane;
    packing.rows = true;
    while (packing.lanes < grid.ny) packing.lanes *= 2;
    return packing;
  }
  const int most = 16 * 4 / int(sizeof(Value));
  if (labels > 32 * most) return packing;
  packing.per_lane = labels <= 8 * 4 ? most / 4 : most / 2;
  while (packing.lanes * packing.per_lane < labels) {
    if (packing.lanes < 32)
      packing.lanes *= 2;
    else
      packing.per_lane *= 2;
  }
  packing.values = rounded(labels, packing.per_lane);
  return packing;
}

/// Calls f.template operator()<PerLane, Rows>() with the packing's values.
template <class Value, class F>
void with_packing(const Packing& packing, F f) {
  constexpr int scale = 4 / int(sizeof(Value));
  if (packing.rows)
    with_one_of<4, 8, 12, 16, 24, 32>(packing.per_lane,
                                      [&]<int PerLane>() { f.template operator()<PerLane, true>(); });
  else
    with_one_of<4 * scale, 8 * scale, 16 * scale>(
        packing.per_lane, [&]<int PerLane>() { f.template operator()<PerLane, false>(); });
}

}  // namespace
}  // namespace parafield
