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
  cpu.few_rows(coarse.height, [&](RowRange part, void* memory) {
    const int labels = units.grid.count();
    Sum<Value>* const sums = static_cast<Sum<Value>*>(memory);  // of a chunk, label by label
    for (int y = part.begin; y < part.end; ++y)
      for (int parity = 0; parity < 2; ++parity) {
        const int count = (coarse.width - parity + 1) / 2;
        const bool below = 2 * y + 1 < fine.height;
        for (int i0 = 0; i0 < count; i0 += chunk<Value>) {
          const int n = smaller(chunk<Value>, count - i0);
          Sum<Value> least[chunk<Value>];
          for (int i = 0; i < n; ++i) least[i] = Sum<Value>(1 << 30);
          for (int label = 0; label < labels; ++label) {
            const auto at = [&](int row, int column) {
              return from.data(2 * y + row, column) + label * from.pitch + 2 * i0 + parity;
            };
            const Value *const a = at(0, 0), *const b = at(0, 1), *const c = at(below, 0),
                               *const d = at(below, 1);
            Sum<Value>* const sum = sums + label * chunk<Value>;
            for (int i = 0; i < n; ++i) {
              const Sum<Value> above = Sum<Value>(a[2 * i]) + Sum<Value>(b[2 * i]);
              const Sum<Value> under = Sum<Value>(c[2 * i]) + Sum<Value>(d[2 * i]);
              sum[i] = above + (below ? under : Sum<Value>(0));
              least[i] = smaller(least[i], sum[i]);
            }
          }
          for (int label = 0; label < labels; ++label)
            for (int i = 0; i < n; ++i)
              to.data(y, parity)[label * to.pitch + i0 + i] =
                  summed_value(sums[label * chunk<Value> + i], least[i], units, Value());
        }
      }
  });
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
