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

namespace {

/// Left-right check of pixel (x, y). `right`: the row of right disparities, see difference_to_right.
template <class Row>
__device__ void check_disparity(float d, Row right, float tolerance, int x, int y, View<std::uint8_t> valid,
                                View<std::uint8_t> unsure) {
  const float difference = difference_to_right(d, right, valid.width, x);
  const bool kept = valid(x, y) != 0 && difference <= tolerance;
  valid(x, y) = kept;
  if (unsure) unsure(x, y) = !kept || difference > 0;
}

constexpr int project_threads = 256;
constexpr std::size_t most_row_bytes = 48 * 1024;  // shared memory that every kernel has

/// Row of projected disparities as integers.
struct ProjectedRow {
  const int* ordered;
  __device__ float operator[](int x) const { return from_ordered_bits(ordered[x]); }
};

/// Disparities are projected as integers with the same order as the floats, so an atomic maximum finds the
/// largest. A CUDA block projects a row, in shared memory or, if that is too small, in the row of the result.
__global__ void __launch_bounds__(project_threads)
    project_kernel(View<const float> left, View<float> right, bool is_shared, float tolerance,
                   View<std::uint8_t> valid, View<std::uint8_t> unsure) {
  begin_kernel();
  const int y = int(blockIdx.x), width = left.width, first = int(threadIdx.x);
  const float* const d = left.row(y);
  float* const out = right.row(y);
  int* const ordered = is_shared ? dynamic_shared<int>() : reinterpret_cast<int*>(out);
  for (int x = first; x < width; x += project_threads) ordered[x] = ordered_bits(not_projected);
  __syncthreads();
  for (int x = first; x < width; x += project_threads)
    if (const Column column = column_at(x, d[x], width); column.inside)
      atomicMax(&ordered[column.x], ordered_bits(d[x]));
  __syncthreads();
  for (int x = first; x < width && valid; x += project_threads)
    check_disparity(d[x], ProjectedRow{ordered}, tolerance, x, y, valid, unsure);
  if (!is_shared) __syncthreads();
  for (int x = first; x < width; x += project_threads) out[x] = from_ordered_bits(ordered[x]);
}

}  // namespace

template <class Backend>
void check_disparities(Backend& cuda, View<const float> left, View<const float> right, float tolerance,
                       View<std::uint8_t> valid, View<std::uint8_t> unsure) {
  for_pixels(cuda, valid.size(), [=] __device__(int x, int y) {
    check_disparity(left(x, y), right.row(y), tolerance, x, y, valid, unsure);
  });
}

template <class Backend>
void project_disparities(Backend& cuda, View<const float> left, View<float> right, float tolerance,
                         View<std::uint8_t> valid, View<std::uint8_t> unsure) {
  const std::size_t bytes = sizeof(int) * std::size_t(left.width);
  const bool is_shared = bytes <= most_row_bytes;
  cuda.launch(project_kernel, dim3(unsigned(left.height)), dim3(project_threads), is_shared ? bytes : 0, left,
              right, is_shared, tolerance, valid, unsure);
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
