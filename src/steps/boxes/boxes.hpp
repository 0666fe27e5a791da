// SPDX-License-Identifier: MIT
#pragma once
#include <cstring>

#include "steps/components/components.hpp"

namespace parafield {

/// A connected region of a mask. Its first pixel in row order is in row `top` and has index `first`.
struct Region {
  int first;                     ///< width * y + x
  int left, top, right, bottom;  ///< px, inclusive
  int area;                      ///< number of pixels
};

/// Regions in a backend's memory. The CPU sorts them by their first pixels; on CUDA the order is arbitrary.
struct RegionList {
  int* count;
  Region* regions;
};

/// Upper bound on the number of regions with at least `min_area` pixels in a mask.
inline int most_regions(Size size, int min_area) {
  const std::int64_t apart = std::int64_t((size.width + 1) / 2) * ((size.height + 1) / 2),
                     large = std::int64_t(size.width) * size.height / min_area;
  const std::int64_t most = smaller(apart, large);
  return most > 1 ? int(most) : 1;
}

/// The first set pixel from x on, or the width.
PF_HD int next_set(const std::uint8_t* row, int x, int width) {
  for (; x + 8 <= width; x += 8) {
    std::uint64_t pixels;
    std::memcpy(&pixels, row + x, 8);
    if (pixels != 0) break;
  }
  while (x < width && row[x] == 0) ++x;
  return x;
}

/// Number of horizontal runs of set pixels.
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

/// Finds the regions of at least `min_area` pixels. Regions are nonzero pixels connected to any of their 8
/// neighbors. The mask may be the user's memory. `scratch`: `ints_of_run` ints for each run on the CPU,
/// `planes_of_regions` ints for each pixel on CUDA.
template <class Backend>
void find_regions(Backend& backend, View<const std::uint8_t> mask, int min_area, int* scratch,
                  RegionList list);

}  // namespace parafield
