// SPDX-License-Identifier: MIT
#include "markov/background/bits.cuh"
#include "markov/background/learn.hpp"

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

/// Learns from a pixel with a luma.
__device__ void learn_pixel(const Background& background, const Lesson& lesson, const BinaryLabels& labels,
                            int label, int x, int y) {
  const BackgroundRow row = background.row(y);
  const Seen seen{row.luma()[x], row.distance()[x], label, row.apart()[x] & 1};
  PixelMemory memory{row.spread()[x], row.candidate()[x], row.support()[x],   row.flicker()[x],
                     row.before()[x], row.run()[x],       row.next_vote()[x], row.mean()[x]};
  const Replaced replaced = learn(lesson, seen, memory);
  row.spread()[x] = std::uint8_t(memory.spread);
  row.candidate()[x] = std::uint8_t(memory.candidate);
  row.support()[x] = std::uint8_t(memory.support);
  row.flicker()[x] = std::uint8_t(memory.flicker);
  row.before()[x] = std::uint8_t(memory.before);
  row.run()[x] = std::uint16_t(memory.run);
  row.vote()[x] = std::int16_t(memory.vote);
  row.mean()[x] = std::uint16_t(memory.mean);
  if (lesson.colors) {
    const int blue = row.blue()[x], red = row.red()[x];
    if (replaced) {
      row.mean_blue()[x] = std::uint16_t(blue * 256);
      row.mean_red()[x] = std::uint16_t(red * 256);
    } else if (follows_mean(lesson, seen)) {
      row.mean_blue()[x] = std::uint16_t(next_mean(row.mean_blue()[x], blue, lesson.rate));
      row.mean_red()[x] = std::uint16_t(next_mean(row.mean_red()[x], red, lesson.rate));
    }
  }
  const SegmentLesson own = segment_lesson(lesson, x / segment, y);
  for (int k = 0; k < sample_count && replaced; ++k)
    if (replaced == all_replaced || own.half >> k & 1) store_sample(row, k, x, row, x, lesson.colors);
  const int takes = takes_sample(lesson.young, seen.label, seen.distance, memory.spread, seen.luma);
  if (own.own >= 0 && renews_own(takes, lesson.young, seen.apart, memory.flicker))
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

__global__ void learn_kernel(Background background, BinaryLabels labels) {
  begin_kernel();
  const int x = own_x(), y = own_y();
  int label = 0;
  if (x < background.size.width && y < background.size.height) {
    label = label_at(labels, x, y);
    const BackgroundRow row = background.row(y);
    if (background.frozen)
      row.before()[x] = std::uint8_t((row.before()[x] & was_apart) | (label ? was_moving : 0));
    else if (row.luma()[x] != no_luma)
      learn_pixel(background, lesson_of(background), labels, label, x, y);
    else
      row.vote()[x] = row.next_vote()[x];
  }
  const int count = __popc(__ballot_sync(~0u, label));
  if (threadIdx.x == 0 && count > 0) atomicAdd(background.numbers.data + moving_count, count);
}

}  // namespace

template <class Backend>
void learn_background(Backend& cuda, const Background& background, const BinaryLabels& labels) {
  cuda.launch(learn_kernel, pixel_grid(background.size), pixel_block, 0, background, labels);
}

PF_STEP(learn_background<Cuda>);

}  // namespace parafield
