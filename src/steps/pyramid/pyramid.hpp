// SPDX-License-Identifier: MIT
#pragma once
#include <vector>

#include "core/arithmetic.hpp"

namespace parafield {

/// A Gaussian pyramid; level 0 is the finest.
struct Pyramid {
  static constexpr int max_levels = 16;
  int levels = 0;
  View<float> level[max_levels];
};

/// Computes levels 1 and up of one or two pyramids of the same size. Each level is the finer level filtered
/// by (1 4 6 4 1) / 16 along columns and rows, at every second pixel (Marzat, section 2.2). Pixels beyond the
/// border repeat the nearest pixel.
template <class Backend>
void build_pyramids(Backend& backend, const Pyramid* pyramids, int count);

/// Computes all levels of one or two frames of the same size: the same bits as `convert` and
/// `build_pyramids`. On CUDA, the frames are inputs that a replay reads again.
template <class Backend>
void convert_pyramids(Backend& backend, const Frame* frames, const Pyramid* pyramids, int count);

struct KeptFrames;

/// The same, and also copies the frames into slots `slot` and following: the same bits as `convert_pyramids`
/// and `keep_frames`.
template <class Backend>
void convert_and_keep(Backend& backend, const Frame* frames, const Pyramid* pyramids, int count, int slot,
                      const KeptFrames& kept);

/// Sizes of a pyramid's levels, finest first. Each is half the previous size, rounded up. There are at most
/// `levels` levels; all but level 0 have a shorter side of at least 4 px.
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
