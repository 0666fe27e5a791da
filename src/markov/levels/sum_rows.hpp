// SPDX-License-Identifier: MIT
#pragma once
#include "core/cpu/lanes.hpp"
#include "markov/levels/rows.hpp"

/// Rows of a coarser level's data costs on the CPU. In an unnamed namespace, because each instruction set has
/// its own copy.
namespace parafield {
namespace {

/// Sums the data costs of rows y and y + 1 of a level, or of row y alone without `below`, into row `to_y` of
/// the coarser level. `Wide` must hold the sum of four values. `sums`: memory for a chunk of `Wide` per
/// label.
template <class Wide, class Value>
void sum_rows(const PairUnits& units, const Rows<Value>& from, int y, bool below, const Rows<Value>& to,
              int to_y, Wide* sums) {
  constexpr int n = chunk<Value>;
  const int labels = units.grid.count(), width = to.level.width;
  const Wide most = Wide(smaller(units.most_data, 65535.0f));
  // Columns 2 x and 2 x + 1 have index x in the half rows.
  for (int x0 = 0; x0 < width; x0 += n) {
    const int used = smaller(n, width - x0);
    Wide least[n];
    for (int i = 0; i < n; ++i) least[i] = Wide(1 << 30);
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

/// Stores the sums of `byte_lanes` pixels, from column x0 of row `to_y` on, less their least sums. Sums are
/// in halved order.
void store_sums(const PairUnits& units, const std::uint16_t* sums, const Lanes (&least)[2],
                const Rows<std::uint16_t>& to, int to_y, int x0) {
  const Lanes most = Lanes{} + std::uint16_t(smaller(units.most_data, 65535.0f));
  for (int label = 0; label < to.labels; ++label) {
    Lanes sum[2], even, odd;
    PF_UNROLL
    for (int half = 0; half < 2; ++half) {
      load(sum[half], sums + label * byte_lanes + half * lanes);
      sum[half] -= least[half];
      lower_to(sum[half], most);
    }
    take_apart(sum, even, odd);
    store(to.data(to_y, 0) + label * to.pitch + x0 / 2, even);
    store(to.data(to_y, 1) + label * to.pitch + x0 / 2, odd);
  }
}

/// sum_rows for sums of four values that fit in 16 bits.
void sum_rows(const PairUnits& units, const Rows<std::uint16_t>& from, int y, bool below,
              const Rows<std::uint16_t>& to, int to_y, std::uint16_t* sums) {
  const int labels = units.grid.count(), width = to.level.width;
  for (int x0 = 0; x0 < width; x0 += byte_lanes) {
    const std::uint16_t* rows[4] = {from.data(y, 0), from.data(y, 1), from.data(y + below, 0),
                                    from.data(y + below, 1)};
    for (const std::uint16_t*& row : rows) row += x0;
    // Beyond the last column sums must be 0, because the next coarser level adds them.
    std::uint16_t is_inside[byte_lanes];
    for (int i = 0; i < byte_lanes; ++i) is_inside[i] = x0 + i < width ? 0xffff : 0;
    Lanes inside[2], least[2] = {Lanes{} + std::uint16_t(0xffff), Lanes{} + std::uint16_t(0xffff)};
    load(inside[0], is_inside), load(inside[1], is_inside + lanes);
    for (int label = 0; label < labels; ++label) {
      const auto add = [&](int row, Lanes(&sum)[2]) {
        PF_UNROLL
        for (int half = 0; half < 2; ++half) {
          Lanes values;
          load(values, rows[row] + label * from.pitch + half * lanes);
          sum[half] += values;
        }
      };
      Lanes sum[2] = {};
      add(0, sum), add(1, sum);
      if (below) add(2, sum), add(3, sum);
      PF_UNROLL
      for (int half = 0; half < 2; ++half) {
        sum[half] &= inside[half];
        lower_to(least[half], sum[half]);
      }
      put_in_halves(sum);
      store(sums + label * byte_lanes, sum[0]), store(sums + label * byte_lanes + lanes, sum[1]);
    }
    put_in_halves(least);
    store_sums(units, sums, least, to, to_y, x0);
  }
}

/// Calls f.template operator()<Wide>() with a type that holds the sum of four values of a level.
template <class Value, class F>
void with_wide(const PropagationLevel<Value>& level, F f) {
  if constexpr (std::is_same_v<Value, float>)
    f.template operator()<float>();
  else if (4 * level.most_data <= 65535)
    f.template operator()<std::uint16_t>();
  else
    f.template operator()<int>();
}

}  // namespace
}  // namespace parafield
