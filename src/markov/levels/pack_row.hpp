// SPDX-License-Identifier: MIT
#pragma once
#include "markov/mix/pack_row.hpp"

/// Rows of data costs on the CPU. In an unnamed namespace: each instruction set has a copy.
namespace parafield {
namespace {

template <class Data, class Value>
constexpr bool is_mix = std::is_integral_v<Value>&& std::is_same_v<Data, MixedCosts>;
/// Whether the costs of a mix can be computed where they are used: see MixRows.
bool packs_by_bytes(const PairUnits& units) { return units.per_mix > 0 && units.grid.ny == 1; }

/// Stores the data costs of row y as row `to_y` of a level, and 0 for the column beyond the last one. `memory`:
/// pack_scratch bytes.
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

/// Sums the data costs of rows y and y + 1 of a level, or of y alone without `below`, as row `to_y` of the coarser
/// level. `Wide` holds the sum of four values. `sums`: room for a chunk of it for all labels.
template <class Wide, class Value>
void sum_rows(const PairUnits& units, const Rows<Value>& from, int y, bool below, const Rows<Value>& to,
              int to_y, Wide* sums) {
  constexpr int n = chunk<Value>;
  const int labels = units.grid.count(), width = to.level.width;
  const Wide most = Wide(smaller(units.most_data, 65535.0f));
  // Columns 2 x and 2 x + 1 are number x of the half rows.
  for (int x0 = 0; x0 < width; x0 += n) {
    const int used = smaller(n, width - x0);
    Wide least[n];
    for (int i = 0; i < n; ++i) least[i] = Wide(sizeof(Wide) == 2 ? 65535 : 1 << 30);
    for (int label = 0; label < labels; ++label) {
      const auto at = [&](int row, int parity) {
        return from.data(y + row, parity) + label * from.pitch + x0;
      };
      const Value *const a = at(0, 0), *const b = at(0, 1), *const c = at(below, 0), *const d = at(below, 1);
      Wide* const sum = sums + label * n;
#pragma GCC ivdep  // scratch memory does not overlap with levels
      for (int i = 0; i < used; ++i) {
        const Wide above = Wide(Wide(a[i]) + Wide(b[i])), under = Wide(Wide(c[i]) + Wide(d[i]));
        sum[i] = Wide(above + (below ? under : Wide(0)));
      }
      for (int i = 0; i < used; ++i) least[i] = smaller(least[i], sum[i]);
    }
    for (int label = 0; label < labels; ++label) {
      const Wide* const sum = sums + label * n;
      for (int parity = 0; parity < 2; ++parity) {
        Value* const out = to.data(to_y, parity) + label * to.pitch + x0 / 2;
        const int count = (used - parity + 1) / 2;
#pragma GCC ivdep
        for (int i = 0; i < count; ++i) {
          const int x = 2 * i + parity;
          if constexpr (std::is_same_v<Value, float>)
            out[i] = sum[x];
          else
            out[i] = Value(smaller(Wide(sum[x] - least[x]), most));
        }
      }
    }
  }
}

/// Calls f.template operator()<Wide>() with a type for the sums of four values of a level.
template <class Value, class F>
void with_wide(const PropagationLevel<Value>& level, F f) {
  if constexpr (std::is_same_v<Value, float>)
    f.template operator()<float>();
  else if (4 * level.most_data <= 65535)
    f.template operator()<std::uint16_t>();
  else
    f.template operator()<int>();
}

/// Two rows of a level without data, in a thread's scratch memory behind what packing needs.
template <class Value>
class ScratchRows {
 public:
  ScratchRows(const PropagationLevel<Value>& level, const PairUnits& units, void* memory)
      : memory_(memory), rows_(in_scratch(level, units, memory), units) {}

  const Rows<Value>& rows() const { return rows_; }
  /// Memory behind the rows.
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
