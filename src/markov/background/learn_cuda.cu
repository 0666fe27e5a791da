// SPDX-License-Identifier: MIT
#include "core/cuda/warp_reductions.cuh"
#include "markov/background/learn.hpp"
#include "markov/background/words.cuh"

// Minimum memory traffic per pixel, in bytes: the state of a pixel 14 to load and most of it to store, the
// newest frame 4, a sample of every fourth pixel; in color 4 of means to load and store, and 2 of the frame.
namespace parafield {
namespace {

/// Stores a pixel's luma and color as sample k of a pixel.
__device__ void store_sample(const BackgroundRow& to, int k, int x, const BackgroundRow& from, int from_x,
                             bool colors) {
  to.sample(k)[x] = from.luma()[from_x];
  if (!colors) return;
  to.blue_sample(k)[x] = from.blue_chroma()[from_x];
  to.red_sample(k)[x] = from.red_chroma()[from_x];
}

/// The state of four pixels, and what the frame shows of them.
struct FourMemories {
  Four<std::uint8_t> spread, candidate, support, flicker, before, luma, distance, apart;
  Four<std::uint16_t> run, mean;
  Four<std::int16_t> vote;

  __device__ FourMemories(const BackgroundRow& row, int x)
      : spread(four_at(row.spread() + x)),
        candidate(four_at(row.candidate() + x)),
        support(four_at(row.support() + x)),
        flicker(four_at(row.flicker() + x)),
        before(four_at(row.before() + x)),
        luma(four_at(row.luma() + x)),
        distance(four_at(row.distance() + x)),
        apart(four_at(row.apart() + x)),
        run(four_at(row.run() + x)),
        mean(four_at(row.mean() + x)),
        vote(four_at(row.next_vote() + x)) {}

  __device__ Seen seen(int i, int label) const {
    return {luma.of[i], distance.of[i], label, apart.of[i] & 1};
  }
  __device__ PixelMemory memory(int i) const {
    return {spread.of[i], candidate.of[i], support.of[i], flicker.of[i],
            before.of[i], run.of[i],       vote.of[i],    mean.of[i]};
  }
  __device__ void set(int i, const PixelMemory& memory) {
    spread.of[i] = std::uint8_t(memory.spread);
    candidate.of[i] = std::uint8_t(memory.candidate);
    support.of[i] = std::uint8_t(memory.support);
    flicker.of[i] = std::uint8_t(memory.flicker);
    before.of[i] = std::uint8_t(memory.before);
    run.of[i] = std::uint16_t(memory.run);
    vote.of[i] = std::int16_t(memory.vote);
    mean.of[i] = std::uint16_t(memory.mean);
  }
  __device__ void store(const BackgroundRow& row, int x) const {
    four_at(row.spread() + x) = spread;
    four_at(row.candidate() + x) = candidate;
    four_at(row.support() + x) = support;
    four_at(row.flicker() + x) = flicker;
    four_at(row.before() + x) = before;
    four_at(row.run() + x) = run;
    four_at(row.vote() + x) = vote;
    four_at(row.mean() + x) = mean;
  }
};

/// Mean colors of four pixels, and the frame's.
struct FourMeans {
  Four<std::uint8_t> blue, red;
  Four<std::uint16_t> mean_blue, mean_red;

  __device__ FourMeans(const BackgroundRow& row, int x)
      : blue(four_at(row.blue() + x)),
        red(four_at(row.red() + x)),
        mean_blue(four_at(row.mean_blue() + x)),
        mean_red(four_at(row.mean_red() + x)) {}

