#include "core/cpu/backend.hpp"
#include "markov/levels/rows.hpp"

namespace parafield {

template <class Backend, class Data, class Value>
void pack_data(Backend& cpu, const Energy<Data>& energy, const PairUnits& units,
               const PropagationLevel<Value>& level) {
  const Rows<Value> rows(level, energy.grid);
  cpu.bands(energy.height, [&](int begin, int end, void* memory) {
    const LabelGrid grid = energy.grid;
    const int width = energy.width;
    float* const least = static_cast<float*>(memory);
    for (int y = begin; y < end; ++y) {
      if constexpr (sizeof(Value) < sizeof(float)) {
        for (int x = 0; x < width; ++x) least[x] = 3e38f;
        for (int label = 0; label < grid.count(); ++label) {
          const auto costs = energy.data.row(y, label % grid.nx, label / grid.nx);
          for (int x = 0; x < width; ++x) least[x] = smaller(least[x], costs(x));
        }
      }
      for (int label = 0; label < grid.count(); ++label) {
        const auto costs = energy.data.row(y, label % grid.nx, label / grid.nx);
        for (int parity = 0; parity < 2; ++parity) {
          Value* const out = rows.data(y, parity) + label * rows.pitch;
          const int count = (width - parity + 1) / 2;
          for (int i = 0; i < count; ++i)
            out[i] = data_value(costs(2 * i + parity), least[2 * i + parity], units, Value());
        }
      }
    }
  });
}

template <class Backend, class Value>
void sum_data(Backend& cpu, LabelGrid grid, const PairUnits& units, const PropagationLevel<Value>& fine,
              const PropagationLevel<Value>& coarse) {
  const Rows<Value> from(fine, grid), to(coarse, grid);
  cpu.bands(coarse.height, [&](int begin, int end, void* memory) {
    const int labels = grid.count();
    Sum<Value>* const sums = static_cast<Sum<Value>*>(memory);  // of a chunk, label by label
    for (int y = begin; y < end; ++y)
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

template <>
void mean_weights(Cpu& cpu, const View<float>* fine, const View<float>* coarse) {
  cpu.rows(coarse[0].height, [=](int y) {
    for (int x = 0; x < coarse[0].width; ++x)
      for (int j = 0; j < 2; ++j) coarse[j](x, y) = mean_weight(fine[j], j, x, y);
  });
}

template <class Backend, class Value>
LevelCounts level_counts(const Backend&, LabelGrid grid, const PairUnits&, int width, int height) {
  const std::size_t row = 2 * std::size_t(grid.count()) * std::size_t(half_pitch<Value>(width));
  return {row * std::size_t(height), row * std::size_t(height), row * std::size_t(height + 1)};
}

#define PF_PACK(Data, Value) \
  template void pack_data(Cpu&, const Energy<Data>&, const PairUnits&, const PropagationLevel<Value>&);
#define PF_LEVELS(Value)                                                                            \
  template LevelCounts level_counts<Cpu, Value>(const Cpu&, LabelGrid, const PairUnits&, int, int); \
  template void sum_data(Cpu&, LabelGrid, const PairUnits&, const PropagationLevel<Value>&,         \
                         const PropagationLevel<Value>&);                                           \
  PF_PACK(StoredCosts, Value)                                                                       \
  PF_PACK(Differences<1>, Value)                                                                    \
  PF_PACK(Differences<3>, Value)

PF_LEVELS(float)
PF_LEVELS(std::uint16_t)

}  // namespace parafield
