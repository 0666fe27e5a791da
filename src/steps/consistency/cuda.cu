// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "core/cuda/warp_reductions.cuh"
#include "steps/consistency/consistency.hpp"

namespace parafield {

template <class Backend>
void check_consistency(Backend& cuda, FlowPlanes forward, FlowPlanes backward, float tolerance,
                       View<std::uint8_t> valid) {
  for_pixels(cuda, valid.size(), [=, pitch = int(backward.u.stride())] __device__(int x, int y) {
    if (!is_consistent(forward.u(x, y), forward.v(x, y), backward.u.data, backward.v.data, pitch, valid.width,
                       valid.height, x, y, tolerance))
      valid(x, y) = 0;
  });
}

template <class Backend>
void check_disparities(Backend& cuda, View<const float> left, View<const float> right, float tolerance,
                       View<std::uint8_t> valid, View<std::uint8_t> unsure) {
  for_pixels(cuda, valid.size(), [=] __device__(int x, int y) {
    const float difference = difference_to_right(left(x, y), right.row(y), valid.width, x);
    const bool kept = valid(x, y) != 0 && difference <= tolerance;
    valid(x, y) = kept;
    if (unsure) unsure(x, y) = !kept || difference > 0;
  });
}

/// Disparities are projected as integers with the same order as the floats, so an atomic maximum finds the
/// largest.
template <class Backend>
void project_disparities(Backend& cuda, View<const float> left, View<float> right) {
  const View<int> ordered{reinterpret_cast<int*>(right.data), right.width, right.height, right.pitch};
  for_pixels(cuda, right.size(),
             [=] __device__(int x, int y) { ordered(x, y) = ordered_bits(not_projected); });
  for_pixels(cuda, left.size(), [=] __device__(int x, int y) {
    const float d = left(x, y);
    const Column column = column_at(x, d, left.width);
    if (column.inside) atomicMax(&ordered(column.x, y), ordered_bits(d));
  });
  for_pixels(cuda, right.size(),
             [=] __device__(int x, int y) { right(x, y) = from_ordered_bits(ordered(x, y)); });
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

PF_STEP(check_consistency<Cuda>);
PF_STEP(check_disparities<Cuda>);
PF_STEP(project_disparities<Cuda>);
PF_STEP(disparity_confidence<Cuda>);

}  // namespace parafield
