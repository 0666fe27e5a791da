// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cstdint>

#include "core/cuda/backend.hpp"
#include "steps/copy/copy.hpp"

/// Copies of planes, as parts of kernels. A plane whose rows have no gap between them is treated as one long
/// row, which all its blocks copy together. In other planes, each block copies whole rows.
namespace parafield {

constexpr int copy_threads = 256;

/// A plane, and the size of its words: as many bytes as one instruction can copy.
struct WordCopy {
  PlaneCopy plane;
  int word_bytes;
};

/// Copies every `step`-th word of a row, beginning with word `first`.
template <class Word>
__device__ void copy_row(const char* from, char* to, std::ptrdiff_t row_bytes, std::ptrdiff_t first,
                         std::ptrdiff_t step) {
  const std::ptrdiff_t words = row_bytes / std::ptrdiff_t(sizeof(Word));
  for (std::ptrdiff_t i = first; i < words; i += step)
    reinterpret_cast<Word*>(to)[i] = reinterpret_cast<const Word*>(from)[i];
  const std::ptrdiff_t rest = words * std::ptrdiff_t(sizeof(Word)) + first;
  if (rest < row_bytes) to[rest] = from[rest];  // fewer bytes than a word, and than the block has threads
}

template <class Word>
__device__ void copy_rows(const PlaneCopy& plane, int block, int blocks) {
  if (plane.height == 1)
    return copy_row<Word>(plane.from, plane.to, plane.row_bytes,
                          std::ptrdiff_t(block) * copy_threads + std::ptrdiff_t(threadIdx.x),
                          std::ptrdiff_t(blocks) * copy_threads);
  for (int y = block; y < plane.height; y += blocks)
    copy_row<Word>(plane.from + y * plane.from_pitch, plane.to + y * plane.to_pitch, plane.row_bytes,
                   std::ptrdiff_t(threadIdx.x), copy_threads);
}

/// Copies one block's part of a plane, which `blocks` blocks copy together.
__device__ inline void copy_rows(const WordCopy& copy, int block, int blocks) {
  switch (copy.word_bytes) {
    case 16:
      return copy_rows<uint4>(copy.plane, block, blocks);
    case 4:
      return copy_rows<std::uint32_t>(copy.plane, block, blocks);
    default:
      return copy_rows<char>(copy.plane, block, blocks);
  }
}

inline WordCopy word_copy(PlaneCopy plane) {
  const auto bits = reinterpret_cast<std::uintptr_t>(plane.from) |
                    reinterpret_cast<std::uintptr_t>(plane.to) | std::uintptr_t(plane.from_pitch) |
                    std::uintptr_t(plane.to_pitch);
  if (plane.from_pitch == plane.row_bytes && plane.to_pitch == plane.row_bytes) {
    plane.row_bytes *= plane.height;
    plane.height = 1;
  }
  return {plane, bits % 16 == 0 ? 16 : bits % 4 == 0 ? 4 : 1};
}

constexpr std::ptrdiff_t most_copy_blocks = 2048;  // about 16 per SM of an H100

/// Number of blocks for a copy: one for each row, or enough that each thread has a word.
inline std::ptrdiff_t blocks_of(const WordCopy& copy) {
  const PlaneCopy& plane = copy.plane;
  const std::ptrdiff_t blocks =
      plane.height > 1 ? plane.height : plane.row_bytes / copy.word_bytes / copy_threads + 1;
  return std::min(blocks, most_copy_blocks);
}

}  // namespace parafield
