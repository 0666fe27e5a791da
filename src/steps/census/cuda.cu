// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "steps/census/census.hpp"

namespace parafield {

template <class Backend>
void census(Backend& cuda, View<const float> image, View<std::uint32_t> transformed) {
  for_pixels(cuda, image.size(), [=] __device__(int x, int y) {
    transformed(x, y) = census_of([&](int dx, int dy) {
      return image(clamp(x + dx, 0, image.width - 1), clamp(y + dy, 0, image.height - 1));
    });
  });
}

PF_STEP(census<Cuda>);

}  // namespace parafield
