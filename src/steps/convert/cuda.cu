// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "steps/convert/convert.hpp"

namespace parafield {
namespace {

constexpr int convert_lanes = 32, convert_rows = 8, pixels_each = 4;

__device__ float luma_at(const Frame& frame, int x, int y) {
  return with_format(frame, [&]<class Sample, int Channels, int Red>(Scale scale) {
    return luma_of(row_of<Sample>(frame, y), x, Channels, Red, scale);
  });
}

/// blockIdx.z: index of the frame.
__global__ void convert_kernel(Frame frame0, Frame frame1, View<float> luma0, View<float> luma1) {
  begin_kernel();
  const Frame frame = blockIdx.z == 0 ? frame0 : frame1;
  const View<float> luma = blockIdx.z == 0 ? luma0 : luma1;
  const int y = int(blockIdx.y * blockDim.y + threadIdx.y);
  if (y >= luma.height) return;
  PF_UNROLL
  for (int i = 0; i < pixels_each; ++i) {
    const int x = (int(blockIdx.x) * pixels_each + i) * convert_lanes + int(threadIdx.x);
    if (x < luma.width) luma(x, y) = luma_at(frame, x, y);
  }
}

}  // namespace

template <class Backend>
void convert(Backend& cuda, const Frame* frames, const View<float>* luma, int count) {
  const int last = count - 1;
  const dim3 block(convert_lanes, convert_rows),
      grid(blocks_for(luma[0].width, convert_lanes * pixels_each), blocks_for(luma[0].height, convert_rows),
           unsigned(count));
  cuda.launch_input(convert_kernel, grid, block, frames[0], frames[last], luma[0], luma[last]);
}

template <class Backend>
void convert_color(Backend& cuda, const Frame& frame, const View<float>* red_green_blue) {
  const View<float> red = red_green_blue[0], green = red_green_blue[1], blue = red_green_blue[2];
  for_input_pixels(cuda, red.size(), [=] __device__(int x, int y) {
    with_format(frame, [&]<class Sample, int Channels, int Red>(Scale scale) {
      const Sample* row = row_of<Sample>(frame, y);
      red(x, y) = channel_of(row, x, 0, Channels, Red, scale);
      green(x, y) = channel_of(row, x, 1, Channels, Red, scale);
      blue(x, y) = channel_of(row, x, 2, Channels, Red, scale);
    });
  });
}

PF_STEP(convert<Cuda>);
PF_STEP(convert_color<Cuda>);

}  // namespace parafield
