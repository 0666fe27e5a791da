#pragma once
#include <vector>

#include "core/arithmetic.hpp"

namespace parafield {

/// One level of a gaussian pyramid from the finer one: (1 4 6 4 1) / 16 each way, then every second pixel.
/// `coarse` has half the size of `fine`, rounded up; beyond the border the nearest pixel stands in.
template <class Backend>
void reduce(Backend& backend, View<const float> fine, View<float> coarse);

/// Sizes from level 0 on: each half of the one before, rounded up; at most `levels`, and none but level 0
/// with a shorter side under 4 px.
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

}  // namespace parafield