  __device__ void learn(int i, const Lesson& lesson, const Seen& seen, Replaced replaced) {
    const auto next = [&](std::uint16_t& mean, int value) {
      if (replaced)
        mean = std::uint16_t(value * 256);
      else if (follows_mean(lesson, seen))
        mean = std::uint16_t(next_mean(mean, value, lesson.rate));
    };
    next(mean_blue.of[i], blue.of[i]);
    next(mean_red.of[i], red.of[i]);
  }
  __device__ void store(const BackgroundRow& row, int x) const {
    four_at(row.mean_blue() + x) = mean_blue;
    four_at(row.mean_red() + x) = mean_red;
  }
};

/// Renews samples of a pixel inside the image. `flicker`, `spread`: after the frame.
__device__ void renew_samples(const Background& background, const Lesson& lesson, const SegmentLesson& own,
                              const BinaryLabels& labels, const Seen& seen, int spread, int flicker,
                              Replaced replaced, int x, int y) {
  const BackgroundRow row = background.row(y);
  for (int k = 0; k < sample_count && replaced; ++k)
    if (replaced == all_replaced || own.half >> k & 1) store_sample(row, k, x, row, x, lesson.colors);
  const int takes = takes_sample(lesson.young, seen.label, seen.distance, spread, seen.luma);
  if (own.own >= 0 && renews_own(takes, lesson.young, seen.apart, flicker))
    store_sample(row, own.own, x, row, x, lesson.colors);
  const Offset to = neighbor_offset(own.from);
  const int there_x = x + to.x, there_y = y + to.y;
  if (own.other < 0 || there_x < 0 || there_y < 0 || there_x >= background.size.width ||
      there_y >= background.size.height || !takes)
    return;
  const BackgroundRow there = background.row(there_y);
  if (gives_sample(label_at(labels, there_x, there_y), there.apart()[there_x] & 1, there.luma()[there_x]))
    store_sample(row, own.other, x, there, there_x, lesson.colors);
}

__device__ void learn_four(const Background& background, const Lesson& lesson, const BinaryLabels& labels,
                           std::uint32_t own_labels, int x, int y) {
  static_assert(segment % pixels_of_thread == 0);
  const BackgroundRow row = background.row(y);
  const SegmentLesson own = segment_lesson(lesson, x / segment, y);
  FourMemories memories(row, x);
  Replaced replaced[pixels_of_thread];
  each_pixel([&](int i) {
    const Seen seen = memories.seen(i, int(own_labels >> i & 1));
    PixelMemory memory = memories.memory(i);
    replaced[i] = none_replaced;
    if (seen.luma == no_luma) return;  // only the vote changes
    replaced[i] = learn(lesson, seen, memory);
    memories.set(i, memory);
  });
  memories.store(row, x);
  if (lesson.colors) {
    FourMeans means(row, x);
    each_pixel([&](int i) {
      const Seen seen = memories.seen(i, int(own_labels >> i & 1));
      if (seen.luma != no_luma) means.learn(i, lesson, seen, replaced[i]);
    });
    means.store(row, x);
  }
  bool any = own.own >= 0 || own.other >= 0;
  each_pixel([&](int i) { any |= replaced[i] != none_replaced; });
  if (!any) return;
  each_pixel([&](int i) {
    const Seen seen = memories.seen(i, int(own_labels >> i & 1));
    if (seen.luma != no_luma && x + i < background.size.width)
      renew_samples(background, lesson, own, labels, seen, memories.spread.of[i], memories.flicker.of[i],
                    replaced[i], x + i, y);
  });
}

__global__ void learn_kernel(const __grid_constant__ Background background, BinaryLabels labels) {
  begin_kernel();
  const int x = pixels_of_thread * own_x(), y = own_y();
  std::uint32_t own = 0;
  if (x < background.size.width && y < background.size.height) {
    own = four_labels(labels, x, y);
    if (background.frozen) {
      Four<std::uint8_t>& before = four_at(background.row(y).before() + x);
      each_pixel([&](int i) {
        before.of[i] = std::uint8_t((before.of[i] & was_apart) | (own >> i & 1 ? was_moving : 0));
      });
    } else
      learn_four(background, lesson_of(background), labels, own, x, y);
  }
  const int count = sum_of_warp(__popc(own));
  if (threadIdx.x == 0 && count > 0) atomicAdd(background.numbers.data + moving_count, count);
}

}  // namespace

template <class Backend>
void learn_background(Backend& cuda, const Background& background, const BinaryLabels& labels) {
  cuda.launch(learn_kernel, pixel_grid(background.size, pixels_of_thread), pixel_block, 0, background,
              labels);
}

PF_STEP(learn_background<Cuda>);

}  // namespace parafield
