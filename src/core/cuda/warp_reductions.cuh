// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"
#include "core/cuda/backend.hpp"

namespace parafield {

constexpr unsigned all_lanes = 0xffffffffu;  // of a warp

// Reductions over a whole warp: every lane calls them, and every lane receives the result. Cards of compute
// capability 7.5 have no instruction for them and shuffle instead; integers give the same bits either way.

/// Combines the values of all lanes by shuffles.
template <class Combine>
__device__ __forceinline__ int shuffled(int value, Combine combine) {
  PF_UNROLL
  for (int step = 16; step > 0; step /= 2) value = combine(value, __shfl_xor_sync(~0u, value, step));
  return value;
}

__device__ __forceinline__ int sum_of_warp(int value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(~0u, value);
#else
  return shuffled(value, [](int a, int b) { return a + b; });
#endif
}
__device__ __forceinline__ int least_of_warp(int value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(~0u, value);
#else
  return shuffled(value, [](int a, int b) { return smaller(a, b); });
#endif
}
__device__ __forceinline__ int most_of_warp(int value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(~0u, value);
#else
  return shuffled(value, [](int a, int b) { return larger(a, b); });
#endif
}

/// An integer that compares like the float, and the float back.
__device__ __forceinline__ int ordered_bits(float value) {
  const int bits = __float_as_int(value);
  return bits ^ (bits >> 31 & 0x7fffffff);
}
__device__ __forceinline__ float from_ordered_bits(int bits) {
  return __int_as_float(bits ^ (bits >> 31 & 0x7fffffff));
}

__device__ __forceinline__ float least_of_warp(float value) {
  return from_ordered_bits(least_of_warp(ordered_bits(value)));
}
__device__ __forceinline__ float most_of_warp(float value) {
  return from_ordered_bits(most_of_warp(ordered_bits(value)));
}

}  // namespace parafield
