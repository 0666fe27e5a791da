// SPDX-License-Identifier: MIT
#pragma once
#include "markov/labels.hpp"
#include "markov/launch.cuh"

namespace parafield {

/// Four adjacent sites of a row in a field of labels 0 and 1: their labels, the number of neighbors with
/// label 1, and the number of all neighbors.
struct FourSites {
  static constexpr int count = 4;
  int label[count], ones[count], all[count];
};

/// Counts the neighbors of sites x0 .. x0 + 3. x0 must be divisible by 4, and rows must be padded for all
/// four sites. All labels are loaded before any is used.
template <int Neighbors>
__device__ __forceinline__ FourSites four_sites(View<const Label> labels, int x0, int y) {
  const int last = labels.width - 1, bottom = labels.height - 1;
  int label[3][FourSites::count + 2];  // rows y - 1, y and y + 1; 0 outside the image
  PF_UNROLL
  for (int j = 0; j < 3; ++j) {
    const int row = y + j - 1;
    const Label* const from = labels.row(clamp(row, 0, bottom));
    const auto [four] = four_at(from + x0);
    const int six[] = {from[larger(x0 - 1, 0)],    four[0], four[1], four[2], four[3],
                       from[smaller(x0 + 4, last)]};
    PF_UNROLL
    for (int i = 0; i < FourSites::count + 2; ++i) {
      const int x = x0 + i - 1;
      label[j][i] = (row >= 0) & (row <= bottom) & (x >= 0) & (x <= last) ? six[i] : 0;
    }
  }
  FourSites sites;
  const int rows = (y > 0) + (y < bottom);
  PF_UNROLL
  for (int i = 0; i < FourSites::count; ++i) {
    const int columns = (x0 + i > 0) + (x0 + i < last);
    sites.label[i] = label[1][i + 1];
    sites.ones[i] = label[0][i + 1] + label[1][i] + label[1][i + 2] + label[2][i + 1];
    sites.all[i] = rows + columns;
    if constexpr (Neighbors == 8) {
      sites.ones[i] += label[0][i] + label[0][i + 2] + label[2][i] + label[2][i + 2];
      sites.all[i] += rows * columns;
    }
  }
  return sites;
}

}  // namespace parafield
