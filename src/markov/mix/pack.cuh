// SPDX-License-Identifier: MIT
#pragma once
#include "markov/launch.cuh"
#include "markov/levels/packing.cuh"

namespace parafield {
namespace {

/// Position of a column in a row of shared memory, padded so that the lanes of a warp, whose labels are 16
/// apart, use different banks.
__device__ __host__ int place_of(int column) { return column + 8 * (column >> 4) + 4 * (column >> 6); }

/// Words of a row of shared memory for `columns` columns. If each lane has a row of labels, rows use
/// different banks.
int row_words(int columns, const Packing& packing) {
  const int words = place_of(columns - 1) + 1, pixels = 32 / packing.lanes;
  return packing.rows ? (words - pixels + 31) / 32 * 32 + pixels : words;
}

/// A CUDA block computes some pixels of a row. It first loads the words of their matches into shared memory,
/// because neighboring pixels and labels share them.
template <int PerLane, bool Rows>
__global__ void __launch_bounds__(threads)
    pack_mix_kernel(Energy<MixedCosts> energy, int per_mix, Packing packing, int pitch,
                    PropagationLevel<std::uint16_t> level) {
  begin_kernel();
  extern __shared__ std::uint32_t match_words[];
  const MixedCosts& data = energy.data;
  const LabelGrid grid = energy.grid;
  const int pixels = threads / packing.lanes, thread = int(threadIdx.x), rows = Rows ? grid.ny : 1;
  const int x0 = int(blockIdx.x) * pixels, y = int(blockIdx.y);
  const int used = smaller(pixels, energy.width - x0);  // pixels of this block
  // Matches of this block's pixels, from the leftmost on.
  const int first_label = data.x0 * data.step, last_label = (data.x0 + grid.nx - 1) * data.step;
  const int first = x0 + smaller(first_label, last_label), columns = used + grid.nx - 1;
  for (int row = 0; row < rows; ++row) {
    const std::ptrdiff_t from = (y + data.y0 + row) * data.pitch + first;
    for (int i = thread; i < columns; i += threads) {
      PF_UNROLL
      for (int k = 0; k < 3; ++k)
        match_words[(k * rows + row) * pitch + place_of(i)] = data.frame1[k][from + i];
    }
  }
  __syncthreads();
  const int pixel = thread / packing.lanes, lane = thread % packing.lanes;
  if (pixel >= used || lane * PerLane >= packing.values) return;
  const int x = x0 + pixel, row = Rows ? lane : 0, label0 = Rows ? 0 : lane * PerLane;
  const MixWords words = words_at(data.frame0, y * data.pitch + x);
  const std::uint32_t* const tile = match_words + row * pitch;
  const int plane = rows * pitch, at = x + first_label - first;
  const auto value = [&](int i) -> std::uint32_t {
    const int label = label0 + i;
    if (label >= grid.nx) return no_label;
    const int to = place_of(at + label * data.step);
    return std::uint32_t(per_mix * mixed_units(words, {tile[to], tile[plane + to], tile[2 * plane + to]}));
  };
  LaneValues<std::uint16_t, PerLane> values;
  PF_UNROLL
  for (int i = 0; i < values.words; ++i) values.word[i] = pair_of(value(i), value(i + PerLane / 2));
  values.store(level.data + (std::ptrdiff_t(y) * energy.width + x) * packing.values + lane * PerLane);
}

/// Stores the data costs of DataTerm::mix in the finest level of 16-bit values, with integers only.
/// PairUnits::per_mix must not be 0. On the CPU, pack_mix_row does the same.
void pack_mix(Cuda& cuda, const Energy<MixedCosts>& energy, const PairUnits& units,
              const PropagationLevel<std::uint16_t>& level) {
  const Packing packing = packing_of<std::uint16_t>(units);
  const int pixels = threads / packing.lanes, columns = pixels + energy.grid.nx - 1;
  const int pitch = row_words(columns, packing), rows = packing.rows ? energy.grid.ny : 1;
  with_packing<std::uint16_t>(packing, [&]<int PerLane, bool Rows>() {
    launch_shared(cuda, pack_mix_kernel<PerLane, Rows>,
                  dim3(blocks_for(energy.width, pixels), unsigned(energy.height)), dim3(threads),
                  12 * std::size_t(rows * pitch), energy, units.per_mix, packing, pitch, level);
  });
}

}  // namespace
}  // namespace parafield
