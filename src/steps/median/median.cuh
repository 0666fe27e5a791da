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

  /// Values of neighboring columns in a row.
  struct Values {
    float column[PixelsEach];
  };

  /// Takes medians of `Planes` planes at once. values(plane, column, j): row j of Side of the columns from `column` on,
  /// none of which is -0. store(plane, column, median): takes the result of a column, 0 to width - 1, whose window
  /// begins at that column. All lanes call it.
  template <int Planes = 1, class GetValues, class Store>
  __device__ static void make(int lane, GetValues values, Store store) {
    float medians[Planes][PixelsEach];
    PF_UNROLL
    for (int plane = 0; plane < Planes; ++plane)
      take(
          lane, [&](int j) { return values(plane, PixelsEach * lane, j); }, medians[plane]);
    PF_UNROLL
    for (int i = 0; i < PixelsEach; ++i) {
      const int column = first_window(lane) + i;
      if (column < 0 || column >= width) continue;
      PF_UNROLL
      for (int plane = 0; plane < Planes; ++plane) store(plane, column, medians[plane][i]);
    }
  }

 private:
  /// Column at which a lane's first window begins. The windows of a lane with two pixels share its own two columns.
  __device__ static int first_window(int lane) { return PixelsEach * lane + 1 - PixelsEach; }

  /// The values of another lane.
  template <int Count>
  __device__ static void receive(const float (&values)[Count], int lane, float (&received)[Count]) {
    PF_UNROLL
    for (int j = 0; j < Count; ++j) received[j] = __shfl_sync(~0u, values[j], lane);  // modulo 32
  }

  template <class GetValues>
  __device__ static void take(int lane, GetValues values, float (&medians)[PixelsEach]) {
    float own[PixelsEach][Side];
    PF_UNROLL
    for (int j = 0; j < Side; ++j) {
      const Values row = values(j);
      PF_UNROLL
      for (int i = 0; i < PixelsEach; ++i) own[i][j] = row.column[i];
    }
    PF_UNROLL
    for (int i = 0; i < PixelsEach; ++i) sort(own[i]);
    if constexpr (PixelsEach == 1) {
      float next[Side], last[Side];
      receive(own[0], lane + 1, next);
      if constexpr (Side == 3) {
        receive(own[0], lane + 2, last);
        medians[0] = median_of_columns(own[0], next, last);
      } else {
        float pair[10], a[10], b[10], middle[6];
        merge(own[0], next, pair);
        receive(pair, lane + 1, a);
        receive(pair, lane + 3, b);
        middle_of_pairs(a, b, middle);
        medians[0] = median_with_column(middle, own[0]);
      }
    } else {
      const float(&left)[Side] = own[0], (&right)[Side] = own[1];
      float before[Side], after[Side];
      receive(right, lane + lanes - 1, before);
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
