// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "steps/disparity/disparity.hpp"

namespace parafield {

template <class Backend>
void take_fine(Backend& cuda, View<const float> whole, View<const float> fine, View<const std::uint8_t> valid,
               View<float> out) {
  for_pixels(cuda, out.size(), [=] __device__(int x, int y) {
    out(x, y) = fine_or_whole(whole(x, y), fine(x, y), valid(x, y) != 0);
  });
}

template <class Backend>
void disparity_confidence(Backend& cuda, const DisparityEvidence& evidence, View<float> confidence) {
  for_pixels(cuda, confidence.size(), [=] __device__(int x, int y) {
    const View<const float> left = evidence.left;
    const float d = left(x, y);
    int similar = 0;
    for (int dy = -2; dy <= 2; ++dy) {
      const float* const row = left.row(clamp(y + dy, 0, left.height - 1));
      PF_UNROLL
      for (int dx = -2; dx <= 2; ++dx)
        similar += magnitude(row[clamp(x + dx, 0, left.width - 1)] - d) <= 1 ? 1 : 0;
    }
    confidence(x, y) =
        confidence_of(confidence(x, y), d, evidence.right ? evidence.right.row(y) : nullptr,
                      evidence.right_margin ? evidence.right_margin.row(y) : nullptr, left.width, x, similar);
  });
}

PF_STEP(take_fine<Cuda>);
PF_STEP(disparity_confidence<Cuda>);

}  // namespace parafield
