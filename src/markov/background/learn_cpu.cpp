// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "markov/background/chunks.hpp"
#include "markov/background/learn.hpp"

namespace parafield {
namespace {

/// The mean after a frame that it follows: next_mean, without signed numbers.
inline std::uint16_t followed_mean(std::uint16_t mean, std::uint8_t value, int rate, std::uint16_t up) {
  const auto now = std::uint16_t(value << 8);
  const std::uint16_t above = now > mean ? std::uint16_t(now - mean) : std::uint16_t(0),
                      below = now > mean ? std::uint16_t(0) : std::uint16_t(mean - now);
  return std::uint16_t(mean + std::uint16_t(above >> rate) -
                       std::uint16_t(std::uint16_t(below + up) >> rate));
}

/// Learns from a chunk whose pixels are all known and static, as most are: what `learn` does to them, in bytes.
template <int Count>
void learn_static_chunk(const Lesson& lesson, const BackgroundRow& row, int x0, int some) {
  const int count = Count ? Count : some;
  const std::uint8_t *const distance = row.distance() + x0, *const aparts = row.apart() + x0;
  const auto least = std::uint8_t(lesson.least_spread),
             most = std::uint8_t(spread_above(lesson.least_spread, spread_range)),
             added = std::uint8_t(lesson.added), added_after_motion = std::uint8_t(lesson.added / 2),
             young = std::uint8_t(lesson.young), faded = std::uint8_t(lesson.fades ? 255 : 0);
  std::uint8_t apart[background_chunk], before[background_chunk], flicker[background_chunk],
      spread[background_chunk], support[background_chunk], follows[background_chunk];
  for (int i = 0; i < count; ++i) apart[i] = aparts[i] & is_apart;
  store_chunk(before, row.before() + x0, count);
  store_chunk(flicker, row.flicker() + x0, count);
  store_chunk(spread, row.spread() + x0, count);
  store_chunk(support, row.support() + x0, count);
  for (int i = 0; i < count; ++i) {
    const std::uint8_t now = std::uint8_t(next_before(aparts[i])), old = before[i],
                       left = std::uint8_t(flicker[i] - ((flicker[i] >> 5) & faded)),
                       leaf = std::uint8_t(support[i] >= leaf_support ? (now | old) & was_leaf : 0),
                       halves = std::uint8_t(leaf ? 0 : old & was_moving),
                       step = halves ? added_after_motion : added, most_step = std::uint8_t(255 - left),
                       limited = step < most_step ? step : most_step,
                       changes = std::uint8_t((now ^ old) & had_left);
    flicker[i] = std::uint8_t(left + (changes ? limited : std::uint8_t(0)));
    before[i] = now;
  }
  // A target that a byte holds: spreads are at most `most`, and above that only the steps' sizes count.
  static_assert(most_spread + 9 < 7 * 2 * spread_unit && 15 * spread_unit < 256);
  for (int i = 0; i < count; ++i) {
    const bool dynamic = flicker[i] >= dynamic_flicker;
    const std::uint8_t limit = dynamic ? 15 : 7, some_distance = distance[i] < limit ? distance[i] : limit,
                       target = std::uint8_t(some_distance << (dynamic ? 4 : 5)), old = spread[i],
                       most_up = dynamic ? 9 : 1,
                       off = target > old ? std::uint8_t(target - old) : std::uint8_t(0),
                       up = off < most_up ? off : most_up, down = target < old,
                       next = std::uint8_t(old + up - down), capped = next < most ? next : most;
    spread[i] = capped > least ? capped : least;
  }
  for (int i = 0; i < count; ++i) support[i] = std::uint8_t(support[i] + (support[i] < most_support));
  for (int i = 0; i < count; ++i) follows[i] = young | (apart[i] ^ 1);
  store_chunk(row.flicker() + x0, flicker, count);
  store_chunk(row.spread() + x0, spread, count);
  store_chunk(row.support() + x0, support, count);
  store_chunk(row.before() + x0, before, count);
  __builtin_memset(row.run() + x0, 0, std::size_t(count) * sizeof(std::uint16_t));
  __builtin_memset(row.vote() + x0, 0, std::size_t(count) * sizeof(std::int16_t));
  const int rate = lesson.rate;
  const auto up = std::uint16_t((1 << rate) - 1);
  const auto follow = [&](std::uint16_t* means, const std::uint8_t* values) {
    std::uint16_t mean[background_chunk];
    for (int i = 0; i < count; ++i)
      mean[i] = follows[i] ? followed_mean(means[i], values[i], rate, up) : means[i];
    store_chunk(means, mean, count);
  };
  follow(row.mean() + x0, row.luma() + x0);
  if (!lesson.colors) return;
  follow(row.mean_blue() + x0, row.blue() + x0);
  follow(row.mean_red() + x0, row.red() + x0);
}
/// Whether learn_static_chunk may learn from a chunk.
inline bool is_static_chunk(const std::uint8_t* luma, const std::uint8_t* label, int count) {
  std::uint8_t others = 0;
  for (int i = 0; i < count; ++i) others |= label[i] | (luma[i] == no_luma);
  return others == 0;
}

/// Learns from the pixels of a chunk. Writes to `replaced` which samples the lumas replace, and returns whether
/// they replace any.
template <int Count>
bool learn_chunk(const Lesson& all, const BackgroundRow& row, const std::uint8_t* labels, int x0, int some,
                 std::uint8_t* replaced) {
  const int count = Count ? Count : some;
  const Lesson lesson = all;
  std::uint8_t luma[background_chunk], distance[background_chunk], label[background_chunk],
      apart[background_chunk], spread[background_chunk], candidate[background_chunk],
      support[background_chunk], flicker[background_chunk], before[background_chunk];
  std::uint16_t run[background_chunk], mean[background_chunk];
  std::int16_t vote[background_chunk];
  store_chunk(luma, row.luma() + x0, count);
  store_chunk(distance, row.distance() + x0, count);
  store_chunk(label, labels + x0, count);
  store_chunk(apart, row.apart() + x0, count);
  store_chunk(spread, row.spread() + x0, count);
  store_chunk(candidate, row.candidate() + x0, count);
  store_chunk(support, row.support() + x0, count);
  store_chunk(flicker, row.flicker() + x0, count);
  store_chunk(before, row.before() + x0, count);
  store_chunk(run, row.run() + x0, count);
  store_chunk(mean, row.mean() + x0, count);
  store_chunk(vote, row.next_vote() + x0, count);
  for (int i = 0; i < count; ++i) {
    const int known = luma[i] != no_luma;
    PixelMemory memory{spread[i], candidate[i], support[i], flicker[i], before[i], run[i], vote[i], mean[i]};
    const Replaced replaces =
        learn(lesson, {luma[i], distance[i], label[i], apart[i] & is_apart, apart[i]}, memory);
    replaced[i] = std::uint8_t(either(known, replaces, none_replaced));
    spread[i] = std::uint8_t(either(known, memory.spread, spread[i]));
    candidate[i] = std::uint8_t(either(known, memory.candidate, candidate[i]));
    support[i] = std::uint8_t(either(known, memory.support, support[i]));
    flicker[i] = std::uint8_t(either(known, memory.flicker, flicker[i]));
    before[i] = std::uint8_t(either(known, memory.before, before[i]));
    run[i] = std::uint16_t(either(known, memory.run, run[i]));
    mean[i] = std::uint16_t(either(known, memory.mean, mean[i]));
    vote[i] = std::int16_t(either(known, memory.vote, vote[i]));
  }
  store_chunk(row.spread() + x0, spread, count);
  store_chunk(row.candidate() + x0, candidate, count);
  store_chunk(row.support() + x0, support, count);
  store_chunk(row.flicker() + x0, flicker, count);
  store_chunk(row.before() + x0, before, count);
  store_chunk(row.run() + x0, run, count);
  store_chunk(row.mean() + x0, mean, count);
  store_chunk(row.vote() + x0, vote, count);
  if (lesson.colors) {
    const std::uint8_t *const blue = row.blue() + x0, *const red = row.red() + x0;
    store_chunk(run, row.mean_blue() + x0, count);
    store_chunk(mean, row.mean_red() + x0, count);
    for (int i = 0; i < count; ++i) {
      const int follows =
          follows_mean(lesson, {0, 0, label[i], apart[i] & is_apart, 0}) & int(luma[i] != no_luma);
      const int next_blue = either(follows, next_mean(run[i], blue[i], lesson.rate), run[i]),
                next_red = either(follows, next_mean(mean[i], red[i], lesson.rate), mean[i]);
      run[i] = std::uint16_t(replaced[i] ? blue[i] * 256 : next_blue);
      mean[i] = std::uint16_t(replaced[i] ? red[i] * 256 : next_red);
    }
    store_chunk(row.mean_blue() + x0, run, count);
    store_chunk(row.mean_red() + x0, mean, count);
  }
  return any_from(replaced, count, 1);
}

/// Stores values in a row of samples where `renewed` is not 0.
inline void renew_row(std::uint8_t* samples, const std::uint8_t* values, const std::uint8_t* renewed,
                      int count) {
  std::uint8_t result[segment];
  for (int i = 0; i < count; ++i) result[i] = renewed[i] ? values[i] : samples[i];
  store_chunk(samples, result, count);
}

/// Values of a segment's neighbors, `dx` columns to the side. At the image's border a pixel is its own
/// neighbor; the memory next to a row must not be read, because other threads write it.
inline void read_beside(const std::uint8_t* row, int x0, int count, int dx, int width, std::uint8_t* values) {
  const int first = x0 + dx < 0, last = count - (x0 + dx + count > width);
  for (int i = first; i < last; ++i) values[i] = row[x0 + dx + i];
  if (first) values[0] = row[0];
  if (last < count) values[last] = row[width - 1];
}

/// Renews the samples that a whole segment renews. It has `Count` pixels, or `some` if Count is 0.
template <int Count>
void renew_segment(const Background& background, const BinaryLabels& labels, const Lesson& lesson, int y,
                   int x0, int some) {
  const int count = Count ? Count : some;
  const int width = background.size.width, height = background.size.height;
  const SegmentLesson own = segment_lesson(lesson, x0 / segment, y);
  const BackgroundRow row = background.row(y);
  const std::uint8_t *const label = labels.row(y) + x0, *const apart = row.apart() + x0,
                            *const flicker = row.flicker() + x0, *const luma = row.luma() + x0,
                            *const distance = row.distance() + x0, *const spread = row.spread() + x0;
  const int young = lesson.young;
  std::uint8_t renewed[segment], takes[segment];
  for (int i = 0; i < count; ++i)
    takes[i] = std::uint8_t(takes_sample(young, label[i], distance[i], spread[i], luma[i]));
  if (own.own >= 0) {
    for (int i = 0; i < count; ++i)
      renewed[i] = std::uint8_t(renews_own(takes[i], young, apart[i] & is_apart, flicker[i]));
    renew_row(row.sample(own.own) + x0, luma, renewed, count);
    if (lesson.colors) {
      renew_row(row.blue_sample(own.own) + x0, row.blue_chroma() + x0, renewed, count);
      renew_row(row.red_sample(own.own) + x0, row.red_chroma() + x0, renewed, count);
    }
  }
  const Offset to = neighbor_offset(own.from);
  if (own.other < 0 || y + to.y < 0 || y + to.y >= height) return;
  const BackgroundRow there = background.row(y + to.y);
  std::uint8_t values[segment], its_label[segment], its_apart[segment];
  read_beside(labels.row(y + to.y), x0, count, to.x, width, its_label);
  read_beside(there.apart(), x0, count, to.x, width, its_apart);
  read_beside(there.luma(), x0, count, to.x, width, values);
  for (int i = 0; i < count; ++i)
    renewed[i] = takes[i] & std::uint8_t(gives_sample(its_label[i], its_apart[i] & is_apart, values[i]));
  if (x0 + to.x < 0) renewed[0] = 0;
  if (x0 + to.x + count > width) renewed[count - 1] = 0;
  renew_row(row.sample(own.other) + x0, values, renewed, count);
  if (!lesson.colors) return;
  read_beside(there.blue_chroma(), x0, count, to.x, width, values);
  renew_row(row.blue_sample(own.other) + x0, values, renewed, count);
  read_beside(there.red_chroma(), x0, count, to.x, width, values);
  renew_row(row.red_sample(own.other) + x0, values, renewed, count);
}

/// Stores a chunk's lumas and colors in the samples that they replace.
void replace_samples(const Lesson& lesson, const BackgroundRow& row, int x0, int y, int count,
                     const std::uint8_t* replaced) {
  for (int i = 0; i < count; ++i) {
    if (!replaced[i]) continue;
    const int half = segment_lesson(lesson, (x0 + i) / segment, y).half;
    for (int k = 0; k < sample_count; ++k)
      if (replaced[i] == all_replaced || half >> k & 1) {
        row.sample(k)[x0 + i] = row.luma()[x0 + i];
        if (!lesson.colors) continue;
        row.blue_sample(k)[x0 + i] = row.blue_chroma()[x0 + i];
        row.red_sample(k)[x0 + i] = row.red_chroma()[x0 + i];
      }
  }
}

/// What a frozen background keeps of a frame: which pixels moved.
void keep_labels(std::uint8_t* before, const std::uint8_t* label, int width) {
  for (int x = 0; x < width; ++x)
    before[x] = std::uint8_t((before[x] & ~was_moving) | (label[x] ? was_moving : 0));
}

}  // namespace

template <class Backend>
void learn_background(Backend& cpu, const Background& background, const BinaryLabels& labels) {
  const Lesson lesson = lesson_of(background);
  const int width = background.size.width, height = background.size.height;
  cpu.rows(height, [=](int y) {
    const BackgroundRow row = background.row(y);
    const std::uint8_t* const label = labels.row(y);
    int moving = 0;
    for (int x = 0; x < width; ++x) moving += label[x];
    if (moving) __atomic_fetch_add(background.numbers.data + moving_count, moving, __ATOMIC_RELAXED);
    if (background.frozen) return keep_labels(row.before(), label, width);
    // Prefetches the samples that the next row renews, because the processor cannot predict where they are.
    if (y + 1 < height) {
      const BackgroundRow next = background.row(y + 1);
      for (int x0 = 0; x0 < width; x0 += segment) {
        const SegmentLesson own = segment_lesson(lesson, x0 / segment, y + 1);
        if (own.own >= 0) __builtin_prefetch(next.sample(own.own) + x0);
        if (own.other >= 0) __builtin_prefetch(next.sample(own.other) + x0);
      }
    }
    for_chunks(width, [&]<int Count>(int x0, int some) {
      const int count = Count ? Count : some;
      std::uint8_t replaced[background_chunk];
      if (!lesson.crowded && is_static_chunk(row.luma() + x0, label + x0, count))
        learn_static_chunk<Count>(lesson, row, x0, count);
      else if (learn_chunk<Count>(lesson, row, label, x0, count, replaced))
        replace_samples(lesson, row, x0, y, count, replaced);
      for (int i = 0; i < count; i += segment)
        with_constant<segment>(smaller(segment, count - i), [&]<int Pixels>() {
          renew_segment<Pixels>(background, labels, lesson, y, x0 + i, count - i);
        });
    });
  });
}

PF_STEP(learn_background<Cpu>);

}  // namespace parafield
