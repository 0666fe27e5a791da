// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "markov/levels/rows.hpp"

namespace parafield {

template <class Backend, class Data, class Value>
void pack_data(Backend& cpu, const Energy<Data>& energy, const PairUnits& units,
               const PropagationLevel<Value>& level) {
  const Rows<Value> rows(level, units);
  cpu.few_rows(energy.height, [&](RowRange part, void* memory) {
    const LabelGrid grid = energy.grid;
    const int width = energy.width;
    float *const least = static_cast<float*>(memory), *const line = least + width;
    const bool relative = units.relative;
    for (int y = part.begin; y < part.end; ++y) {
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
          Value* const out = rows.data(y, parity) + label * rows.pitch;
          const int count = (width - parity + 1) / 2;
#pragma GCC ivdep
          for (int i = 0; i < count; ++i)
            out[i] = data_value(line[2 * i + parity], least[2 * i + parity], units, Value());
        }
      }
    }
  });
}

template <class Backend, class Value>
void sum_data(Backend& cpu, const PairUnits& units, const PropagationLevel<Value>& fine,
              const PropagationLevel<Value>& coarse) {
  const Rows<Value> from(fine, units), to(coarse, units);
  // `Wide` holds the sum of four values: of low ones 16 bits do.
  const auto with = [&]<class Wide>() {
    cpu.few_rows(coarse.height, [&](RowRange part, void* memory) {
      constexpr int n = chunk<Value>;
      const int labels = units.grid.count();
      const Wide most = Wide(smaller(units.most_data, 65535.0f));
      Wide* const sums = static_cast<Wide*>(memory);  // of a chunk, label by label
      for (int y = part.begin; y < part.end; ++y)
        for (int parity = 0; parity < 2; ++parity) {
          const int count = (coarse.width - parity + 1) / 2;
          const bool below = 2 * y + 1 < fine.height;
          for (int i0 = 0; i0 < count; i0 += n) {
            const int used = smaller(n, count - i0);
            Wide least[n];
            for (int i = 0; i < n; ++i) least[i] = Wide(sizeof(Wide) == 2 ? 65535 : 1 << 30);
            for (int label = 0; label < labels; ++label) {
              const auto at = [&](int row, int column) {
                return from.data(2 * y + row, column) + label * from.pitch + 2 * i0 + parity;
              };
              const Value *const a = at(0, 0), *const b = at(0, 1), *const c = at(below, 0),
                                 *const d = at(below, 1);
              Wide* const sum = sums + label * n;
#pragma GCC ivdep  // scratch memory does not overlap with levels
              for (int i = 0; i < used; ++i) {
                const Wide above = Wide(Wide(a[2 * i]) + Wide(b[2 * i]));
                const Wide under = Wide(Wide(c[2 * i]) + Wide(d[2 * i]));
                sum[i] = Wide(above + (below ? under : Wide(0)));
              }
              for (int i = 0; i < used; ++i) least[i] = smaller(least[i], sum[i]);
            }
            for (int label = 0; label < labels; ++label) {
              const Wide* const sum = sums + label * n;
              Value* const out = to.data(y, parity) + label * to.pitch + i0;
#pragma GCC ivdep
              for (int i = 0; i < used; ++i) {
                if constexpr (std::is_same_v<Value, float>)
                  out[i] = sum[i];
                else
                  out[i] = Value(smaller(Wide(sum[i] - least[i]), most));
              }
            }
          }
        }
    });
  };
  if constexpr (std::is_same_v<Value, float>)
    with.template operator()<float>();
  else if (4 * fine.most_data <= 65535)
    with.template operator()<std::uint16_t>();
  else
    with.template operator()<int>();
}

template <class Backend>
void mean_weights(Backend& cpu, const View<float>* fine, const View<float>* coarse) {
  cpu.rows(coarse[0].height, [=](int y) {
    for (int x = 0; x < coarse[0].width; ++x)
      for (int j = 0; j < 2; ++j) coarse[j](x, y) = mean_weight(fine[j], j, x, y);
  });
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
