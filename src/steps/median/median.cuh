// SPDX-License-Identifier: MIT
#pragma once
#include "steps/median/median.hpp"

namespace parafield {

/// A warp's part of the medians: a part of a row, of one plane or two at once. Its lanes sort the columns of Side
/// pixels, `PixelsEach` of them each, and then take the medians. A lane with two neighboring pixels works less, as
/// they share four columns; a lane with one ends sooner, which matters more where there are few rows. It lies in
/// shared memory.
template <int Side, int PixelsEach, int Planes = 1>
struct WarpMedian {
  static constexpr int lanes = 32, radius = Side / 2, columns = lanes * PixelsEach,
                       width = columns - 2 * radius;  ///< pixels that get a median
  alignas(8) float sorted[Planes][Side][columns];

  /// value(plane, column, j): value j of Side in a column. store(plane, column, median): takes the result of a
  /// column, 0 to width - 1, whose window begins at that column.
  template <class Value, class Store>
  __device__ void make(int lane, Value value, Store store) {
    PF_UNROLL
    for (int plane = 0; plane < Planes; ++plane) {
      PF_UNROLL
      for (int i = 0; i < PixelsEach; ++i) {
        const int at = lane + i * lanes;
        float values[Side];
        PF_UNROLL
        for (int j = 0; j < Side; ++j) values[j] = unsigned_zero(value(plane, at, j));
        sort(values);
        PF_UNROLL
        for (int j = 0; j < Side; ++j) sorted[plane][j][at] = values[j];
      }
    }
    __syncwarp();
    const int first = PixelsEach * lane;
    if (first < width) {
      float medians[Planes][PixelsEach];
      PF_UNROLL
      for (int plane = 0; plane < Planes; ++plane) take_medians(sorted[plane], first, medians[plane]);
      PF_UNROLL
      for (int plane = 0; plane < Planes; ++plane) {
        PF_UNROLL
        for (int i = 0; i < PixelsEach; ++i) store(plane, first + i, medians[plane][i]);
      }
    }
    __syncwarp();  // `sorted` may be used again
  }

 private:
  /// Takes the medians of a lane's windows, from sorted columns; the first window begins at column `first`.
  __device__ static void take_medians(const float (&sorted)[Side][columns], int first,
                                      float (&medians)[PixelsEach]) {
    float column[Side + PixelsEach - 1][Side];
    PF_UNROLL
    for (int j = 0; j < Side; ++j) {
      if constexpr (PixelsEach == 1) {
        PF_UNROLL
        for (int i = 0; i < Side; ++i) column[i][j] = sorted[j][first + i];
      } else {
        PF_UNROLL
        for (int i = 0; i < Side + 1; i += 2) {
          const float2 two = *reinterpret_cast<const float2*>(&sorted[j][first + i]);
          column[i][j] = two.x;
          column[i + 1][j] = two.y;
        }
      }
    }
    if constexpr (Side == 3) {
      PF_UNROLL
      for (int i = 0; i < PixelsEach; ++i)
        medians[i] = median_of_columns(column[i], column[i + 1], column[i + 2]);
    } else {
      float a[10], b[10], middle[6];
      merge(column[1], column[2], a);
      merge(column[3], column[4], b);
      middle_of_pairs(a, b, middle);
      medians[0] = median_with_column(middle, column[0]);
      if constexpr (PixelsEach == 2) medians[1] = median_with_column(middle, column[5]);
    }
  }
};

}  // namespace parafield
