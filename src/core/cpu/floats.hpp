// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"

#ifdef __AVX512BW__
#pragma GCC diagnostic push
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 warns about the header itself
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop

/// Sixteen floats in an AVX-512 register, for loops that the compiler does not vectorize well. Each lane has
/// the same bits as the operation on a float. They are in an unnamed namespace so that each instruction set
/// has its own copy.
namespace parafield {
namespace {

#define PF_HAS_FLOATS
#define PF_FLOATS __attribute__((always_inline)) inline

struct Floats {
  static constexpr int count = 16;
  __m512 lanes;

  Floats() = default;
  PF_FLOATS Floats(__m512 values) : lanes(values) {}
  PF_FLOATS explicit Floats(float value) : lanes(_mm512_set1_ps(value)) {}
  PF_FLOATS static Floats load(const float* from) { return _mm512_loadu_ps(from); }
  PF_FLOATS void store(float* to) const { _mm512_storeu_ps(to, lanes); }
  /// 0, 1, ... 15
  PF_FLOATS static Floats numbers() {
    return _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  }

  PF_FLOATS friend Floats operator+(Floats a, Floats b) { return _mm512_add_ps(a.lanes, b.lanes); }
  PF_FLOATS friend Floats operator-(Floats a, Floats b) { return _mm512_sub_ps(a.lanes, b.lanes); }
  PF_FLOATS friend Floats operator*(Floats a, Floats b) { return _mm512_mul_ps(a.lanes, b.lanes); }
  PF_FLOATS friend __mmask16 operator>=(Floats a, Floats b) {
    return _mm512_cmp_ps_mask(a.lanes, b.lanes, _CMP_GE_OQ);
  }
  PF_FLOATS friend __mmask16 operator<=(Floats a, Floats b) {
    return _mm512_cmp_ps_mask(a.lanes, b.lanes, _CMP_LE_OQ);
  }
  PF_FLOATS friend Floats fma(Floats a, Floats b, Floats c) {
    return _mm512_fmadd_ps(a.lanes, b.lanes, c.lanes);
  }
  PF_FLOATS friend Floats clamp(Floats value, Floats low, Floats high) {
    return _mm512_min_ps(_mm512_max_ps(value.lanes, low.lanes), high.lanes);
  }
  /// Like the functions for a float: the second value if either is NaN or both are zeros.
  PF_FLOATS friend Floats smaller_number(Floats a, Floats b) { return _mm512_min_ps(a.lanes, b.lanes); }
  PF_FLOATS friend Floats larger_number(Floats a, Floats b) { return _mm512_max_ps(a.lanes, b.lanes); }
  PF_FLOATS friend Floats magnitude(Floats value) { return _mm512_abs_ps(value.lanes); }
  PF_FLOATS friend Floats interpolate(Floats a, Floats b, Floats share) { return fma(share, b - a, a); }
  /// The sixteen values that begin at value `Shift` of the sequence a, b.
  template <int Shift>
  PF_FLOATS static Floats shifted(Floats a, Floats b) {
    return _mm512_castsi512_ps(
        _mm512_alignr_epi32(_mm512_castps_si512(b.lanes), _mm512_castps_si512(a.lanes), Shift));
  }
  /// `yes` in the lanes of the mask, `no` elsewhere.
  PF_FLOATS friend Floats select(__mmask16 mask, Floats yes, Floats no) {
    return _mm512_mask_blend_ps(mask, no.lanes, yes.lanes);
  }
};

}  // namespace
}  // namespace parafield
#endif
