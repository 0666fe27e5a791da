// SPDX-License-Identifier: MIT
#pragma once
#include "steps/error_bars/products.hpp"
#include "steps/warp/warp_row.hpp"

/// Rows of error bars on the CPU. In an unnamed namespace, so that each instruction set has its own copy.
namespace parafield {
namespace {

/// Copies a row and extends it.
inline void copy_row(const float* from, float* to, int width) {
  for (int x = 0; x < width; ++x) to[x] = from[x];
  extend(to, width, bars_margin);
}

/// The products at a pixel of three rows of means and differences.
PF_HD ErrorProducts products_at(const float* m0, const float* m1, const float* m2, const float* d0,
                                const float* d1, const float* d2) {
  const auto across = [](const float* row) { return smoothed_across(row[-1], row[0], row[1]); };
  const auto down = [=](int i) { return smoothed_across(m0[i], m1[i], m2[i]); };
  return ErrorProducts::make(0.5f * (down(1) - down(-1)), 0.5f * (across(m2) - across(m0)),
                             smoothed_across(across(d0), across(d1), across(d2)));
}

/// Sums of seven rows around row y, extended. row_at(y) returns a row.
template <class RowAt>
void sum_7_rows(RowAt row_at, int y, int height, int width, float* to) {
  const float* rows[7];
  for (int k = 0; k < 7; ++k) rows[k] = row_at(clamp(y + k - tensor_reach, 0, height - 1));
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) to[x] = sum_of_7([&](int k) { return rows[k][x]; });
  extend(to, width, tensor_reach);
}

}  // namespace
}  // namespace parafield
