#include "blocks/pyramid/pyramid.hpp"
#include "core/cuda/backend.hpp"

namespace parafield {
namespace {

__global__ void reduce_kernel(View<const float> fine, View<float> coarse) {
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= coarse.width || y >= coarse.height) return;
  const int last = fine.width - 1, bottom = fine.height - 1;
  const float* rows[5];
  for (int k = 0; k < 5; ++k) rows[k] = fine.row(clamp(2 * y + k - 2, 0, bottom));
  float smoothed[5];
  for (int k = 0; k < 5; ++k) {
    const int column = clamp(2 * x + k - 2, 0, last);
    smoothed[k] =
        binomial(rows[0][column], rows[1][column], rows[2][column], rows[3][column], rows[4][column]);
  }
  coarse(x, y) = binomial(smoothed[0], smoothed[1], smoothed[2], smoothed[3], smoothed[4]);
}

}  // namespace

template <>
void reduce(Cuda& cuda, View<const float> fine, View<float> coarse) {
  const dim3 block(32, 8), grid(blocks_for(coarse.width, 32), blocks_for(coarse.height, 8));
  cuda.launch(reduce_kernel, grid, block, 0, fine, coarse);
}

}  // namespace parafield
