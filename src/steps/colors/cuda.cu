// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/colors/colors.hpp"

// Floor: rgb_u8 reads 3 bytes a pixel and writes 16, with smoothed ones 32; two frames of 320x240, one
// smoothed, take an H100 (3.0 TB/s) 1.4 us, as long as a launch does.

namespace parafield {
namespace {

constexpr int width = 32, height = 8, channels = 3;

/// blockIdx.z is the frame. Radius: that of the taps where it is compiled in, otherwise -1.
template <int Radius>
__global__ void __launch_bounds__(width* height)
    colors_kernel(Frame frame0, Frame frame1, Taps taps, Colors colors0, Colors colors1, Colors smoothed0,
                  Colors smoothed1, int smooth_count) {
  constexpr int most = Radius >= 0 ? Radius : Taps::max_radius;
  __shared__ float in[channels][height + 2 * most][width + 2 * most],
      column[channels][height][width + 2 * most];
  await_last();  // interpolate_kernel is not launched early
  const Frame frame = blockIdx.z == 0 ? frame0 : frame1;
  const Colors colors = blockIdx.z == 0 ? colors0 : colors1,
               smoothed = blockIdx.z == 0 ? smoothed0 : smoothed1;
  const int radius = Radius >= 0 ? Radius : taps.radius, columns = width + 2 * radius,
            rows = height + 2 * radius;
  const int right = frame.width - 1, bottom = frame.height - 1;
  const int x0 = int(blockIdx.x) * width, y0 = int(blockIdx.y) * height;
  const int thread = int(threadIdx.x), i0 = thread % width, j = thread / width;
  with_format(frame, [&]<class Sample, int Channels, int Red>(Scale scale) {
    for (int k = thread; k < rows * columns; k += width * height) {
      const int row = k / columns, i = k % columns;
      const Sample* const pixels = reinterpret_cast<const Sample*>(
          static_cast<const char*>(frame.data) + clamp(y0 + row - radius, 0, bottom) * frame.pitch);
      PF_UNROLL
      for (int c = 0; c < channels; ++c)
        in[c][row][i] = channel_of(pixels, clamp(x0 + i - radius, 0, right), c, Channels, Red, scale);
    }
  });
  __syncthreads();
  const int x = x0 + i0, y = y0 + j;
  const auto set = [&](const Colors& to, float red, float green, float blue) {
    if (x <= right && y <= bottom)
      reinterpret_cast<float4&>(to.pixels(x, y)) = make_float4(red, green, blue, 0);
  };
  const auto own = [&](int c) { return in[c][j + radius][i0 + radius]; };
  set(colors, own(0), own(1), own(2));
  if constexpr (Radius != 0) {
    if (int(blockIdx.z) >= smooth_count) return;
    PF_UNROLL
    for (int c = 0; c < channels; ++c)
      for (int i = i0; i < columns; i += width) {
        float sum = taps.weight[0] * in[c][j + radius][i];
        for (int k = 1; k <= radius; ++k)
          sum = fma(taps.weight[k], in[c][j + radius - k][i] + in[c][j + radius + k][i], sum);
        column[c][j][i] = sum;
      }
    __syncwarp();  // a row belongs to one warp
    const auto blurred = [&](int c) {
      const float* const middle = column[c][j] + i0 + radius;
      float sum = taps.weight[0] * middle[0];
      for (int k = 1; k <= radius; ++k) sum = fma(taps.weight[k], middle[-k] + middle[k], sum);
      return sum;
    };
    set(smoothed, blurred(0), blurred(1), blurred(2));
  }
}

}  // namespace

template <class Backend>
void make_colors(Backend& cuda, const Frame* frames, int count, const Taps& taps, const Colors* colors,
                 const Colors* smoothed, int smooth_count) {
  const int last = count - 1;
  const dim3 grid(blocks_for(frames[0].width, width), blocks_for(frames[0].height, height), unsigned(count));
  const auto launch = [&](auto kernel) {
    cuda.launch_input(kernel, grid, dim3(width * height), frames[0], frames[last], taps, colors[0],
                      colors[last], smoothed[0], smoothed[last], smooth_count);
  };
  switch (taps.radius) {
    case 0:
      return launch(colors_kernel<0>);
    case 3:
      return launch(colors_kernel<3>);
    default:
      return launch(colors_kernel<-1>);
  }
}

PF_STEP(make_colors<Cuda>);

}  // namespace parafield
