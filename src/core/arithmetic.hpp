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
/// Where neither is NaN, and the sign of a zero does not matter: on CUDA one instruction.
PF_HD float smaller_number(float a, float b) {
#ifdef __CUDA_ARCH__
  return fminf(a, b);
#else
  return smaller(a, b);
#endif
}
PF_HD float larger_number(float a, float b) {
#ifdef __CUDA_ARCH__
  return fmaxf(a, b);
#else
  return larger(a, b);
#endif
}

PF_HD float clamp(float value, float low, float high) {
#ifdef __CUDA_ARCH__
  return fminf(fmaxf(value, low), high);  // one instruction each; as below for these bounds
#else
  return smaller(larger(value, low), high);
#endif
}
PF_HD int clamp(int value, int low, int high) { return smaller(larger(value, low), high); }

PF_HD float magnitude(float value) { return __builtin_fabsf(value); }

/// Mean magnitude of three channels' differences.
PF_HD float mean_magnitude(float red, float green, float blue) {
  return ((magnitude(red) + magnitude(green)) + magnitude(blue)) * (1.0f / 3);
}

/// False for NaN and infinities (and beyond 1e30, where squares would overflow).
PF_HD bool is_finite(float value) { return magnitude(value) <= 1e30f; }

/// 2^x for -126 <= x <= 0, to 2e-7 of it. The same bits everywhere, which the library's exp2f is not.
PF_HD float exponential2(float x) {
  const float rounded = x + 12582912.0f,
              f = x - (rounded - 12582912.0f);  // its low bits are the nearest whole number
  float power = fma(f, 1.53533e-4f, 1.33989e-3f);
  power = fma(f, power, 9.61844e-3f);
  power = fma(f, power, 5.55034e-2f);
  power = fma(f, power, 2.40226507e-1f);
  power = fma(f, power, 6.93147182e-1f);
  power = fma(f, power, 1.0f);
  return power * __builtin_bit_cast(float, (__builtin_bit_cast(int, rounded) + 127) << 23);
}

/// exp(x) for x <= 0, to 2e-7 of it; at least 1e-38.
PF_HD float exponential(float x) { return exponential2(larger(x * 1.44269504f, -126.0f)); }

/// A pixel's flow, px a frame.
struct Motion {
  float u, v;
};

PF_HD float interpolate(float a, float b, float share) { return fma(share, b - a, a); }

}  // namespace parafield
