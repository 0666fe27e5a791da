// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "markov/binary/binary.hpp"

namespace parafield {
namespace {

constexpr int binary_chunk = 512;

/// One sweep of a row. Returns whether a label changed.
bool sweep_row(View<const std::uint8_t> from, View<std::uint8_t> to, const std::uint8_t* thresholds,
               int width, int y) {
  const std::uint8_t *const above = from.row(y), *const own = from.row(y + 1), *const below = from.row(y + 2);
  std::uint8_t* const now = to.row(y + 1) + 1;
  std::uint8_t changed = 0;
  for (int x0 = 0; x0 < width; x0 += binary_chunk) {
    const int count = smaller(binary_chunk, width - x0);
    const std::uint8_t *const a = above + x0, *const b = own + x0, *const c = below + x0,
                              *const t = thresholds + x0;
    std::uint8_t label[binary_chunk];
    for (int i = 0; i < count; ++i) {
      const auto ones =
          std::uint8_t(a[i] + a[i + 1] + a[i + 2] + b[i] + b[i + 2] + c[i] + c[i + 1] + c[i + 2]);
      label[i] = ones >= t[i];
    }
    for (int i = 0; i < count; ++i) changed |= std::uint8_t(label[i] ^ b[i + 1]);
    __builtin_memcpy(now + x0, label, std::size_t(count));
  }
  return changed != 0;
}

}  // namespace

template <class Backend>
void store_thresholds(Backend& cpu, const Energy<StoredCosts>& energy, View<const Label> labels,
                      const BinaryRoom& room) {
  const int width = energy.width, height = energy.height;
  const float pair = energy.pair.cost<PairModel::linear>(1, 0);
  store_labels(cpu, labels, room);
  cpu.rows(height, [=](int y) {
    const float *const cost0 = energy.data.volume.row(y, 0), *const cost1 = energy.data.volume.row(y, 1);
    std::uint8_t* const thresholds = room.thresholds.row(y);
    const int inside = neighbor_count(1, y, 3, height);
    for (int x0 = 0; x0 < width; x0 += binary_chunk) {
      const int count = smaller(binary_chunk, width - x0);
      std::uint8_t threshold[binary_chunk];
      for (int i = 0; i < count; ++i)
        threshold[i] = std::uint8_t(threshold_of(cost0[x0 + i], cost1[x0 + i], inside, pair));
      __builtin_memcpy(thresholds + x0, threshold, std::size_t(count));
    }
    for (const int x : {0, width - 1})
      thresholds[x] =
          std::uint8_t(threshold_of(cost0[x], cost1[x], neighbor_count(x, y, width, height), pair));
  });
}

template <class Backend>
void store_labels(Backend& cpu, View<const Label> labels, const BinaryRoom& room) {
  cpu.rows(labels.height, [=](int y) {
    std::uint8_t* const to = room.begin_row(y);
    const Label* const label = labels.row(y);
    for (int x0 = 0; x0 < labels.width; x0 += binary_chunk) {
      const int count = smaller(binary_chunk, labels.width - x0);
      std::uint8_t byte[binary_chunk];
      for (int i = 0; i < count; ++i) byte[i] = std::uint8_t(label[x0 + i]);
      __builtin_memcpy(to + x0, byte, std::size_t(count));
    }
  });
}

template <class Backend>
BinaryLabels binary_sweeps(Backend& cpu, const BinaryRoom& room, Size size, int sweeps, View<Label> labels) {
  View<std::uint8_t> from = room.labels, to = room.other;
  int changed = 1;
  for (int sweep = 0; sweep < sweeps && changed; ++sweep) {
    changed = 0;
    int* const flag = &changed;
    const std::uint8_t* const before = room.changed.row(sweep % 2);
    std::uint8_t* const after = room.changed.row(1 - sweep % 2);
    after[0] = after[size.height + 1] = 0;
    cpu.rows(size.height, [=](int y) {
      // If the previous sweep changed nothing around a row, the row's new labels are already in `to`, which
      // holds the labels from before that sweep.
      after[y + 1] = (sweep == 0 || before[y] || before[y + 1] || before[y + 2]) &&
                     sweep_row(from, to, room.thresholds.row(y), size.width, y);
      if (after[y + 1]) __atomic_store_n(flag, 1, __ATOMIC_RELAXED);
    });
    const View<std::uint8_t> last = from;
    from = to;
    to = last;
  }
  const BinaryLabels result{from, {}, 0};
  if (labels)
    cpu.rows(size.height, [=](int y) {
      const std::uint8_t* const label = result.row(y);
      Label* const stored = labels.row(y);
      for (int x = 0; x < size.width; ++x) stored[x] = label[x];
    });
  return result;
}

PF_STEP(store_thresholds<Cpu>);
PF_STEP(store_labels<Cpu>);
PF_STEP(binary_sweeps<Cpu>);

}  // namespace parafield
