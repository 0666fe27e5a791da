#pragma once
#include "core/arithmetic.hpp"

namespace parafield {

/// The exact median of the side x side pixels around each pixel, of one or two images; side 3 or 5; beyond the border
/// the nearest pixel stands in. No NaN. All have the same size and none overlap.
template <class Backend>
void median(Backend& backend, const View<float>* in, int side, const View<float>* out, int count);

// The networks below are straight code once unrolled, and what is not asked for falls away. Columns are sorted once
// for all windows that share them. Zeros have to have one sign: minima and maxima differ in which of -0 and 0 they take.

/// -0 becomes 0.
PF_HD float unsigned_zero(float value) { return value + 0.0f; }

PF_HD float lesser(float a, float b) {
#ifdef __CUDA_ARCH__
  return fminf(a, b);
#else
  return a < b ? a : b;
#endif
}
PF_HD float greater(float a, float b) {
#ifdef __CUDA_ARCH__
  return fmaxf(a, b);
#else
  return a > b ? a : b;
#endif
}
PF_HD void order(float& a, float& b) {
  const float low = lesser(a, b);
  b = greater(a, b);
  a = low;
}

PF_HD void sort(float (&v)[3]) {
  order(v[0], v[1]);
  order(v[1], v[2]);
  order(v[0], v[1]);
}
PF_HD void sort(float (&v)[5]) {
  order(v[0], v[3]);
  order(v[1], v[4]);
  order(v[0], v[2]);
  order(v[1], v[3]);
  order(v[0], v[1]);
  order(v[2], v[4]);
  order(v[1], v[2]);
  order(v[3], v[4]);
  order(v[2], v[3]);
}

/// Two sorted lists as one: Batcher's odd-even merge, for any lengths.
template <int M, int N>
PF_HD void merge(const float (&a)[M], const float (&b)[N], float (&merged)[M + N]) {
  if constexpr (M == 1 && N == 1) {
    merged[0] = lesser(a[0], b[0]);
    merged[1] = greater(a[0], b[0]);
  } else {
    constexpr int even_a = (M + 1) / 2, even_b = (N + 1) / 2, odd_a = M / 2, odd_b = N / 2;
    static_assert(odd_a > 0 && odd_b > 0, "lists of length 1 merge only with each other");
    float a0[even_a], a1[odd_a], b0[even_b], b1[odd_b], even[even_a + even_b], odd[odd_a + odd_b];
    PF_UNROLL
    for (int i = 0; i < even_a; ++i) a0[i] = a[2 * i];
    PF_UNROLL
    for (int i = 0; i < odd_a; ++i) a1[i] = a[2 * i + 1];
    PF_UNROLL
    for (int i = 0; i < even_b; ++i) b0[i] = b[2 * i];
    PF_UNROLL
    for (int i = 0; i < odd_b; ++i) b1[i] = b[2 * i + 1];
    merge(a0, b0, even);
    merge(a1, b1, odd);
    merged[0] = even[0];
    constexpr int pairs = smaller(odd_a + odd_b, even_a + even_b - 1);
    PF_UNROLL
    for (int i = 0; i < pairs; ++i) {
      merged[2 * i + 1] = lesser(odd[i], even[i + 1]);
      merged[2 * i + 2] = greater(odd[i], even[i + 1]);
    }
    if constexpr (2 * pairs + 1 < M + N) {
      constexpr int left =
          2 * pairs + 1;  // one is left over: of even where both lengths are odd, of odd where none is
      merged[left] = even_a + even_b > odd_a + odd_b ? even[even_a + even_b - 1] : odd[odd_a + odd_b - 1];
    }
  }
}

/// 3x3, from its sorted columns.
PF_HD float median_of_columns(const float (&a)[3], const float (&b)[3], const float (&c)[3]) {
  float middle[3] = {greater(greater(a[0], b[0]), c[0]), 0, lesser(lesser(a[2], b[2]), c[2])};
  float medians[3] = {a[1], b[1], c[1]};
  sort(medians);
  middle[1] = medians[1];
  sort(middle);
  return middle[1];
}

/// Of four sorted columns of five, in two merged pairs, the 8th to 13th smallest: no other can be the median of the 25
/// values that a fifth column completes.
PF_HD void middle_of_pairs(const float (&a)[10], const float (&b)[10], float (&middle)[6]) {
  float all[20];
  merge(a, b, all);
  PF_UNROLL
  for (int i = 0; i < 6; ++i) middle[i] = all[7 + i];
}

/// 5x5: the 6th smallest of those and a fifth sorted column. With i taken from one list and 6 - i from the other, it is
/// the least of the larger ends.
PF_HD float median_with_column(const float (&middle)[6], const float (&c)[5]) {
  float least = middle[5];
  PF_UNROLL
  for (int i = 0; i < 5; ++i) least = lesser(least, greater(middle[i], c[4 - i]));
  return least;
}

}  // namespace parafield
