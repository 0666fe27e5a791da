// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "markov/levels/pack_row.hpp"
#include "markov/levels/sum_rows.hpp"

namespace parafield {
namespace {

/// Sums the data costs of rows y and, with `below`, y + 1 of a mix into row `to_y` of the coarser level, like
/// sum_rows, without storing the costs themselves. `memory`: mix_row_bytes for two rows; `sums`: `byte_lanes`
/// values for each label.
template <int Channels>
void sum_mix_rows(const Energy<MixedCosts>& energy, const PairUnits& units, int y, bool below,
                  const Rows<std::uint16_t>& to, int to_y, void* memory, std::uint16_t* sums) {
  const MixRows<Channels> rows(energy, units, y, below, memory);
  for (int i = 0; i < to.level.width; i += byte_lanes) {
    Lanes least[2] = {Lanes{} + std::uint16_t(0xffff), Lanes{} + std::uint16_t(0xffff)};
    const typename MixRow<Channels>::Pixels even = rows[0].pixels(0, i), odd = rows[0].pixels(1, i),
                                            even_below = rows[1].pixels(0, i),
                                            odd_below = rows[1].pixels(1, i);
    for (int label = 0; label < to.labels; ++label) {
      Lanes sum[2], other[2];
      rows[0].find_units(even, label, sum);
      const auto add = [&](int row, const typename MixRow<Channels>::Pixels& pixels) {
        rows[row].find_units(pixels, label, other);
        sum[0] += other[0], sum[1] += other[1];
      };
      add(0, odd);
      if (below) add(1, even_below), add(1, odd_below);
      for (int half = 0; half < 2; ++half) {
        lower_to(least[half], sum[half]);
        store(sums + label * byte_lanes + half * lanes, sum[half]);
      }
      // Without this, the stores below would wait for their cache lines.
      for (int parity = 0; parity < 2; ++parity)
        __builtin_prefetch(to.data(to_y, parity) + label * to.pitch + i / 2, 1);
    }
    store_sums(units, sums, least, to, to_y, i);
  }
}

/// Sums the data costs of a level over 2 x 2 pixels.
template <class Value>
void sum_data(Cpu& cpu, const PairUnits& units, const PropagationLevel<Value>& fine,
              const PropagationLevel<Value>& coarse) {
  const Rows<Value> from(fine, units), to(coarse, units);
  with_wide(fine, [&]<class Wide>() {
    cpu.few_rows(coarse.height, [&](RowRange part, void* memory) {
      for (int y = part.begin; y < part.end; ++y)
        sum_rows(units, from, 2 * y, 2 * y + 1 < fine.height, to, y, static_cast<Wide*>(memory));
    });
  });
}

}  // namespace

template <class Backend, class Data, class Value>
void pack_data(Backend& cpu, const Energy<Data>& energy, const PairUnits& units,
               const PropagationLevel<Value>& level, const PropagationLevel<Value>& coarse,
               const PropagationLevel<Value>& third) {
  const Rows<Value> rows(level, units), to(coarse, units), to_third(third, units);
  const int height = (energy.height + 1) / 2;  // of the coarser level
  // Packs two rows and sums them into row y of the coarser level.
  const auto pack_two = [&](int y, const ScratchRows<Value>& scratch, void* memory) {
    const int y0 = 2 * y, count = smaller(2, energy.height - y0);
    if constexpr (is_mix<Data, Value>)
      if (!level.data && coarse.data && packs_by_bytes(units))
        return with_channels(energy.data, [&]<int Channels>() {
          sum_mix_rows<Channels>(energy, units, y0, count > 1, to, y, memory,
                                 static_cast<Value*>(scratch.rest()));
        });
    for (int j = 0; j < count; ++j)
      if (level.data)
        pack_row(energy, units, y0 + j, rows, y0 + j, memory);
      else
        scratch.pack(energy, units, y0 + j, j);
    if (!coarse.data) return;
    with_wide(level, [&]<class Wide>() {
      sum_rows(units, level.data ? rows : scratch.rows(), level.data ? y0 : 0, count > 1, to, y,
               static_cast<Wide*>(scratch.rest()));
    });
  };
  // A thread packs rows and sums them while they are in its cache.
  cpu.few_rows((height + 1) / 2, [&](RowRange part, void* memory) {
    const ScratchRows<Value> scratch(level, units, memory);
    for (int y = part.begin; y < part.end; ++y) {
      const int count = smaller(2, height - 2 * y);
      for (int j = 0; j < count; ++j) pack_two(2 * y + j, scratch, memory);
      if (!third.data) continue;
      with_wide(coarse, [&]<class Wide>() {
        sum_rows(units, to, 2 * y, count > 1, to_third, y, static_cast<Wide*>(scratch.rest()));
      });
    }
  });
}

template <class Backend, class Value>
void find_coarser(Backend& cpu, const PairUnits& units, const PropagationLevel<Value>& fine,
                  const CoarserLevels<Value>& coarser) {
  constexpr int packed = 2;  // levels whose costs pack_data has stored
  const PropagationLevel<Value>* from = &fine;
  for (int i = 0; i < 2 && coarser.level[i].width > 0; ++i) {
    const PropagationLevel<Value>& to = coarser.level[i];
    const int number = coarser.number + i;
    if (to.data && number > packed) sum_data(cpu, units, *from, to);
    if (to.weights.plain[0] || coarser.color[i])
      mean_weights(cpu, from->weights, to.weights, number, coarser.edges, coarser.color[i]);
    from = &to;
  }
}

template <class Backend, class Value>
LevelCounts level_counts(const Backend&, const PairUnits& units, Size size) {
  const std::size_t row = 2 * std::size_t(units.grid.count()) * std::size_t(half_pitch<Value>(size.width)),
                    rows = std::size_t(size.height);
  return {row * rows, row * rows, row * (rows + 1)};
}

PF_LEVEL_STEPS(Cpu, float);
PF_LEVEL_STEPS(Cpu, std::uint16_t);

}  // namespace parafield
