#include "blocks/smooth/smooth.hpp"
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"

namespace parafield {
namespace {

constexpr int tile_width = 32, tile_height = 8;

/// Each warp makes a row of its tile: the columns that it reaches, smoothed down, in shared memory; then along.
/// blockIdx.z: the image. Radius: where the compiler knows it, so that all loads are on their way at once; or 0.
template <int Radius>
__global__ void smooth_kernel(View<const float> in0, View<const float> in1, GaussianTaps taps,
                              View<float> out0, View<float> out1) {
  begin_kernel();
  const View<const float> in = blockIdx.z == 0 ? in0 : in1;
  const View<float> out = blockIdx.z == 0 ? out0 : out1;
  __shared__ float columns[tile_height][tile_width + 2 * GaussianTaps::max_radius];
  const int x0 = int(blockIdx.x) * tile_width, y = int(blockIdx.y) * tile_height + int(threadIdx.y);
  if (y >= in.height) return;  // whole warps
  const int radius = Radius > 0 ? Radius : taps.radius, last = in.width - 1, bottom = in.height - 1;
  float* column = columns[threadIdx.y];
  for (int i = int(threadIdx.x); i < tile_width + 2 * radius; i += tile_width) {
    const int x = clamp(x0 + i - radius, 0, last);
    float sum = taps.weight[0] * in(x, y);
    PF_UNROLL
    for (int k = 1; k <= radius; ++k)
      sum = fma(taps.weight[k], in(x, clamp(y - k, 0, bottom)) + in(x, clamp(y + k, 0, bottom)), sum);
    column[i] = sum;
  }
  __syncwarp();
  const int x = x0 + int(threadIdx.x), i = radius + int(threadIdx.x);
  if (x > last) return;
  float sum = taps.weight[0] * column[i];
  PF_UNROLL
  for (int k = 1; k <= radius; ++k) sum = fma(taps.weight[k], column[i - k] + column[i + k], sum);
  out(x, y) = sum;
}

}  // namespace

template <>
void smooth(Cuda& cuda, const View<float>* in, const GaussianTaps& taps, const View<float>* out, int count) {
  const int last = count - 1;
  const dim3 block(tile_width, tile_height);
  const dim3 grid(blocks_for(out[0].width, tile_width), blocks_for(out[0].height, tile_height),
                  unsigned(count));
  const auto launch = [&](auto kernel) {
    cuda.launch(kernel, grid, block, 0, in[0], in[last], taps, out[0], out[last]);
  };
  switch (taps.radius) {
    case 2:
      return launch(smooth_kernel<2>);
    case 3:
      return launch(smooth_kernel<3>);
    case 4:
      return launch(smooth_kernel<4>);
    default:
      return launch(smooth_kernel<0>);
  }
}

}  // namespace parafield
