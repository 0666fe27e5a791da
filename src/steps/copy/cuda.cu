// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdint>

#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/copy/copy.hpp"

namespace parafield {
namespace {

// Planes are layers of the grid. A plane whose rows have no gap is one long row, which all of its blocks copy
// together; of others a block copies a row.

constexpr int threads = 256;

/// The copies with the size of a plane's words: as many bytes as one instruction can copy.
struct WordCopies {
  PlaneCopies copies;
  int word_bytes[PlaneCopies::most];
};

/// Copies a row from word `first` on, each `step`-th word.
template <class Word>
__device__ void copy_row(const char* from, char* to, std::ptrdiff_t row_bytes, std::ptrdiff_t first,
                         std::ptrdiff_t step) {
  const std::ptrdiff_t words = row_bytes / std::ptrdiff_t(sizeof(Word));
  for (std::ptrdiff_t i = first; i < words; i += step)
    reinterpret_cast<Word*>(to)[i] = reinterpret_cast<const Word*>(from)[i];
  const std::ptrdiff_t rest = words * std::ptrdiff_t(sizeof(Word)) + first;
  if (rest < row_bytes) to[rest] = from[rest];  // fewer bytes than a word has, and than a block has threads
}

template <class Word>
__device__ void copy_rows(const PlaneCopy& plane) {
  if (plane.height == 1) {
    copy_row<Word>(plane.from, plane.to, plane.row_bytes,
                   std::ptrdiff_t(blockIdx.x) * threads + std::ptrdiff_t(threadIdx.x),
                   std::ptrdiff_t(gridDim.x) * threads);
    return;
  }
  for (int y = int(blockIdx.x); y < plane.height; y += int(gridDim.x))
    copy_row<Word>(plane.from + y * plane.from_pitch, plane.to + y * plane.to_pitch, plane.row_bytes,
                   std::ptrdiff_t(threadIdx.x), threads);
}

__global__ void __launch_bounds__(threads) copy_kernel(const __grid_constant__ WordCopies words) {
  begin_kernel();
  const PlaneCopy& plane = words.copies.planes[blockIdx.y];
  switch (words.word_bytes[blockIdx.y]) {
    case 16: return copy_rows<uint4>(plane);
    case 4: return copy_rows<std::uint32_t>(plane);
    default: return copy_rows<char>(plane);
  }
}

/// The largest word at whose multiples both rows begin.
int word_bytes_of(const PlaneCopy& plane) {
  const auto bits = reinterpret_cast<std::uintptr_t>(plane.from) | reinterpret_cast<std::uintptr_t>(plane.to) |
                    std::uintptr_t(plane.from_pitch) | std::uintptr_t(plane.to_pitch);
  return bits % 16 == 0 ? 16 : bits % 4 == 0 ? 4 : 1;
}

}  // namespace

template <class Backend>
void copy_planes(Backend& cuda, const PlaneCopies& copies) {
  WordCopies words{copies, {}};
  std::ptrdiff_t blocks = 1;
  for (int i = 0; i < copies.count; ++i) {
    PlaneCopy& plane = words.copies.planes[i];
    words.word_bytes[i] = word_bytes_of(plane);
    if (plane.from_pitch == plane.row_bytes && plane.to_pitch == plane.row_bytes) {
      plane.row_bytes *= plane.height;
      plane.height = 1;
    }
    blocks = std::max(blocks, plane.height > 1 ? plane.height : plane.row_bytes / words.word_bytes[i] / threads + 1);
  }
  blocks = std::min(blocks, std::ptrdiff_t(16) * cuda.multiprocessors());
  cuda.launch_input(copy_kernel, dim3(unsigned(blocks), unsigned(copies.count)), dim3(threads), words);
}

PF_STEP(copy_planes<Cuda>);

}  // namespace parafield
