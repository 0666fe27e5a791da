// SPDX-License-Identifier: MIT
#pragma once
#include "markov/mix/pack_row.hpp"

/// Rows of data costs on the CPU. In an unnamed namespace, because each instruction set has its own copy.
namespace parafield {
namespace {

template <class Data, class Value>
constexpr bool is_mix = std::is_integral_v<Value>&& std::is_same_v<Data, MixedCosts>;
/// Whether the costs of a mix can be computed where they are used: see MixRows.
bool packs_by_bytes(const PairUnits& units) { return units.per_mix > 0 && units.grid.ny == 1; }

/// Stores the data costs of row y as row `to_y` of a level, and 0 for the column after the last one.
/// `memory`: pack_scratch bytes.
template <class Data, class Value>
void pack_row(const Energy<Data>& energy, const PairUnits& units, int y, const Rows<Value>& rows, int to_y,
              void* memory) {
  if constexpr (is_mix<Data, Value>)
    if (units.per_mix > 0)
      return with_channels(
          energy.data, [&]<int Channels>() { pack_mix_row<Channels>(energy, units, y, rows, to_y, memory); });
  const LabelGrid grid = energy.grid;
  const int width = energy.width;
  float *const least = static_cast<float*>(memory), *const line = least + width;
  const bool relative = units.relative;
  for (int x = 0; x < width; ++x) least[x] = relative ? 3e38f : 0.0f;
  for (int label = 0; label < grid.count() && relative; ++label) {
    const auto costs = energy.data.row(y, label % grid.nx, label / grid.nx);
    for (int x = 0; x < width; ++x) least[x] = smaller(least[x], costs(x));
  }
  for (int label = 0; label < grid.count(); ++label) {
    const auto costs = energy.data.row(y, label % grid.nx, label / grid.nx);
#pragma GCC ivdep  // scratch memory does not overlap with planes
    for (int x = 0; x < width; ++x) line[x] = costs(x);
    for (int parity = 0; parity < 2; ++parity) {
      Value* const out = rows.data(to_y, parity) + label * rows.pitch;
      const int count = (width - parity + 1) / 2;
#pragma GCC ivdep
      for (int i = 0; i < count; ++i)
        out[i] = data_value(line[2 * i + parity], least[2 * i + parity], units, Value());
      out[count] = 0;
    }
  }
}

/// Two rows of a level without data, in a thread's scratch memory after the pack_scratch bytes.
template <class Value>
class ScratchRows {
 public:
  ScratchRows(const PropagationLevel<Value>& level, const PairUnits& units, void* memory)
      : memory_(memory), rows_(in_scratch(level, units, memory), units) {}

  const Rows<Value>& rows() const { return rows_; }
  /// Memory after the rows.
  void* rest() const { return rows_.data(2, 0); }
  /// Packs row y as row `to_y`.
  template <class Data>
  void pack(const Energy<Data>& energy, const PairUnits& units, int y, int to_y) const {
    pack_row(energy, units, y, rows_, to_y, memory_);
  }

 private:
  static PropagationLevel<Value> in_scratch(PropagationLevel<Value> level, const PairUnits& units,
                                            void* memory) {
    level.data = reinterpret_cast<Value*>(static_cast<char*>(memory) + pack_scratch(units.grid, level.width));
    return level;
  }
  void* const memory_;
  const Rows<Value> rows_;
};

}  // namespace
}  // namespace parafield
