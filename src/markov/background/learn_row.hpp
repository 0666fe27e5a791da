// SPDX-License-Identifier: MIT
#pragma once
#include "markov/background/background.hpp"

/// How the CPU learns a row of the background. In an unnamed namespace, because each instruction set has its
/// own copy.
namespace parafield {
namespace {

// Rows are processed in chunks. All but the last chunk of a row have this many pixels, because loops with a
// constant count are faster.
constexpr int chunk = 4 * segment;

/// Calls f<Count>(x0, some) for the chunks of a row. A chunk has `Count` pixels, or `some` if Count is 0.
template <class F>
void for_chunks(int width, F f) {
  for (int x0 = 0; x0 < width; x0 += chunk) {
    const int some = smaller(chunk, width - x0);
    with_constant<chunk>(some, [&]<int Count>() { f.template operator()<Count>(x0, some); });
  }
}

/// Learns from the pixels of a chunk. Returns whether they replace any samples, and if so, writes which ones
/// to `replaced` (Replaced). The loops write to local arrays, so that they vectorize.
inline bool learn_chunk(const Background& background, const Lesson& all, const BinaryLabels& labels, int y,
                        int x0, int count, std::uint8_t* replaced) {
  const std::uint8_t* const label = labels.row(y) + x0;
  if (background.frozen) return false;
  const Lesson lesson = all;
  const BackgroundRow row = background.row(y);
  const std::uint8_t *const luma = row.luma() + x0, *const distance = row.distance() + x0;
  std::uint8_t *const spread = row.spread() + x0, *const candidate = row.candidate() + x0,
                      *const support = row.support() + x0;
  std::uint16_t* const run = background.run.row(y) + x0;
  std::uint8_t spreads[chunk], candidates[chunk], supports[chunk], moving = 0, unknown = 0;
  std::uint16_t runs[chunk];
  for (int i = 0; i < count; ++i) moving |= label[i];
  for (int i = 0; i < count; ++i) unknown |= luma[i] == no_luma;
  // Shortcut with the result of `learn` for nearly all chunks, whose pixels are known and static. Most of
  // their state does not change.
  if (!moving && !unknown && !lesson.crowded) {
    std::uint8_t changed = 0;
    std::uint16_t ran = 0;
    for (int i = 0; i < count; ++i)
      spreads[i] = std::uint8_t(next_spread(spread[i], distance[i], lesson.least_spread));
    for (int i = 0; i < count; ++i) supports[i] = std::uint8_t(support[i] + (support[i] < most_support));
    for (int i = 0; i < count; ++i) changed |= supports[i] ^ support[i];
    for (int i = 0; i < count; ++i) ran |= run[i];
    __builtin_memcpy(spread, spreads, std::size_t(count));
    if (changed) __builtin_memcpy(support, supports, std::size_t(count));
    if (ran) __builtin_memset(run, 0, std::size_t(count) * sizeof(run[0]));
    return false;
  }
  for (int i = 0; i < count; ++i) {
    PixelMemory memory{spread[i], candidate[i], support[i], run[i]};
    replaced[i] = std::uint8_t(learn(lesson, label[i] != 0, luma[i], distance[i], memory));
    spreads[i] = std::uint8_t(memory.spread);
    candidates[i] = std::uint8_t(memory.candidate);
    supports[i] = std::uint8_t(memory.support);
    runs[i] = std::uint16_t(memory.run);
  }
  std::uint8_t doubts = 0;
  for (int i = 0; i < count; ++i) doubts |= replaced[i] == doubted;
  for (int i = 0; doubts && i < count; ++i)
    if (replaced[i] == doubted) {
      PixelMemory memory{spreads[i], candidates[i], supports[i], runs[i]};
      replaced[i] = std::uint8_t(resolve_doubt(background, x0 + i, y, memory,
                                               [&](int x, int there) { return labels.row(there)[x] == 0; }));
      supports[i] = std::uint8_t(memory.support);
      runs[i] = std::uint16_t(memory.run);
    }
  for (int i = 0; unknown && i < count; ++i)
    if (luma[i] == no_luma) {
      replaced[i] = none_replaced;
      spreads[i] = spread[i];
      candidates[i] = candidate[i];
      supports[i] = support[i];
      runs[i] = run[i];
    }
  __builtin_memcpy(spread, spreads, std::size_t(count));
  __builtin_memcpy(candidate, candidates, std::size_t(count));
  __builtin_memcpy(support, supports, std::size_t(count));
  __builtin_memcpy(run, runs, std::size_t(count) * sizeof(runs[0]));
  std::uint8_t any = 0;
  for (int i = 0; i < count; ++i) any |= replaced[i];
  return any != 0;
}

/// Stores `luma` in a row of samples where `renewed` is not 0.
inline void renew_row(std::uint8_t* samples, const std::uint8_t* luma, const std::uint8_t* renewed,
                      int count) {
  std::uint8_t result[segment];
  for (int i = 0; i < count; ++i) result[i] = renewed[i] ? luma[i] : samples[i];
  __builtin_memcpy(samples, result, std::size_t(count));
}

/// Renews the samples that pixels of a segment replace, if `replaced` is not null, and then the samples that
/// the whole segment renews. It has `Count` pixels, or `some` if Count is 0.
template <int Count>
void renew_segment(const Background& background, const BinaryLabels& labels, const Lesson& lesson, int y,
                   int x0, int some, const std::uint8_t* replaced) {
  const int count = Count ? Count : some;
  const Size size = background.run.size();
  const SegmentLesson own = segment_lesson(lesson, x0 / segment, y);
  const BackgroundRow row = background.row(y);
  const std::uint8_t* const luma = row.luma() + x0;
  std::uint8_t renewed[segment];
  for (int k = 0; k < sample_count && replaced; ++k) {
    const int in_half = own.half >> k & 1;
    for (int i = 0; i < count; ++i)
      renewed[i] = (replaced[i] == all_replaced) | ((replaced[i] == half_replaced) & in_half);
    renew_row(row.sample(k) + x0, luma, renewed, count);
  }
  if (own.own >= 0) {
    const std::uint8_t young = lesson.young;
    const std::uint8_t *const label = labels.row(y) + x0, *const distance = row.distance() + x0,
                              *const spread = row.spread() + x0;
    for (int i = 0; i < count; ++i)
      renewed[i] = std::uint8_t(renews_own(young, label[i], luma[i], distance[i], spread[i]));
    renew_row(row.sample(own.own) + x0, luma, renewed, count);
  }
  const Offset to = neighbor_offset(own.from);
  if (own.other < 0 || y + to.y < 0 || y + to.y >= size.height) return;
  const std::uint8_t* const label = labels.row(y + to.y) + x0 + to.x;
  const std::uint8_t* const lumas = background.row(y + to.y).luma();
  const std::uint8_t* near = lumas + x0 + to.x;
  const bool at_left = x0 + to.x<0, at_right = x0 + to.x + count> size.width;
  std::uint8_t edge[segment];  // the memory next to the lumas is written by other threads
  if (at_left || at_right) {
    for (int i = 0; i < count; ++i) edge[i] = lumas[clamp(x0 + to.x + i, 0, size.width - 1)];
    near = edge;
  }
  for (int i = 0; i < count; ++i) renewed[i] = std::uint8_t(renews_sample(label[i], near[i]));
  if (at_left) renewed[0] = 0;
  if (at_right) renewed[count - 1] = 0;
  renew_row(row.sample(own.other) + x0, near, renewed, count);
}

}  // namespace
}  // namespace parafield
