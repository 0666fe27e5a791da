// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/image.hpp"

/// Per-pixel arithmetic with the same bits on every device. The compiler must not contract: code calls `fma`
/// where it wants one. Minima and maxima are ternaries, because fminf and fmaxf differ in the sign of zero.
namespace parafield {

/// Unrolls the loop that follows, whose number of iterations must be small and known at compile time.
#if defined(__CUDACC__)
#define PF_UNROLL _Pragma("unroll")
#else
#define PF_UNROLL _Pragma("GCC unroll 32")
#endif

/// Calls f.template operator()<N>() with the N in `Numbers` that equals `value`. Returns false if none does.
template <int... Numbers, class F>
static inline bool with_one_of(int value, F f) {
  return ((value == Numbers && (f.template operator()<Numbers>(), true)) || ...);
}
/// The same, but with N = 0 if none equals it: for code with fast paths for common values and a general path
/// under 0.
template <int... Numbers, class F>
static inline void with_constant(int value, F f) {
  if (!with_one_of<Numbers...>(value, f)) f.template operator()<0>();
}

/// a * b + c, rounded once.
PF_HD float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }

/// 1 / x for a normal x whose reciprocal is also normal; any value for other x. This lets CUDA avoid a
/// branch. (The steps of Markstein 1990, as in nvcc.)
PF_HD float reciprocal(float x) {
#ifdef __CUDA_ARCH__
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return fma(y, fma(-x, y, 1.0f), y);
#else
  return 1 / x;
#endif
}
/// a / b for a normal b whose reciprocal is also normal, and an a that is 0 or at least 2^-100 in magnitude.
/// The quotient must be finite. For a smaller a, the last bits may differ on CUDA; for other numbers the
/// value is arbitrary.
PF_HD float quotient(float a, float b) {
#ifdef __CUDA_ARCH__
  const float y = reciprocal(b), q = a * y, r = fma(fma(-b, q, a), y, q);
  return fma(fma(-b, r, a), y, r);
#else
  return a / b;
#endif
}

template <class T>
PF_HD constexpr T smaller(T a, T b) {
  return a < b ? a : b;
}
template <class T>
PF_HD constexpr T larger(T a, T b) {
  return a > b ? a : b;
}

/// The smaller value, in one instruction on CUDA. The values must not be NaN, and the sign of a zero result
/// is unspecified.
PF_HD float smaller_number(float a, float b) {
#ifdef __CUDA_ARCH__
  return fminf(a, b);
#else
  return smaller(a, b);
#endif
}
/// The larger value, under the same conditions.
PF_HD float larger_number(float a, float b) {
#ifdef __CUDA_ARCH__
  return fmaxf(a, b);
#else
  return larger(a, b);
#endif
}

/// `value` limited to [low, high]; NaN becomes `low`. The limits must not be -0.
PF_HD float clamp(float value, float low, float high) {
  return smaller_number(larger_number(value, low), high);
}
PF_HD int clamp(int value, int low, int high) { return smaller(larger(value, low), high); }

PF_HD float magnitude(float value) { return __builtin_fabsf(value); }

/// Mean absolute difference of three channels, given the three differences.
PF_HD float mean_magnitude(float red, float green, float blue) {
  return ((magnitude(red) + magnitude(green)) + magnitude(blue)) * (1.0f / 3);
}

/// False for NaN, infinities and magnitudes above 1e30, because their squares would overflow.
PF_HD bool is_finite(float value) { return magnitude(value) <= 1e30f; }

/// 2^x for -126 <= x <= 0, with a relative error of at most 2e-7. The standard library's exp2f would give
/// different bits on other platforms.
PF_HD float exponential2(float x) {
  const float rounded = x + 12582912.0f;  // the low bits hold the nearest integer
  const float f = x - (rounded - 12582912.0f);
  float power = fma(f, 1.53533e-4f, 1.33989e-3f);
  power = fma(f, power, 9.61844e-3f);
  power = fma(f, power, 5.55034e-2f);
  power = fma(f, power, 2.40226507e-1f);
  power = fma(f, power, 6.93147182e-1f);
  power = fma(f, power, 1.0f);
  // Adds the integer to the exponent of `power`, which is exact.
  return __builtin_bit_cast(float, __builtin_bit_cast(int, power) + (__builtin_bit_cast(int, rounded) << 23));
}

/// exp(x) for x <= 0, with a relative error of at most 2e-7; never below 1e-38.
PF_HD float exponential(float x) { return exponential2(larger(x * 1.44269504f, -126.0f)); }

/// Flow of a pixel, px per frame.
struct Motion {
  float u, v;
};

/// Linear interpolation: `a` at share 0, `b` at share 1.
PF_HD float interpolate(float a, float b, float share) { return fma(share, b - a, a); }

}  // namespace parafield
