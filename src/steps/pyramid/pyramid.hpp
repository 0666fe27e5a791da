// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "core/arithmetic.hpp"

namespace parafield {

/// A gaussian pyramid; level 0 is the finest.
struct Pyramid {
  static constexpr int max_levels = 16;
  int levels = 0;
  View<float> level[max_levels];
};

/// Makes the levels from level 1 on, for one or two pyramids of the same sizes. Each level comes from the
/// finer one by (1 4 6 4 1) / 16 along columns and rows, then every second pixel (Marzat, section 2.2);
/// beyond the border the nearest pixel stands in.
template <class Backend>
void build_pyramids(Backend& backend, const Pyramid* pyramids, int count);

/// Makes all levels for one or two frames of one size: the bits of `convert` and `build_pyramids`. On CUDA
/// the frames are inputs that a replay reads anew.
template <class Backend>
void convert_pyramids(Backend& backend, const Frame* frames, const Pyramid* pyramids, int count);

struct KeptFrames;

/// The same, and copies the frames into the slots from `slot` on: the bits of `convert_pyramids` and
/// `keep_frames`.
template <class Backend>
void convert_and_keep(Backend& backend, const Frame* frames, const Pyramid* pyramids, int count, int slot,
                      const KeptFrames& kept);

/// Sizes of a pyramid's levels, the finest first. Each is half of the one before, rounded up. There are at
/// most `levels`; a level whose shorter side would be below 4 px is left out, but for level 0.
inline std::vector<Size> pyramid_sizes(Size size, int levels) {
  std::vector<Size> sizes{size};
  while (int(sizes.size()) < levels) {
    size = {(size.width + 1) / 2, (size.height + 1) / 2};
    if (smaller(size.width, size.height) < 4) break;
    sizes.push_back(size);
  }
  return sizes;
}

PF_HD float binomial(float a, float b, float c, float d, float e) {
  return fma(6, c, fma(4, b + d, a + e)) * (1.0f / 16);
}

/// Pixel (x, y) of the next coarser level.
PF_HD float reduced(View<const float> fine, int x, int y) {
  const int last = fine.width - 1, bottom = fine.height - 1;
  const float *a = fine.row(clamp(2 * y - 2, 0, bottom)), *b = fine.row(clamp(2 * y - 1, 0, bottom)),
              *c = fine.row(2 * y), *d = fine.row(clamp(2 * y + 1, 0, bottom)),
              *e = fine.row(clamp(2 * y + 2, 0, bottom));
  const auto column = [=](int i) { return binomial(a[i], b[i], c[i], d[i], e[i]); };
  return binomial(column(clamp(2 * x - 2, 0, last)), column(clamp(2 * x - 1, 0, last)), column(2 * x),
                  column(clamp(2 * x + 1, 0, last)), column(clamp(2 * x + 2, 0, last)));
}

}  // namespace parafield
