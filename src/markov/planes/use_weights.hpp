// SPDX-License-Identifier: MIT
#pragma once
#include "markov/labels.hpp"

/// In an unnamed namespace, because each instruction set has its own copy.
namespace parafield {
namespace {

/// Computes the weights that messages of row y use, to the right (0) and down (1), from the plain weights.
void use_weights(const View<float>* plain, const View<float>& flatness, const View<float>* used, float growth,
                 int y) {
  const float *const flat = flatness.row(y), *const below = flatness.row(smaller(y + 1, flatness.height - 1));
  const float *const right = plain[0].row(y), *const down = plain[1].row(y);
  float *const used_right = used[0].row(y), *const used_down = used[1].row(y);
  const int last = flatness.width - 1;
#pragma GCC ivdep  // planes do not overlap
  for (int x = 0; x < last; ++x) used_right[x] = used_weight(right[x], flat[x], flat[x + 1], growth);
  used_right[last] = 0;
#pragma GCC ivdep
  for (int x = 0; x <= last; ++x) used_down[x] = used_weight(down[x], flat[x], below[x], growth);
}

}  // namespace
}  // namespace parafield
