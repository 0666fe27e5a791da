#pragma once
#include "parafield/image.hpp"

/// What one pixel computes, with the same bits on every device: fma is one instruction (never contracted from
/// a product and a sum), minima and maxima are ternaries (fminf and fmaxf differ in the sign of zero).
namespace parafield {

/// The loop that follows has few turns, known to the compiler: all are written out.
#if defined(__CUDACC__)
#define PF_UNROLL _Pragma("unroll")
#else
#define PF_UNROLL _Pragma("GCC unroll 32")
#endif

PF_HD float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

template <class T>
PF_HD constexpr T smaller(T a, T b) {
  return a < b ? a : b;
}
template <class T>
PF_HD constexpr T larger(T a, T b) {
  return a > b ? a : b;
}

/// `value` within [low, high], neither of which is -0; NaN becomes low.
PF_HD float clamp(float value, float low, float high) {
#ifdef __CUDA_ARCH__
  return fminf(fmaxf(value, low), high);  // one instruction each; as below for these bounds
#else
  return smaller(larger(value, low), high);
#endif
}
PF_HD int clamp(int value, int low, int high) { return smaller(larger(value, low), high); }

PF_HD float magnitude(float value) { return __builtin_fabsf(value); }

/// False for NaN and infinities (and beyond 1e30, where squares would overflow).
PF_HD bool is_finite(float value) { return magnitude(value) <= 1e30f; }

PF_HD float interpolate(float a, float b, float share) { return fma(share, b - a, a); }

}  // namespace parafield
