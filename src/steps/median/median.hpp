// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"

namespace parafield {

/// Exact median of the side x side window around each pixel of one or two images; `side` is 3 or 5. Pixels
/// beyond the border repeat the nearest pixel. No value may be NaN. All images must have the same size and
/// must not overlap.
template <class Backend>
void median(Backend& backend, const View<float>* in, int side, const View<float>* out, int count);

// Sorting networks. Unrolled, they are straight-line code from which the compiler drops comparisons with
// unused results. Columns are sorted once for all windows that share them. Zeros must have one sign, because
// minima and maxima of -0 and 0 differ between devices.

/// -0 becomes 0.
PF_HD float unsigned_zero(float value) { return value + 0.0f; }

template <class Number>
PF_HD void order(Number& a, Number& b) {
  const Number low = smaller_number(a, b);
  b = larger_number(a, b);
  a = low;
}

PF_HD void sort(float (&v)[3]) {
  order(v[0], v[1]);
  order(v[1], v[2]);
  order(v[0], v[1]);
}
PF_HD void sort(float (&v)[4]) {
  order(v[0], v[1]);
  order(v[2], v[3]);
  order(v[0], v[2]);
  order(v[1], v[3]);
  order(v[1], v[2]);
}
template <class Number>
PF_HD void sort(Number (&v)[5]) {
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

/// Inserts a value into a sorted list.
template <int N>
PF_HD void insert(float value, const float (&sorted)[N], float (&all)[N + 1]) {
  all[0] = smaller_number(value, sorted[0]);
  PF_UNROLL
  for (int i = 1; i < N; ++i) all[i] = larger_number(sorted[i - 1], smaller_number(value, sorted[i]));
  all[N] = larger_number(value, sorted[N - 1]);
}

/// Merges two sorted lists: Batcher's odd-even merge, for lists of any length.
template <int M, int N>
PF_HD void merge(const float (&a)[M], const float (&b)[N], float (&merged)[M + N]) {
  if constexpr (M == 1 && N == 1) {
    merged[0] = smaller_number(a[0], b[0]);
    merged[1] = larger_number(a[0], b[0]);
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
      merged[2 * i + 1] = smaller_number(odd[i], even[i + 1]);
      merged[2 * i + 2] = larger_number(odd[i], even[i + 1]);
    }
    if constexpr (2 * pairs + 1 < M + N) {
      constexpr int left =
          2 * pairs + 1;  // one value is left over: of even if both lengths are odd, else of odd
      merged[left] = even_a + even_b > odd_a + odd_b ? even[even_a + even_b - 1] : odd[odd_a + odd_b - 1];
    }
  }
}

/// Median of 3x3 values from their sorted columns.
PF_HD float median_of_columns(const float (&a)[3], const float (&b)[3], const float (&c)[3]) {
  float middle[3] = {larger_number(larger_number(a[0], b[0]), c[0]), 0,
                     smaller_number(smaller_number(a[2], b[2]), c[2])};
  float medians[3] = {a[1], b[1], c[1]};
  sort(medians);
  middle[1] = medians[1];
  sort(middle);
  return middle[1];
}

/// The 8th to 13th smallest of four columns of five values, from two merged pairs of sorted columns. No other
/// of these values can be the median once a fifth column is added.
PF_HD void middle_of_pairs(const float (&a)[10], const float (&b)[10], float (&middle)[6]) {
  float all[20];
  merge(a, b, all);
  PF_UNROLL
  for (int i = 0; i < 6; ++i) middle[i] = all[7 + i];
}

/// Median of 5x5 values: the 6th smallest of `middle` and the fifth sorted column c together. If i values
/// come from one list and 6 - i from the other, the larger of the two lists' last values is at least the
/// median; the minimum over i is the median.
PF_HD float median_with_column(const float (&middle)[6], const float (&c)[5]) {
  float least = middle[5];
  PF_UNROLL
  for (int i = 0; i < 5; ++i) least = smaller_number(least, larger_number(middle[i], c[4 - i]));
  return least;
}

}  // namespace parafield
