// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "core/cuda/warp_reductions.cuh"
#include "steps/fill/fill.hpp"

namespace parafield {
namespace {

// One block handles one row. Its warps first collect the valid flags, 32 per word of shared memory. Then each
// pixel finds its nearest valid neighbors in its own word, or in the nearest word that has any. Only invalid
// pixels are written and only valid ones are read.

constexpr int fill_lanes = 32, fill_warps = 4;

__device__ int lowest_bit(unsigned bits) { return __ffs(int(bits)) - 1; }
__device__ int highest_bit(unsigned bits) { return 31 - __clz(int(bits)); }

/// The last valid column before word `end`, or -1. All lanes of the warp must call it.
__device__ int last_before(const unsigned* words, int end, int lane) {
  for (; end > 0; end -= fill_lanes) {
    const int i = end - 1 - lane;
    const unsigned found = __ballot_sync(all_lanes, i >= 0 && words[i] != 0);
    if (found) {
      const int word = end - 1 - lowest_bit(found);
      return word * fill_lanes + highest_bit(words[word]);
    }
  }
  return -1;
}

/// The first valid column from word `begin` on, or `width`. All lanes of the warp must call it.
__device__ int first_from(const unsigned* words, int begin, int count, int width, int lane) {
  for (; begin < count; begin += fill_lanes) {
    const int i = begin + lane;
    const unsigned found = __ballot_sync(all_lanes, i < count && words[i] != 0);
    if (found) {
      const int word = begin + lowest_bit(found);
      return word * fill_lanes + lowest_bit(words[word]);
    }
  }
  return width;
}

template <class Planes>
__global__ void __launch_bounds__(fill_lanes* fill_warps)
    fill_kernel(Planes planes, View<const std::uint8_t> valid) {
  begin_kernel();
  extern __shared__ unsigned words[];
  const int y = int(blockIdx.x), width = valid.width, count = (width + fill_lanes - 1) / fill_lanes;
  const int lane = int(threadIdx.x), warp = int(threadIdx.y);
  for (int word = warp; word < count; word += fill_warps) {
    const int x = word * fill_lanes + lane;
    const unsigned bits = __ballot_sync(all_lanes, x < width && valid(x, y) != 0);
    if (lane == 0) words[word] = bits;
  }
  __syncthreads();
  const auto row = row_of(planes, y);
  for (int word = warp; word < count; word += fill_warps) {
    const unsigned bits = words[word];
    if (bits == all_lanes) continue;
    const int x0 = word * fill_lanes, x = x0 + lane;
    const int before = last_before(words, word, lane),
              after = first_from(words, word + 1, count, width, lane);
    const unsigned lower = bits & ((1u << lane) - 1), upper = bits & ~((2u << lane) - 1);
    const int left = lower ? x0 + highest_bit(lower) : before;
    const int right = upper ? x0 + lowest_bit(upper) : after;
    const bool is_valid = (bits >> lane & 1) != 0, has_source = left >= 0 || right < width;
    if (x < width && !is_valid && has_source) copy_pixel(row, source_of(row, left, right, width), x);
  }
}

}  // namespace

template <class Backend, class Planes>
void fill_from_row(Backend& cuda, Planes planes, View<const std::uint8_t> valid) {
  const std::size_t bytes = blocks_for(valid.width, fill_lanes) * sizeof(unsigned);
  if (bytes > 48 * 1024) cuda.allow_shared_memory(reinterpret_cast<const void*>(fill_kernel<Planes>), bytes);
  cuda.launch(fill_kernel<Planes>, dim3(unsigned(valid.height)), dim3(fill_lanes, fill_warps), bytes, planes,
              valid);
}

PF_STEP(fill_from_row<Cuda, View<float>>);
PF_STEP(fill_from_row<Cuda, FlowPlanes>);

}  // namespace parafield
