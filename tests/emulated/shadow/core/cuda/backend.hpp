// SPDX-License-Identifier: MIT
#pragma once
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/arithmetic.hpp"
#include "core/step.hpp"
#include "emulated/emulated_cuda.hpp"
#include "parafield/image.hpp"

// Stands in for src/core/cuda/backend.hpp: CUDA's keywords and functions that the tested kernels use.

#undef __global__
#undef __device__
#undef __shared__
#undef __launch_bounds__
#undef __grid_constant__
#define __global__
#define __device__
#define __shared__ static  // one block runs at a time
#define __launch_bounds__(...)
#define __grid_constant__
#ifndef __clang__
#define __builtin_assume(...) static_cast<void>(0)
#endif
#define threadIdx parafield::emulated::thread
#define blockIdx parafield::emulated::block
#define blockDim parafield::emulated::threads_of_block
#define gridDim parafield::emulated::blocks_of_grid

inline void __syncthreads() { parafield::emulated::synchronize_block(); }
inline int __syncthreads_count(bool bit) { return parafield::emulated::synchronize_count(bit); }
inline int __syncthreads_or(bool bit) { return __syncthreads_count(bit) > 0; }
inline void __threadfence() {}
inline void __syncwarp(unsigned = ~0u) { parafield::emulated::synchronize_warp(); }
inline unsigned __ballot_sync(unsigned, bool bit) { return parafield::emulated::ballot(bit); }
inline int __any_sync(unsigned, bool bit) { return parafield::emulated::ballot(bit) != 0; }
inline int __all_sync(unsigned, bool bit) { return parafield::emulated::ballot(!bit) == 0; }

template <class T>
T __shfl_sync(unsigned, T value, int lane, int width = 32) {
  lane = parafield::emulated::lane() / width * width + lane % width;
  static_assert(sizeof value <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = parafield::emulated::exchange(bits, lane);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int step) {
  return __shfl_sync(~0u, value, parafield::emulated::lane() ^ step);
}

/// Beyond the warp's ends, a lane gets its own value.
template <class T>
T __shfl_up_sync(unsigned, T value, int step) {
  const int lane = parafield::emulated::lane();
  return __shfl_sync(~0u, value, lane >= step ? lane - step : lane);
}
template <class T>
T __shfl_down_sync(unsigned, T value, int step) {
  const int lane = parafield::emulated::lane();
  return __shfl_sync(~0u, value, lane + step < 32 ? lane + step : lane);
}

/// combine(a, b) for each byte or half of two words.
template <int Bits, class Combine>
unsigned combined_parts(unsigned a, unsigned b, Combine combine) {
  constexpr unsigned part = (1u << Bits) - 1;
  unsigned result = 0;
  for (int shift = 0; shift < 32; shift += Bits)
    result |= (unsigned(combine(int(a >> shift & part), int(b >> shift & part))) & part) << shift;
  return result;
}
inline unsigned __vabsdiffu4(unsigned a, unsigned b) {
  return combined_parts<8>(a, b, [](int a, int b) { return a < b ? b - a : a - b; });
}
inline unsigned __vminu2(unsigned a, unsigned b) {
  return combined_parts<16>(a, b, [](int a, int b) { return a < b ? a : b; });
}
inline unsigned __vmaxu2(unsigned a, unsigned b) {
  return combined_parts<16>(a, b, [](int a, int b) { return a > b ? a : b; });
}
/// min(a + b, c) for each half of the words. The sums do not overflow.
inline unsigned __viaddmin_u16x2(unsigned a, unsigned b, unsigned c) { return __vminu2(a + b, c); }
/// Sum of the absolute differences of four pairs of bytes.
inline unsigned __vsadu4(unsigned a, unsigned b) {
  const unsigned differences = __vabsdiffu4(a, b);
  unsigned sum = 0;
  for (int shift = 0; shift < 32; shift += 8) sum += differences >> shift & 255;
  return sum;
}
inline int __clz(int bits) { return std::countl_zero(unsigned(bits)); }
inline int __popc(unsigned bits) { return std::popcount(bits); }
inline int __ffs(int bits) { return bits == 0 ? 0 : std::countr_zero(unsigned(bits)) + 1; }
/// Four of the eight bytes of two words. Each digit of `places` is the place of one.
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned places) {
  const std::uint64_t bytes = low | std::uint64_t(high) << 32;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) result |= unsigned(bytes >> (places >> 4 * i & 7) * 8 & 255) << 8 * i;
  return result;
}
inline float __uint_as_float(unsigned bits) { return std::bit_cast<float>(bits); }
inline unsigned __float_as_uint(float value) { return std::bit_cast<unsigned>(value); }
/// a + b, rounded down.
inline float __fadd_rd(float a, float b) {
  const double sum =
      double(a) + double(b);  // exact for the sums in kernels, whose terms have similar exponents
  const float nearest = float(sum);
  return double(nearest) > sum ? std::nextafterf(nearest, -INFINITY) : nearest;
}
inline int __float_as_int(float value) { return std::bit_cast<int>(value); }
inline float __int_as_float(int bits) { return std::bit_cast<float>(bits); }

template <class T>
T atomicCAS(T* place, T expected, T value) {
  const T old = *place;
  if (old == expected) *place = value;
  return old;
}
inline int atomicMin(int* place, int value) {
  const int old = *place;
  if (value < old) *place = value;
  return old;
}
inline int atomicMax(int* place, int value) {
  const int old = *place;
  if (value > old) *place = value;
  return old;
}
template <class T>
T atomicAdd(T* place, T value) {
  return (*place += value) - value;
}
inline unsigned atomicExch(unsigned* place, unsigned value) { return std::exchange(*place, value); }
inline unsigned atomicInc(unsigned* place, unsigned last) {
  return std::exchange(*place, *place >= last ? 0 : *place + 1);
}

namespace parafield {

using Cuda = EmulatedCuda;

inline unsigned blocks_for(int count, int size) { return unsigned((count + size - 1) / size); }

}  // namespace parafield
