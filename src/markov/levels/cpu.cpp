// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "markov/levels/pack_row.hpp"
#include "markov/planes/use_weights.hpp"

namespace parafield {

template <class Backend, class Data, class Value>
void pack_data(Backend& cpu, const Energy<Data>& energy, const PairUnits& units,
               const PropagationLevel<Value>& level, const PropagationLevel<Value>& coarse) {
  const Rows<Value> rows(level, units), to(coarse, units);
  // A thread packs two rows and sums them while they are in its cache.
  cpu.few_rows((energy.height + 1) / 2, [&](RowRange part, void* memory) {
    const ScratchRows<Value> scratch(level, units, memory);
    for (int block = part.begin; block < part.end; ++block) {
      const int y0 = 2 * block, count = smaller(2, energy.height - y0);
      for (int j = 0; j < count; ++j)
        if (level.data)
          pack_row(energy, units, y0 + j, rows, y0 + j, memory);
        else
          scratch.pack(energy, units, y0 + j, j);
      if (!coarse.data) continue;
      with_wide(level, [&]<class Wide>() {
        sum_rows(units, level.data ? rows : scratch.rows(), level.data ? y0 : 0, count > 1, to, block,
                 static_cast<Wide*>(scratch.rest()));
      });
    }
  });
}

template <class Backend, class Value>
void sum_data(Backend& cpu, const PairUnits& units, const PropagationLevel<Value>& fine,
              const PropagationLevel<Value>& coarse) {
  const Rows<Value> from(fine, units), to(coarse, units);
  with_wide(fine, [&]<class Wide>() {
    cpu.few_rows(coarse.height, [&](RowRange part, void* memory) {
      for (int y = part.begin; y < part.end; ++y)
        sum_rows(units, from, 2 * y, 2 * y + 1 < fine.height, to, y, static_cast<Wide*>(memory));
    });
  });
}

template <class Backend>
void mean_weights(Backend& cpu, const LevelWeights& fine, const LevelWeights& coarse, int level) {
  const int width = coarse.plain[0].width, height = coarse.plain[0].height;
  cpu.rows(height, [=](int y) {
    for (int j = 0; j < 2; ++j)
      for (int x = 0; x < width; ++x) coarse.plain[j](x, y) = mean_weight(fine.plain[j], j, x, y);
    if (!coarse.flatness) return;
    for (int x = 0; x < width; ++x) coarse.flatness(x, y) = least_flatness(fine.flatness, x, y);
  });
  if (!coarse.flatness) return;
  cpu.rows(height,
           [=](int y) { use_weights(coarse.plain, coarse.flatness, coarse.used, growth_of(level), y); });
}

template <class Backend, class Value>
LevelCounts level_counts(const Backend&, const PairUnits& units, Size size) {
  const std::size_t row = 2 * std::size_t(units.grid.count()) * std::size_t(half_pitch<Value>(size.width)),
                    rows = std::size_t(size.height);
  return {row * rows, row * rows, row * (rows + 1)};
}

PF_LEVEL_STEPS(Cpu, float);
PF_LEVEL_STEPS(Cpu, std::uint16_t);
PF_STEP(mean_weights<Cpu>);

}  // namespace parafield
