// SPDX-License-Identifier: MIT
#pragma once
#include "steps/median/median.hpp"

namespace parafield {

/// One warp's part of the medians: a part of `RowsEach` rows. Each lane sorts `PixelsEach` (1 or 2) columns
/// of Side pixels and computes as many medians of a row; lanes exchange sorted columns and merged pairs of
/// columns. Two pixels per lane take less work in total because they share columns; with one, each lane
/// finishes sooner, which matters more if there are few rows. With Side 5 and two rows, both rows share the
/// four rows that their windows have in common.
template <int Side, int PixelsEach, int RowsEach = 1>
struct WarpMedian {
  static constexpr int lanes = 32, radius = Side / 2, columns = lanes * PixelsEach,
                       width = columns - 2 * radius;  ///< pixels that get a median

  /// Values of neighboring columns in one row.
  struct alignas(sizeof(float) * PixelsEach) Values {
    float column[PixelsEach];
  };

  /// Computes the medians of `Planes` planes. values(plane, column, j) returns row j, of Side + RowsEach - 1
  /// rows, of the columns from `column` on; no value may be -0. store(plane, column, row, median) receives
  /// the result for the column, 0 to width - 1, at which the window begins. All lanes must call this.
  template <int Planes = 1, class GetValues, class Store>
  __device__ static void make(int lane, GetValues values, Store store) {
    float medians[Planes][RowsEach][PixelsEach];
    PF_UNROLL
    for (int plane = 0; plane < Planes; ++plane) {
      Column own[PixelsEach][RowsEach];
      sort_columns([&](int j) { return values(plane, PixelsEach * lane, j); }, own);
      PF_UNROLL
      for (int row = 0; row < RowsEach; ++row)
        if constexpr (PixelsEach == 1)
          take(lane, own[0][row].value, medians[plane][row][0]);
        else
          take(lane, own[0][row].value, own[1][row].value, medians[plane][row]);
    }
    PF_UNROLL
    for (int i = 0; i < PixelsEach; ++i) {
      // The windows of a lane with two pixels share its own two columns.
      const int column = PixelsEach * lane + 1 - PixelsEach + i;
      if (column < 0 || column >= width) continue;
      PF_UNROLL
      for (int plane = 0; plane < Planes; ++plane) {
        PF_UNROLL
        for (int row = 0; row < RowsEach; ++row) store(plane, column, row, medians[plane][row][i]);
      }
    }
  }

 private:
  struct Column {
    float value[Side];
  };

  /// Sorts a lane's columns for each row.
  template <class GetValues>
  __device__ static void sort_columns(GetValues values, Column (&sorted)[PixelsEach][RowsEach]) {
    float column[PixelsEach][Side + RowsEach - 1];
    PF_UNROLL
    for (int j = 0; j < Side + RowsEach - 1; ++j) {
      const Values row = values(j);
      PF_UNROLL
      for (int i = 0; i < PixelsEach; ++i) column[i][j] = row.column[i];
    }
    PF_UNROLL
    for (int i = 0; i < PixelsEach; ++i) {
      if constexpr (RowsEach == 1) {
        PF_UNROLL
        for (int j = 0; j < Side; ++j) sorted[i][0].value[j] = column[i][j];
        sort(sorted[i][0].value);
      } else {
        float shared[4] = {column[i][1], column[i][2], column[i][3], column[i][4]};
        sort(shared);
        insert(column[i][0], shared, sorted[i][0].value);
        insert(column[i][5], shared, sorted[i][1].value);
      }
    }
  }

  /// The values of another lane.
  template <int Count>
  __device__ static void receive(const float (&values)[Count], int lane, float (&received)[Count]) {
    PF_UNROLL
    for (int j = 0; j < Count; ++j) received[j] = __shfl_sync(~0u, values[j], lane);  // modulo 32
  }

  __device__ static void take(int lane, const float (&own)[Side], float& median) {
    float next[Side], last[Side];
    receive(own, lane + 1, next);
    if constexpr (Side == 3) {
      receive(own, lane + 2, last);
      median = median_of_columns(own, next, last);
    } else {
      float pair[10], a[10], b[10], middle[6];
      merge(own, next, pair);
      receive(pair, lane + 1, a);
      receive(pair, lane + 3, b);
      middle_of_pairs(a, b, middle);
      median = median_with_column(middle, own);
    }
  }
  __device__ static void take(int lane, const float (&left)[Side], const float (&right)[Side],
                              float (&medians)[2]) {
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
};

}  // namespace parafield
