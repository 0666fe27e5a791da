#include "blocks/median/median.hpp"
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"

namespace parafield {
namespace {

/// blockIdx.z: the component.
template <int Radius>
__global__ void median_kernel(FlowPlanes in, FlowPlanes out) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= in.u.width || y >= in.u.height) return;
  constexpr int side = 2 * Radius + 1;
  const View<float> from = blockIdx.z == 0 ? in.u : in.v, to = blockIdx.z == 0 ? out.u : out.v;
  float values[side * side];
  PF_UNROLL
  for (int j = 0; j < side; ++j) {
    const float* row = from.row(clamp(y + j - Radius, 0, from.height - 1));
    PF_UNROLL
    for (int i = 0; i < side; ++i) values[j * side + i] = row[clamp(x + i - Radius, 0, from.width - 1)];
  }
  to(x, y) = median_of(values);
}

}  // namespace

template <>
void median(Cuda& cuda, FlowPlanes in, int side, FlowPlanes out) {
  const dim3 block(32, 8), grid(blocks_for(in.u.width, 32), blocks_for(in.u.height, 8), 2);
  cuda.launch(side == 3 ? median_kernel<1> : median_kernel<2>, grid, block, 0, in, out);
}

}  // namespace parafield
