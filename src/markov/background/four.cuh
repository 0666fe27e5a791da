// SPDX-License-Identifier: MIT
#pragma once
#include "core/cuda/kernel.cuh"
#include "core/views.hpp"

/// Bytes of four adjacent pixels, processed together.
namespace parafield {
namespace {

/// Pixels per thread, as in mask/cuda.cu. Rows are padded for all four.
constexpr int together = 4;

__device__ int byte_of(uchar4 four, int i) { return (&four.x)[i]; }
__device__ uchar4 four_at(const std::uint8_t* bytes) { return *reinterpret_cast<const uchar4*>(bytes); }
__device__ void store_four(std::uint8_t* bytes, uchar4 four) { *reinterpret_cast<uchar4*>(bytes) = four; }
/// The same as a number, the first byte lowest.
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

}  // namespace
}  // namespace parafield
