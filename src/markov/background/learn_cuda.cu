// SPDX-License-Identifier: MIT
#include "core/cuda/warp_reductions.cuh"
#include "markov/background/learn.hpp"
#include "markov/background/words.cuh"

// Minimum memory traffic per pixel, in bytes: the state of a pixel 14 to load and most of it to store, the
// newest frame 4, a sample of every fourth pixel; in color 4 of means to load and store, and 2 of the frame.
namespace parafield {
namespace {

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

/// Stores the lumas and colors of four pixels `from`, which begin `offset` px from x, as sample k of the pixels
/// at x where `mask` is 255.
__device__ void store_samples(const BackgroundRow& to, int k, int x, const BackgroundRow& from, int offset,
                              int width, std::uint32_t mask, bool colors) {
  store_masked(to.sample(k) + x, word_beside(from.luma(), x, offset, width), mask);
  if (!colors) return;
  store_masked(to.blue_sample(k) + x, word_beside(from.blue_chroma(), x, offset, width), mask);
  store_masked(to.red_sample(k) + x, word_beside(from.red_chroma(), x, offset, width), mask);
}

/// Where the four pixels that begin `offset` px from (x, y) can give samples.
__device__ std::uint32_t giving_pixels(const Background& background, const BinaryLabels& labels, int x, int y,
                                       int offset) {
  const Size size = background.size;
  if (y < 0 || y >= size.height) return 0;
  const BackgroundRow row = background.row(y);
  const std::uint32_t apart = word_beside(row.apart(), x, offset, size.width),
                      luma = word_beside(row.luma(), x, offset, size.width),
                      label = six_labels(labels, x, y, size) >> (1 + offset);
  std::uint32_t mask = 0;
  each_pixel([&](int i) {
    const bool is_inside = x + i + offset >= 0 && x + i + offset < size.width;
    if (is_inside && gives_sample(int(label >> i & 1), byte_of(apart, i) & 1, byte_of(luma, i)))
      put_byte(mask, i, 255);
  });
  return mask;
}

__device__ void learn_four(const Background& background, const Lesson& lesson, const BinaryLabels& labels,
                           std::uint32_t own_labels, int x, int y) {
  static_assert(segment % pixels_of_thread == 0);
  const int width = background.size.width;
  const BackgroundRow row = background.row(y);
  const SegmentLesson own = segment_lesson(lesson, x / segment, y);
  FourMemories memories(row, x);
  Replaced replaced[pixels_of_thread];
  std::uint32_t takes = 0, renews = 0, all = 0, half = 0;  // 255 for pixels whose samples are replaced
  each_pixel([&](int i) {
    const Seen seen = memories.seen(i, int(own_labels >> i & 1));
    replaced[i] = none_replaced;
    if (seen.luma == no_luma) return;  // only the vote changes
    PixelMemory memory = memories.memory(i);
    replaced[i] = learn(lesson, seen, memory);
    memories.set(i, memory);
    if (replaced[i] == all_replaced) put_byte(all, i, 255);
    if (replaced[i] == half_replaced) put_byte(half, i, 255);
    const int takes_one = takes_sample(lesson.young, seen.label, seen.distance, memory.spread, seen.luma);
    if (takes_one) put_byte(takes, i, 255);
    if (renews_own(takes_one, lesson.young, seen.apart, memory.flicker)) put_byte(renews, i, 255);
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
  const auto store = [&](int k, const BackgroundRow& from, int offset, std::uint32_t mask) {
    if (mask != 0) store_samples(row, k, x, from, offset, width, mask, lesson.colors);
  };
  if ((all | half) != 0)
    for (int k = 0; k < sample_count; ++k) store(k, row, 0, own.half >> k & 1 ? all | half : all);
  if (own.own >= 0) store(own.own, row, 0, renews);
  if (own.other < 0 || takes == 0) return;
  const Offset to = neighbor_offset(own.from);
  const std::uint32_t gives = giving_pixels(background, labels, x, y + to.y, to.x);
  store(own.other, background.row(clamp(y + to.y, 0, background.size.height - 1)), to.x, takes & gives);
}

__global__ void __launch_bounds__(256, 3)
    learn_kernel(const __grid_constant__ Background background, BinaryLabels labels) {
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
