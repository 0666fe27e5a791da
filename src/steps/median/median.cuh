// SPDX-License-Identifier: MIT
#pragma once
#include "steps/median/median.hpp"

namespace parafield {

/// A warp's part of the medians: a part of a row. Each lane sorts `PixelsEach` columns of Side pixels, 1 or 2, and
/// takes as many medians; the lanes exchange sorted columns and merged pairs of columns. A lane with two pixels works
/// less, as they share columns; a lane with one ends sooner, which matters more where there are few rows.
template <int Side, int PixelsEach>
struct WarpMedian {
  static constexpr int lanes = 32, radius = Side / 2, columns = lanes * PixelsEach,
                       width = columns - 2 * radius;  ///< pixels that get a median

  /// Takes medians of `Planes` planes at once. value(plane, column, j): value j of Side in a column, not -0.
  /// store(plane, column, median): takes the result of a column, 0 to width - 1, whose window begins at that column.
  /// All lanes call it.
  template <int Planes = 1, class Value, class Store>
  __device__ static void make(int lane, Value value, Store store) {
    float medians[Planes][PixelsEach];
    PF_UNROLL
    for (int plane = 0; plane < Planes; ++plane)
      take(
          lane, [&](int column, int j) { return value(plane, column, j); }, medians[plane]);
    if (PixelsEach * lane >= width) return;
    PF_UNROLL
    for (int plane = 0; plane < Planes; ++plane) {
      PF_UNROLL
      for (int i = 0; i < PixelsEach; ++i) store(plane, PixelsEach * lane + i, medians[plane][i]);
    }
  }

 private:
  template <class Value>
  __device__ static void sort_column(Value value, int column, float (&sorted)[Side]) {
    PF_UNROLL
    for (int j = 0; j < Side; ++j) sorted[j] = value(column, j);
    sort(sorted);
  }

  /// The values of another lane.
  template <int Count>
  __device__ static void receive(const float (&values)[Count], int lane, float (&received)[Count]) {
    PF_UNROLL
    for (int j = 0; j < Count; ++j) received[j] = __shfl_sync(~0u, values[j], lane);  // modulo 32
  }

  template <class Value>
  __device__ static void take(int lane, Value value, float (&medians)[PixelsEach]) {
    if constexpr (PixelsEach == 1) {
      float own[Side], next[Side], last[Side];
      sort_column(value, lane, own);
      receive(own, lane + 1, next);
      if constexpr (Side == 3) {
        receive(own, lane + 2, last);
        medians[0] = median_of_columns(own, next, last);
      } else {
        float pair[10], a[10], b[10], middle[6];
        merge(own, next, pair);
        receive(pair, lane + 1, a);
        receive(pair, lane + 3, b);
        middle_of_pairs(a, b, middle);
        medians[0] = median_with_column(middle, own);
      }
    } else {
      // A lane's windows begin at columns 2 lane and 2 lane + 1; it sorts the two columns after the first. So the last
      // lane sorts the first column of all.
      float left[Side], right[Side], before[Side], after[Side];
      sort_column(value, 2 * lane + 1, left);
      sort_column(value, (2 * lane + 2) % columns, right);
      receive(right, lane + 31, before);
      receive(left, lane + radius, after);
      if constexpr (Side == 3) {
        medians[0] = median_of_columns(before, left, right);
        medians[1] = median_of_columns(left, right, after);
      } else {
        float a[10], b[10], middle[6];
        merge(left, right, a);
        receive(a, lane + 1, b);
        middle_of_pairs(a, b, middle);
        medians[0] = median_with_column(middle, before);
        medians[1] = median_with_column(middle, after);
      }
    }
  }
};

}  // namespace parafield
