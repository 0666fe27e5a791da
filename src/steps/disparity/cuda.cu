// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/disparity/disparity.hpp"

namespace parafield {
namespace {

__global__ void take_fine_kernel(View<const float> whole, View<const float> fine,
                                 View<const std::uint8_t> valid, View<float> out) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= out.width || y >= out.height) return;
  out(x, y) = fine_or_whole(whole(x, y), fine(x, y), valid(x, y) != 0);
}

__global__ void disparity_confidence_kernel(DisparityEvidence evidence, View<float> confidence) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  const View<const float> left = evidence.left;
  if (x >= left.width || y >= left.height) return;
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
}

dim3 grid_of(Size size) { return {blocks_for(size.width, 32), blocks_for(size.height, 8)}; }

}  // namespace

template <class Backend>
void take_fine(Backend& cuda, View<const float> whole, View<const float> fine, View<const std::uint8_t> valid,
               View<float> out) {
  cuda.launch(take_fine_kernel, grid_of(out.size()), dim3(32, 8), 0, whole, fine, valid, out);
}

template <class Backend>
void disparity_confidence(Backend& cuda, const DisparityEvidence& evidence, View<float> confidence) {
  cuda.launch(disparity_confidence_kernel, grid_of(confidence.size()), dim3(32, 8), 0, evidence, confidence);
}

PF_STEP(take_fine<Cuda>);
PF_STEP(disparity_confidence<Cuda>);

}  // namespace parafield
