// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/remap/remap.hpp"

namespace parafield {
namespace {

__global__ void remap_kernel(RemappedFrame all) {
  begin_kernel();
  const int x = int(blockIdx.x * blockDim.x + threadIdx.x), y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (x >= all.x.width || y >= all.x.height) return;
  with_format(all.frame, [&]<class Sample, int Channels, int Red>(Scale) {
    constexpr int values = Channels == 1 ? 1 : 3;
    const Frame& frame = all.frame;
    const Match at = locate(all.x(x, y), all.y(x, y), frame.width, frame.height);
    const Neighborhood around =
        neighborhood(at, frame.width, frame.height, Channels, frame.pitch / std::ptrdiff_t(sizeof(Sample)));
    const Sample* const here = static_cast<const Sample*>(frame.data) + around.first;
    float* const out = all.values.row(y) + x * values;
    PF_UNROLL
    for (int c = 0; c < values; ++c) {
      const Sample* const sample = here + channel_in_frame(c, Red);
      out[c] = remapped_value(float(sample[0]), float(sample[around.right]), float(sample[around.below]),
                              float(sample[around.below + around.right]), at.share_x, at.share_y, at.inside);
    }
  });
}

}  // namespace

template <class Backend>
void remap(Backend& cuda, const RemappedFrame& remapped) {
  cuda.launch_input(remap_kernel, dim3(blocks_for(remapped.x.width, 32), blocks_for(remapped.x.height, 8)),
                    dim3(32, 8), remapped);
}

PF_STEP(remap<Cuda>);

}  // namespace parafield
