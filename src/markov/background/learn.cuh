// SPDX-License-Identifier: MIT
#pragma once
#include "markov/background/background.hpp"
#include "markov/launch.cuh"

/// The last step of a frame: updates the background and stores the mask with its confidence.
namespace parafield {
namespace {

// Bytes of four adjacent pixels are processed together.

/// Pixels per thread, as in mask/cuda.cu. Rows are padded for all four.
constexpr int together = 4;

/// Four bytes as a number, the first byte lowest.
__device__ std::uint32_t word_at(const std::uint8_t* bytes) {
  return *reinterpret_cast<const std::uint32_t*>(bytes);
}
__device__ void store_word(std::uint8_t* bytes, std::uint32_t word) {
  *reinterpret_cast<std::uint32_t*>(bytes) = word;
}

/// Four bytes of a user's mask, whose rows may be unaligned and without padding.
__device__ std::uint32_t any_word_at(View<const std::uint8_t> mask, int x0, int y) {
  const std::uint8_t* const from = mask.row(y) + x0;
  if (x0 + together <= mask.width && (reinterpret_cast<std::size_t>(from) & 3) == 0) return word_at(from);
  std::uint32_t word = 0;
  for (int i = 0; i < together && x0 + i < mask.width; ++i) word |= from[i] << 8 * i;
  return word;
}

/// Labels of pixels x0 - 1 to x0 + 4 of a row, one bit each; 0 outside the image. x0 must be a multiple of 4.
__device__ std::uint32_t six_labels(const BinaryLabels& labels, int x0, int y, int height) {
  if (y < 0 || y >= height) return 0;
  const std::uint32_t* const row = labels.word_row(y);
  const int column = x0 / 32, shift = x0 % 32;
  const std::uint32_t own = row[column];
  const std::uint32_t left = shift > 0 ? own >> (shift - 1) : column > 0 ? row[column - 1] >> 31 : 0;
  const std::uint32_t right = shift < 28                        ? own >> (shift + together)
                              : column + 1 < labels.words.width ? row[column + 1]
                                                                : 0;
  return (left & 1) | (own >> shift & 15) << 1 | (right & 1) << 5;
}

/// Each of four bits as a byte, 0 or 1.
__device__ std::uint32_t bytes_of(std::uint32_t bits) { return (bits & 15) * 0x00204081u & 0x01010101u; }

/// Replaces samples by lumas where the bytes of `renewed` are 1.
__device__ void renew_samples(std::uint8_t* to, std::uint32_t samples, std::uint32_t lumas,
                              std::uint32_t renewed) {
  const std::uint32_t mask = renewed * 255;
  store_word(to, (samples & ~mask) | (lumas & mask));
}

/// Learns from four pixels in the general case.
__device__ void learn_four(const Background& background, const Lesson& lesson, const BinaryLabels& labels,
                           int x0, int y, int half, std::uint32_t label, std::uint32_t lumas,
                           std::uint32_t distances, Four<std::uint16_t>& run) {
  const BackgroundRow row = background.row(y);
  const std::uint32_t spreads = word_at(row.spread() + x0), candidates = word_at(row.candidate() + x0),
                      supports = word_at(row.support() + x0);
  const Four<std::uint16_t> runs = run;
  Four<std::uint16_t> now;
  std::uint32_t spread = 0, candidate = 0, support = 0, all = 0, some = 0;
  PF_UNROLL
  for (int i = 0; i < together; ++i) {
    const auto byte = [=](std::uint32_t word) { return int(word >> 8 * i & 255); };
    const PixelMemory before{byte(spreads), byte(candidates), byte(supports), runs.of[i]};
    PixelMemory memory = before;
    const bool known = byte(lumas) != no_luma;
    Replaced replaced = learn(lesson, byte(label) != 0, byte(lumas), byte(distances), memory);
    if (known && replaced == doubted)
      replaced = resolve_doubt(background, x0 + i, y, memory, [&](int x, int there) {
        return (labels.word_row(there)[x / 32] >> x % 32 & 1) == 0;
      });
    if (!known) memory = before;
    spread |= memory.spread << 8 * i;
    candidate |= memory.candidate << 8 * i;
    support |= memory.support << 8 * i;
    now.of[i] = std::uint16_t(memory.run);
    all |= std::uint32_t(known && replaced == all_replaced) << 8 * i;
    some |= std::uint32_t(known && replaced == half_replaced) << 8 * i;
  }
  store_word(row.spread() + x0, spread);
  store_word(row.candidate() + x0, candidate);
  store_word(row.support() + x0, support);
  run = now;
  for (int k = 0; k < sample_count && (all | some); ++k) {
    std::uint8_t* const samples = row.sample(k) + x0;
    renew_samples(samples, word_at(samples), lumas, all | (half >> k & 1 ? some : 0));
  }
}

__global__ void learn_kernel(Background background, BackgroundModel model, BinaryLabels labels,
                             View<const std::uint8_t> last, View<std::uint8_t> moving, Trust trust) {
  begin_kernel();
  const int x0 = own_x() * together, y = own_y(), width = moving.width, height = moving.height;
  int count = 0;
  if (x0 < width && y < height) {
    // Load everything that most threads need before storing anything, so that they wait only once.
    const Lesson lesson = lesson_of(background);
    const SegmentLesson own = segment_lesson(lesson, x0 / segment, y);
    const BackgroundRow row = background.row(y);
    Four<std::uint16_t>& run = four_at(background.run.row(y) + x0);
    const Offset to = neighbor_offset(own.from);
    const bool learns = !background.frozen, renews = learns && own.own >= 0,
               takes = learns && own.other >= 0 && y + to.y >= 0 && y + to.y < height;
    std::uint8_t* const own_sample = row.sample(renews ? own.own : 0) + x0;
    std::uint8_t* const other_sample = row.sample(takes ? own.other : 0) + x0;
    const std::uint32_t lumas = word_at(row.luma() + x0), distances = word_at(row.distance() + x0),
                        spreads = word_at(row.spread() + x0), supports = word_at(row.support() + x0),
                        moved = last.data ? any_word_at(last, x0, y) : 0;
    const uint2 ran = reinterpret_cast<const uint2&>(run);
    std::uint32_t six[3];  // labels of the rows around
    PF_UNROLL
    for (int j = 0; j < 3; ++j) six[j] = six_labels(labels, x0, y + j - 1, height);
    const std::uint32_t samples = renews ? word_at(own_sample) : 0;
    std::uint32_t near = 0, taken = 0;
    if (takes) {
      const std::uint8_t* const around = background.row(y + to.y).luma();
      const std::uint32_t label = to.y < 0 ? six[0] : to.y == 0 ? six[1] : six[2];
      PF_UNROLL
      for (int i = 0; i < together; ++i) {
        const int x = x0 + i + to.x;
        const int luma = x >= 0 && x < width ? around[x] : no_luma;
        near |= luma << 8 * i;
        taken |= std::uint32_t(renews_sample(label >> (i + to.x + 1) & 1, luma)) << 8 * i;
      }
    }

    const std::uint32_t label = bytes_of(six[1] >> 1);
    std::uint32_t known = 0, spread = 0, own_renewed = 0;
    Four<float> confidence;
    PF_UNROLL
    for (int i = 0; i < together; ++i) {
      const auto byte = [=](std::uint32_t word) { return int(word >> 8 * i & 255); };
      const bool is_known = byte(lumas) != no_luma;
      const int difference = difference_byte(byte(distances), factor_of(model, byte(spreads)));
      const ChangeCosts cost =
          background_cost(model, is_known, difference, last.data != nullptr, byte(moved));
      const int ones = __popc(six[0] >> i & 7) + __popc(six[1] >> i & 5) + __popc(six[2] >> i & 7);
      confidence.of[i] = mask_confidence(byte(label), cost.still, cost.moving, ones,
                                         neighbor_count(x0 + i, y, width, height), model.pair);
      known |= std::uint32_t(is_known) << 8 * i;
      spread |= next_spread(byte(spreads), byte(distances), lesson.least_spread) << 8 * i;
      own_renewed |=
          std::uint32_t(renews_own(lesson.young, byte(label), byte(lumas), byte(distances), byte(spreads)))
          << 8 * i;
    }
    store_word(moving.row(y) + x0, label);
    store_word(trust.valid.row(y) + x0, known);
    four_at(trust.confidence.row(y) + x0) = confidence;
    count = __popc(label);
    if (!learns) {
    } else if (count == 0 && known == 0x01010101 && !lesson.crowded) {
      // Shortcut with the result of `learn` for nearly all pixels, which are known and static. Most of their
      // state does not change.
      const std::uint32_t support = __vaddus4(supports, 0x01010101);
      if (spread != spreads) store_word(row.spread() + x0, spread);
      if (support != supports) store_word(row.support() + x0, support);
      if (ran.x | ran.y) run = {};
      if (renews) renew_samples(own_sample, samples, lumas, own_renewed);
    } else {
      learn_four(background, lesson, labels, x0, y, own.half, label, lumas, distances, run);
      if (renews) renew_samples(own_sample, word_at(own_sample), lumas, own_renewed);
    }
    if (takes) renew_samples(other_sample, word_at(other_sample), near, taken);
  }
  for (int step = 16; step > 0; step /= 2) count += __shfl_down_sync(~0u, count, step);
  if (threadIdx.x == 0 && count > 0) atomicAdd(background.numbers.data + moving_count, count);
}

}  // namespace
}  // namespace parafield
