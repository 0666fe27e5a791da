// SPDX-License-Identifier: MIT
#pragma once
#include "steps/census/census.hpp"

/// In an unnamed namespace, so that each instruction set has its own copy.
namespace parafield {
namespace {

/// Census transform of a row, from the five rows around it.
void census_row(const float* const (&rows)[5], int width, std::uint32_t* out) {
  const auto near_border = [&](int x) {
    return census_of([&](int dx, int dy) { return rows[dy + 2][clamp(x + dx, 0, width - 1)]; });
  };
  const int end = larger(2, width - 2);
  for (int x = 0; x < smaller(2, width); ++x) out[x] = near_border(x);
  for (int x = 2; x < end; ++x) out[x] = census_of([&](int dx, int dy) { return rows[dy + 2][x + dx]; });
  for (int x = end; x < width; ++x) out[x] = near_border(x);
}

}  // namespace
}  // namespace parafield
