// SPDX-License-Identifier: MIT
#pragma once
#include "markov/labels.hpp"

namespace parafield {

/// Counts the neighbors with label 1 (`ones`) and all neighbors (`all`) of the sites x0 .. x0 + count - 1 of
/// a row, in a field of labels 0 and 1. Static, so that each instruction set has its own copy.
static inline void count_neighbors(View<const Label> labels, int neighbors, int x0, int y, int count,
                                   int* ones, int* all) {
  const int width = labels.width, above = y > 0, below = y + 1 < labels.height;
  const Label* const here = labels.row(y) + x0;
  const Label* const up = labels.row(y - above) + x0;
  const Label* const down = labels.row(y + below) + x0;
  const auto at = [&](int i) {
    const int left = x0 + i > 0, right = x0 + i + 1 < width, diagonal = neighbors == 8;
    int sum = above * up[i] + below * down[i] + left * here[i - left] + right * here[i + right];
    sum += diagonal * (left * (above * up[i - left] + below * down[i - left]) +
                       right * (above * up[i + right] + below * down[i + right]));
    ones[i] = sum;
    all[i] = above + below + left + right + diagonal * (left + right) * (above + below);
  };
  const int begin = x0 == 0 ? 1 : 0, end = x0 + count == width ? count - 1 : count;
  if (neighbors == 8)
    for (int i = begin; i < end; ++i)
      ones[i] = above * (up[i - 1] + up[i] + up[i + 1]) + here[i - 1] + here[i + 1] +
                below * (down[i - 1] + down[i] + down[i + 1]);
  else
    for (int i = begin; i < end; ++i) ones[i] = above * up[i] + here[i - 1] + here[i + 1] + below * down[i];
  const int inner = (above + below) * (neighbors == 8 ? 3 : 1) + 2;
  for (int i = begin; i < end; ++i) all[i] = inner;
  if (begin == 1) at(0);
  if (end == count - 1 && (count > 1 || begin == 0)) at(count - 1);
}

}  // namespace parafield
