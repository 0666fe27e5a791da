// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "steps/least_confidence/least_confidence.hpp"

// Lower bound: 5 bytes per pixel, which were written just before and are still in the cache. At 640x480 the
// launch dominates.
namespace parafield {

template <class Backend>
void withhold_unsure(Backend& cuda, View<const float> confidence, float least, View<std::uint8_t> valid) {
  for_pixels(cuda, valid.size(), [=] __device__(int x, int y) {
    if (!(confidence(x, y) >= least)) valid(x, y) = 0;
  });
}

PF_STEP(withhold_unsure<Cuda>);

}  // namespace parafield
