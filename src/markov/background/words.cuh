// SPDX-License-Identifier: MIT
#pragma once
#include "markov/background/background.hpp"
#include "markov/binary/binary.hpp"
#include "markov/launch.cuh"

/// A thread of the background's kernels takes four neighboring pixels, whose bytes are a word. Rows of the
/// workspace begin at multiples of a word and are padded to whole words, so that threads may load and store
/// the pixels beyond the end of a row.
namespace parafield {
namespace {

constexpr int pixels_of_thread = 4;
constexpr unsigned all_lanes = ~0u;

/// A byte in each of the word's bytes, or a number in each of its halves.
constexpr std::uint32_t in_each_byte(int value) { return std::uint32_t(value) * 0x01010101u; }
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

/// Stores four values of a row that may begin anywhere, or those of them that are inside the plane.
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
  std::uint32_t six = (row[word] >> bit & 15) << 1;
  if (x > 0) six |= bit > 0 ? row[word] >> (bit - 1) & 1 : row[word - 1] >> 31;
  if (x + 4 < size.width) six |= (bit < 28 ? row[word] >> (bit + 4) & 1 : row[word + 1] & 1) << 5;
  return six;
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
