// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "markov/mask/mask.hpp"
#include "markov/neighbor_counts.hpp"

namespace parafield {

template <class Backend>
void change_costs(Backend& cpu, const Change& change, Volume costs, View<Label> winners,
                  View<std::uint8_t> known) {
  const int width = winners.width;
  cpu.rows(winners.height, [=](int y) {
    constexpr int chunk = 256;
    const float *const a = change.frame0[0].row(y), *const b = change.frame1[0].row(y);
    float *const still = costs.row(y, 0), *const moving = costs.row(y, 1);
    Label* const winner = winners.row(y);
    std::uint8_t* const flag = known.row(y);
    for (int x0 = 0; x0 < width; x0 += chunk) {
      const int count = smaller(chunk, width - x0);
      float difference[chunk], temporal[chunk];
      for (int i = 0; i < count; ++i) difference[i] = magnitude(b[x0 + i] - a[x0 + i]);
      if (change.channels == 3) {
        const float *const a1 = change.frame0[1].row(y), *const a2 = change.frame0[2].row(y);
        const float *const b1 = change.frame1[1].row(y), *const b2 = change.frame1[2].row(y);
        for (int i = 0; i < count; ++i) {
          const int x = x0 + i;
          difference[i] = mean_magnitude(b[x] - a[x], b1[x] - a1[x], b2[x] - a2[x]);
        }
      }
      for (int i = 0; i < count; ++i) temporal[i] = 0;
      if (change.last)
        for (int i = 0; i < count; ++i)
          temporal[i] = temporal_cost(change, change.last.row(y)[x0 + i], difference[i]);
      for (int i = 0; i < count; ++i) {
        const auto [cost0, cost1] = change_cost(change, difference[i], temporal[i]);
        still[x0 + i] = cost0;
        moving[x0 + i] = cost1;
      }
      for (int i = 0; i < count; ++i) {
        winner[x0 + i] = seems_moving(change, difference[i]) ? 1 : 0;
        flag[x0 + i] = is_finite(difference[i]);
      }
    }
  });
}

template <class Backend>
void mask_of(Backend& cpu, const MaskLabels& from, View<std::uint8_t> moving, Trust trust) {
  const int width = moving.width;
  cpu.rows(moving.height, [=](int y) {
    constexpr int chunk = 256;
    const float pair = from.pair.cost<PairModel::linear>(1, 0);
    const Label* const labels = from.labels.row(y);
    const float *const cost0 = from.costs.row(y, 0), *const cost1 = from.costs.row(y, 1);
    float* const confidence = trust.confidence.row(y);
    for (int x0 = 0; x0 < width; x0 += chunk) {
      const int count = smaller(chunk, width - x0);
      int ones[chunk], all[chunk];
      count_neighbors(from.labels, from.pair.neighbors, x0, y, count, ones, all);
      for (int i = 0; i < count; ++i) {
        const int x = x0 + i;
        confidence[x] = mask_confidence(labels[x], cost0[x], cost1[x], ones[i], all[i], pair);
      }
      std::uint8_t bytes[chunk];  // stores to the mask itself may alias anything and would not vectorize
      for (int i = 0; i < count; ++i) bytes[i] = std::uint8_t(labels[x0 + i]);
      __builtin_memcpy(moving.row(y) + x0, bytes, std::size_t(count));
    }
    __builtin_memcpy(trust.valid.row(y), from.known.row(y), std::size_t(width));
  });
}

template <class Backend>
void labels_of_mask(Backend& cpu, View<const std::uint8_t> mask, View<Label> labels) {
  cpu.rows(labels.height, [=](int y) {
    for (int x = 0; x < labels.width; ++x) labels(x, y) = mask(x, y) != 0;
  });
}

template <class Backend, class T>
void clear_outside(Backend& cpu, View<const std::uint8_t> region, View<T> plane, T value) {
  cpu.rows(region.height, [=](int y) {
    for (int x = 0; x < region.width; ++x)
      if (region(x, y) == 0) plane(x, y) = value;
  });
}

PF_STEP(clear_outside<Cpu, std::uint8_t>);
PF_STEP(clear_outside<Cpu, float>);
PF_STEP(change_costs<Cpu>);
PF_STEP(mask_of<Cpu>);
PF_STEP(labels_of_mask<Cpu>);

}  // namespace parafield
