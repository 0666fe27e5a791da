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

/// A plane and its word size: as many bytes as one instruction can copy. If the plane becomes halves, these
/// are bytes of the source.
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

/// Writes every `step`-th word of a row of floats as halves, beginning with word `first`.
template <class Word>
__device__ void halve_row(const char* from, char* to, std::ptrdiff_t row_bytes, std::ptrdiff_t first,
                          std::ptrdiff_t step) {
  constexpr int count = sizeof(Word) / sizeof(float);
  struct alignas(sizeof(Word) / 2) Halves {
    Half value[count];
  };
  const std::ptrdiff_t words = row_bytes / std::ptrdiff_t(sizeof(Word));
  const auto half_of = [=](std::ptrdiff_t i) { return Half(reinterpret_cast<const float*>(from)[i]); };
  for (std::ptrdiff_t i = first; i < words; i += step) {
    Halves halves;
    if constexpr (count == 4) {
      const float4 values = reinterpret_cast<const float4*>(from)[i];
      halves = {{Half(values.x), Half(values.y), Half(values.z), Half(values.w)}};
    } else {
      halves = {{half_of(i)}};
    }
    reinterpret_cast<Halves*>(to)[i] = halves;
  }
  const std::ptrdiff_t rest = words * count + first;
  if (rest < row_bytes / std::ptrdiff_t(sizeof(float))) reinterpret_cast<Half*>(to)[rest] = half_of(rest);
}

template <class Word, bool halves>
__device__ void copy_rows(const PlaneCopy& plane, int block, int blocks) {
  const auto take_row = [&](const char* from, char* to, std::ptrdiff_t first, std::ptrdiff_t step) {
    if constexpr (halves && sizeof(Word) >= sizeof(float))
      if (plane.to_halves) return halve_row<Word>(from, to, plane.row_bytes, first, step);
    copy_row<Word>(from, to, plane.row_bytes, first, step);
  };
  if (plane.height == 1)
    return take_row(plane.from, plane.to, std::ptrdiff_t(block) * copy_threads + std::ptrdiff_t(threadIdx.x),
                    std::ptrdiff_t(blocks) * copy_threads);
  for (int y = block; y < plane.height; y += blocks)
    take_row(plane.from + y * plane.from_pitch, plane.to + y * plane.to_pitch, std::ptrdiff_t(threadIdx.x),
             copy_threads);
}

/// Copies one block's part of a plane, which `blocks` blocks copy together. `halves`: the plane may have to
/// become halves.
template <bool halves = false>
__device__ void copy_rows(const WordCopy& copy, int block, int blocks) {
  switch (copy.word_bytes) {
    case 16:
      return copy_rows<uint4, halves>(copy.plane, block, blocks);
    case 4:
      return copy_rows<std::uint32_t, halves>(copy.plane, block, blocks);
    default:
      return copy_rows<char, halves>(copy.plane, block, blocks);
  }
}

inline WordCopy word_copy(PlaneCopy plane) {
  const int shrinks = plane.to_halves ? 2 : 1;  // halves take half as many bytes
  const auto bits = reinterpret_cast<std::uintptr_t>(plane.from) |
                    shrinks * reinterpret_cast<std::uintptr_t>(plane.to) | std::uintptr_t(plane.from_pitch) |
                    std::uintptr_t(shrinks * plane.to_pitch);
  if (plane.from_pitch == plane.row_bytes && shrinks * plane.to_pitch == plane.row_bytes) {
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
