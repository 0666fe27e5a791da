// SPDX-License-Identifier: MIT
#pragma once
#include "core/cuda/warp_reductions.cuh"
#include "markov/background/background.hpp"
#include "markov/binary/binary.hpp"
#include "markov/launch.cuh"

/// A thread of the background's kernels takes four neighboring pixels, whose bytes are a word. Rows of the
/// workspace begin at multiples of a word and are padded to whole words, so that threads may load and store
/// the pixels beyond the end of a row.
namespace parafield {
namespace {

constexpr int pixels_of_thread = 4;

/// A number in each half of a word.
constexpr std::uint32_t in_each_half(int value) { return std::uint32_t(value) * 0x00010001u; }

__device__ std::uint32_t& word_at(std::uint8_t* bytes) { return *reinterpret_cast<std::uint32_t*>(bytes); }
__device__ std::uint32_t word_at(const std::uint8_t* bytes) {
  return *reinterpret_cast<const std::uint32_t*>(bytes);
}
__device__ int byte_of(std::uint32_t word, int i) { return int(word >> 8 * i & 255); }
/// Puts a byte into an empty place of a word.
__device__ void put_byte(std::uint32_t& word, int i, int value) { word |= std::uint32_t(value) << 8 * i; }

/// Calls f(i) for the thread's pixels.
template <class F>
__device__ void each_pixel(F f) {
  PF_UNROLL
  for (int i = 0; i < pixels_of_thread; ++i) f(i);
}

/// Pixels of a block that need more work than others. All threads of the block share it evenly.
struct PixelList {
  int count;
  std::uint16_t at[pixels_of_thread * 32 * 8];

  /// All threads of the block must call it, and then synchronize, before the first `add`.
  __device__ void clear() {
    if (threadIdx.x == 0 && threadIdx.y == 0) count = 0;
  }
  /// Adds pixel i of the thread.
  __device__ void add(int i) {
    at[atomicAdd(&count, 1)] =
        std::uint16_t(pixels_of_thread * (int(threadIdx.y) * 32 + int(threadIdx.x)) + i);
  }
  /// Synchronizes the block, whose threads all must call it, and calls f(x, y) for the pixels.
  template <class F>
  __device__ void each(F f) const {
    __syncthreads();
    constexpr int columns = pixels_of_thread * 32;
    for (int k = int(threadIdx.y) * 32 + int(threadIdx.x); k < count; k += 32 * 8)
      f(int(blockIdx.x) * columns + at[k] % columns, int(blockIdx.y) * 8 + at[k] / columns);
  }
};

/// Stores four values in a row that may begin anywhere. Values outside the plane are left out.
template <class T>
__device__ void store_four(View<T> plane, int x, int y, const Four<T>& values) {
  T* const to = plane.row(y) + x;
  if (x + pixels_of_thread <= plane.width && reinterpret_cast<std::uintptr_t>(to) % sizeof(Four<T>) == 0)
    four_at(to) = values;
  else
    each_pixel([&](int i) {
      if (x + i < plane.width) to[i] = values.of[i];
    });
}

/// Label of a pixel of the image.
__device__ int label_at(const BinaryLabels& labels, int x, int y) {
  return int(labels.word_row(y)[x / 32] >> x % 32 & 1);
}
/// Labels of pixels x to x + 3, one bit each; x is a multiple of 4. Pixels outside the image have label 0.
__device__ std::uint32_t four_labels(const BinaryLabels& labels, int x, int y) {
  return labels.word_row(y)[x / 32] >> x % 32 & 15;
}
/// Labels of pixels x - 1 to x + 4, one bit each; 0 outside the image.
__device__ std::uint32_t six_labels(const BinaryLabels& labels, int x, int y, Size size) {
  if (y < 0 || y >= size.height) return 0;
  const std::uint32_t* const row = labels.word_row(y);
  const int word = x / 32, bit = x % 32;
  // All three are loaded, because a branch would wait for the first.
  const std::uint32_t here = row[word], left = row[larger(word - 1, 0)],
                      right = row[smaller(word + 1, (size.width - 1) / 32)];
  const std::uint32_t first = bit > 0 ? here >> (bit - 1) & 1 : left >> 31,
                      last = bit < 28 ? here >> (bit + 4) & 1 : right & 1;
  return (here >> bit & 15) << 1 | (x > 0 ? first : 0) | (x + 4 < size.width ? last << 5 : 0);
}

/// The word that begins `offset` bytes, -1 to 1, from byte x of a row of `width` bytes. x is a multiple of 4.
/// Bytes outside the row are undefined.
__device__ std::uint32_t word_beside(const std::uint8_t* row, int x, int offset, int width) {
  const int beside = x + pixels_of_thread * offset;
  const bool is_inside = beside >= 0 && beside < width;
  const std::uint32_t here = word_at(row + x), there = word_at(row + (is_inside ? beside : x));
  const std::uint32_t bytes = offset < 0 ? 0x2107 : offset > 0 ? 0x4321 : 0x3210;
  return __byte_perm(here, there, bytes);
}
/// Collects four bits of each of the eight threads of 32 pixels in a word, which all eight receive.
__device__ std::uint32_t joined_bits(std::uint32_t four) {
  constexpr int threads = 32 / pixels_of_thread;
  std::uint32_t word = four << pixels_of_thread * (threadIdx.x % threads);
  PF_UNROLL
  for (int step = 1; step < threads; step *= 2) word |= __shfl_xor_sync(all_lanes, word, step);
  return word;
}

}  // namespace
}  // namespace parafield
