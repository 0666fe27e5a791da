// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "markov/background/background.hpp"

namespace parafield {
namespace {

constexpr int chunk = 256;

/// Writes the distances of a chunk's lumas from their samples.
void find_distances(const Background& background, int y, int x0, int count, const std::uint8_t* luma,
                    std::uint8_t* distance) {
  std::uint8_t least[chunk], second[chunk];
  for (int i = 0; i < count; ++i) least[i] = second[i] = 255;
  for (int k = 0; k < sample_count; ++k) {
    const std::uint8_t* const sample = background.sample(y, k) + x0;
    for (int i = 0; i < count; ++i) {
      const std::uint8_t a = luma[i], b = sample[i], apart = a > b ? a - b : b - a;
      const std::uint8_t more = apart > least[i] ? apart : least[i];
      second[i] = second[i] < more ? second[i] : more;
      least[i] = apart < least[i] ? apart : least[i];
    }
  }
  for (int i = 0; i < count; ++i) distance[i] = second[i];
}

/// What the pixels of a chunk renew: see Renewal.
struct Renewals {
  std::uint8_t own[chunk], other[chunk], replaced[chunk];
  bool any_replaced;
};

/// Learns from the pixels of a chunk. What the loop writes lies in arrays of its own, so that it vectorizes.
void learn_chunk(const Background& background, const Lesson& all, int y, int x0, int count,
                 const Label* label, Renewals& renewals) {
  const Lesson lesson = all;
  const std::uint8_t *const luma = background.luma.row(y) + x0, *const distance =
                                                                    background.distance.row(y) + x0;
  std::uint8_t *const spread = background.spread.row(y) + x0,
                      *const candidate = background.candidate.row(y) + x0,
                      *const support = background.support.row(y) + x0;
  std::uint16_t* const run = background.run.row(y) + x0;
  std::uint8_t spreads[chunk], candidates[chunk], supports[chunk], replaced[chunk], own[chunk], other[chunk];
  std::uint16_t runs[chunk];
  for (int i = 0; i < count; ++i) {
    PixelMemory memory{spread[i], candidate[i], support[i], run[i]};
    const Renewal renewal = learn(lesson, x0 + i, y, label[i] != 0, luma[i], distance[i], memory);
    spreads[i] = std::uint8_t(memory.spread);
    candidates[i] = std::uint8_t(memory.candidate);
    supports[i] = std::uint8_t(memory.support);
    runs[i] = std::uint16_t(memory.run);
    replaced[i] = std::uint8_t(renewal.replaced);
    own[i] = std::uint8_t(renewal.own);
    other[i] = std::uint8_t(renewal.other);
  }
  __builtin_memcpy(spread, spreads, std::size_t(count));
  __builtin_memcpy(candidate, candidates, std::size_t(count));
  __builtin_memcpy(support, supports, std::size_t(count));
  __builtin_memcpy(run, runs, std::size_t(count) * sizeof(runs[0]));
  std::uint8_t any = 0;
  for (int i = 0; i < count; ++i) any |= replaced[i];
  renewals.any_replaced = any != 0;
  __builtin_memcpy(renewals.replaced, replaced, std::size_t(count));
  __builtin_memcpy(renewals.own, own, std::size_t(count));
  __builtin_memcpy(renewals.other, other, std::size_t(count));
}

/// Stores `luma` in a row of samples where `renewed` is not 0.
void renew_row(std::uint8_t* samples, const std::uint8_t* luma, const std::uint8_t* renewed, int count) {
  std::uint8_t result[chunk];
  for (int i = 0; i < count; ++i) result[i] = renewed[i] ? luma[i] : samples[i];
  __builtin_memcpy(samples, result, std::size_t(count));
}

/// Renews the samples of a chunk.
void renew_chunk(const Background& background, View<const Label> labels, View<const std::uint8_t> known,
                 const RowLesson& row, int y, int x0, int count, Renewals& renewals) {
  const std::uint8_t *const luma = background.luma.row(y) + x0, *const here = known.row(y) + x0;
  for (int k = 0; k < sample_count && renewals.any_replaced; ++k) {
    std::uint8_t renewed[chunk];
    for (int i = 0; i < count; ++i) renewed[i] = std::uint8_t(renewals.replaced[i] >> k & here[i]);
    renew_row(background.sample(y, k) + x0, luma, renewed, count);
  }
  for (int i = 0; i < count; ++i) renewals.own[i] &= here[i];
  renew_row(background.sample(y, row.own) + x0, luma, renewals.own, count);
  const Offset to = neighbor_offset(row.from);
  if (y + to.y < 0 || y + to.y >= labels.height) return;
  const int begin = x0 + to.x < 0 ? 1 : 0, end = x0 + count + to.x > labels.width ? count - 1 : count;
  if (end <= begin) return;
  const int first = x0 + begin + to.x;
  const Label* const label = labels.row(y + to.y) + first;
  const std::uint8_t* const there = known.row(y + to.y) + first;
  std::uint8_t renewed[chunk];
  for (int i = 0; i < end - begin; ++i)
    renewed[i] = std::uint8_t(renewals.other[begin + i] & there[i] & (label[i] == 0));
  renew_row(background.sample(y, row.other) + x0 + begin, background.luma.row(y + to.y) + first, renewed,
            end - begin);
}

}  // namespace

template <class Backend>
void begin_background(Backend& cpu, View<const float> luma, const Background& background) {
  for (int i = 0; i < number_count; ++i) background.numbers.data[i] = 0;
  cpu.rows(luma.height, [=](int y) {
    for (int x = 0; x < luma.width; ++x) {
      for (int k = 0; k < sample_count; ++k) {
        const Place2 from = first_place(x, y, k, luma.size());
        background.sample(y, k)[x] = std::uint8_t(luma_byte(luma(from.x, from.y), 1));
      }
      background.spread(x, y) = std::uint8_t(first_spread(background.least_spread));
      background.candidate(x, y) = background.support(x, y) = 0;
      background.run(x, y) = 0;
    }
  });
}

template <class Backend>
void find_gain(Backend&, View<const float> luma, const Background& background) {
  int counts[gain_bins] = {}, all = 0;
  for (int j = 0; j < grid_side; ++j)
    for (int i = 0; i < grid_side; ++i) {
      const int x = grid_place(i, luma.width), y = grid_place(j, luma.height);
      const int sample = median_sample([&](int k) { return int(background.sample(y, k)[x]); });
      const int bin = gain_bin(luma(x, y), sample);
      if (bin < 0) continue;
      ++counts[bin];
      ++all;
    }
  int bin = 0;
  for (int below = counts[0]; all >= least_grid && 2 * below <= all; below += counts[bin]) ++bin;
  store_numbers(background.numbers.data, all < least_grid ? -1 : bin, luma.size());
}

template <class Backend>
void background_costs(Backend& cpu, View<const float> luma, const Background& background,
                      const Change& change, View<const std::uint8_t> last, Volume costs, View<Label> winners,
                      View<std::uint8_t> known) {
  const int width = winners.width;
  cpu.rows(winners.height, [=](int y) {
    const float inverse = gain_of(background.numbers.data, inverse_gain_bits);
    const float* const frame = luma.row(y);
    float *const still = costs.row(y, 0), *const moving = costs.row(y, 1);
    std::uint8_t *const values = background.luma.row(y), *const distances = background.distance.row(y);
    const std::uint8_t* const spread = background.spread.row(y);
    for (int x0 = 0; x0 < width; x0 += chunk) {
      const int count = smaller(chunk, width - x0);
      std::uint8_t value[chunk], distance[chunk], finite[chunk];
      float difference[chunk], temporal[chunk];
      for (int i = 0; i < count; ++i) finite[i] = is_finite(frame[x0 + i]);
      for (int i = 0; i < count; ++i) value[i] = std::uint8_t(luma_byte(frame[x0 + i], inverse));
      find_distances(background, y, x0, count, value, distance);
      for (int i = 0; i < count; ++i) difference[i] = in_spreads(distance[i], spread[x0 + i], change.mean);
      for (int i = 0; i < count; ++i) difference[i] = finite[i] ? difference[i] : not_known;
      for (int i = 0; i < count; ++i) temporal[i] = 0;
      if (last.data)
        for (int i = 0; i < count; ++i)
          temporal[i] = temporal_cost(change, last.row(y)[x0 + i], difference[i]);
      for (int i = 0; i < count; ++i) still[x0 + i] = change_cost(change, difference[i], temporal[i]).still;
      for (int i = 0; i < count; ++i) moving[x0 + i] = change_cost(change, difference[i], temporal[i]).moving;
      for (int i = 0; i < count; ++i) winners.row(y)[x0 + i] = seems_moving(change, difference[i]) ? 1 : 0;
      __builtin_memcpy(values + x0, value, std::size_t(count));
      __builtin_memcpy(distances + x0, distance, std::size_t(count));
      __builtin_memcpy(known.row(y) + x0, finite, std::size_t(count));
    }
  });
}

template <class Backend>
void learn_background(Backend& cpu, const Background& background, View<const Label> labels,
                      View<const std::uint8_t> known) {
  const Lesson lesson = lesson_of(background);
  cpu.rows(labels.height, [=](int y) {
    const RowLesson row = row_lesson(lesson, y);
    int moving = 0;
    for (int x0 = 0; x0 < labels.width; x0 += chunk) {
      const int count = smaller(chunk, labels.width - x0);
      const Label* const label = labels.row(y) + x0;
      Renewals renewals;
      learn_chunk(background, lesson, y, x0, count, label, renewals);
      for (int i = 0; i < count; ++i) moving += label[i] != 0;
      renew_chunk(background, labels, known, row, y, x0, count, renewals);
    }
    __atomic_fetch_add(background.numbers.data + moving_count, moving, __ATOMIC_RELAXED);
  });
}

PF_STEP(begin_background<Cpu>);
PF_STEP(find_gain<Cpu>);
PF_STEP(background_costs<Cpu>);
PF_STEP(learn_background<Cpu>);

}  // namespace parafield
