// SPDX-License-Identifier: MIT
#pragma once
#include <cstring>

#include "steps/components/components.hpp"

namespace parafield {

/// A connected region of a mask: its first pixel, row by row, is in row `top` and has the index `first`.
struct Region {
  int first;                     ///< width * y + x
  int left, top, right, bottom;  ///< px, inclusive
  int area;                      ///< pixels
};

/// Regions in a backend's memory. The CPU writes them by their first pixels, CUDA in any order.
struct RegionList {
  int* count;
  Region* regions;
};

/// The most regions of at least `min_area` pixels that a mask can have.
inline int most_regions(Size size, int min_area) {
  const std::int64_t apart = std::int64_t((size.width + 1) / 2) * ((size.height + 1) / 2),
                     large = std::int64_t(size.width) * size.height / min_area;
  const std::int64_t most = smaller(apart, large);
  return most > 1 ? int(most) : 1;
}

/// The first pixel from x on that is set, or the width.
PF_HD int next_set(const std::uint8_t* row, int x, int width) {
  for (; x + 8 <= width; x += 8) {
    std::uint64_t pixels;
    std::memcpy(&pixels, row + x, 8);
    if (pixels != 0) break;
  }
  while (x < width && row[x] == 0) ++x;
  return x;
}

/// Number of runs of pixels along rows that are set.
inline std::size_t count_runs(View<const std::uint8_t> mask) {
  std::size_t count = 0;
  for (int y = 0; y < mask.height; ++y) {
    const std::uint8_t* const row = mask.row(y);
    for (int x = next_set(row, 0, mask.width); x < mask.width; x = next_set(row, x, mask.width)) {
      while (x < mask.width && row[x] != 0) ++x;
      ++count;
    }
  }
  return count;
}

constexpr std::size_t ints_of_run = 8, planes_of_regions = 5;

/// Finds the regions of at least `min_area` pixels: pixels of the mask that are not 0, joined with their 8
/// neighbors. The mask is the user's memory. `scratch`: `ints_of_run` for each run on the CPU,
/// `planes_of_regions` for each pixel on CUDA.
template <class Backend>
void find_regions(Backend& backend, View<const std::uint8_t> mask, int min_area, int* scratch,
                  RegionList list);

}  // namespace parafield
