// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"

namespace parafield {

/// Census transform of each pixel: one bit for each of the 24 neighbors in the 5x5 window, in row order, with
/// the last neighbor in the lowest bit. A bit is 1 if the neighbor is darker than the pixel. Pixels beyond
/// the border repeat the nearest pixel.
template <class Backend>
void census(Backend& backend, View<const float> image, View<std::uint32_t> transformed);

/// The transform of one pixel; at(dx, dy) is the image value at that offset.
template <class At>
PF_HD std::uint32_t census_of(At at) {
  const float middle = at(0, 0);
  std::uint32_t bits = 0;
  PF_UNROLL
  for (int dy = -2; dy <= 2; ++dy) {
    PF_UNROLL
    for (int dx = -2; dx <= 2; ++dx)
      if (dx != 0 || dy != 0) bits = bits << 1 | (at(dx, dy) < middle ? 1u : 0u);
  }
  return bits;
}

/// Census transform of a row on the CPU, from the five rows around it.
PF_HD void census_row(const float* const (&rows)[5], int width, std::uint32_t* out) {
  const auto near_border = [&](int x) {
    return census_of([&](int dx, int dy) { return rows[dy + 2][clamp(x + dx, 0, width - 1)]; });
  };
  const int end = larger(2, width - 2);
  for (int x = 0; x < smaller(2, width); ++x) out[x] = near_border(x);
  for (int x = 2; x < end; ++x) out[x] = census_of([&](int dx, int dy) { return rows[dy + 2][x + dx]; });
  for (int x = end; x < width; ++x) out[x] = near_border(x);
}

/// Replaces the transform of a pixel outside the image if a match there must cost more than any other.
constexpr std::uint32_t no_census = 1u << 31;

/// Number of differing bits, 0..24; above 1e9 if one of the two is no_census.
PF_HD float census_distance(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t different = a ^ b;
#ifdef __CUDA_ARCH__
  const int count = __popc(different & 0xffffffu);
#else
  // The three bytes' counts are added one by one: g++ recognizes the usual multiplication as a popcount call,
  // which it cannot vectorize.
  std::uint32_t sum = different - (different >> 1 & 0x55555555u);
  sum = (sum & 0x33333333u) + (sum >> 2 & 0x33333333u);
  sum = (sum + (sum >> 4)) & 0x0f0f0fu;
  const int count = int((sum + (sum >> 8) + (sum >> 16)) & 0xffu);
#endif
  return float(count | int(different >> 31) << 30);
}

}  // namespace parafield
