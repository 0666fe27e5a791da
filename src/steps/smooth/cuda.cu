// SPDX-License-Identifier: MIT
#include <type_traits>

#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/convert/convert.hpp"
#include "steps/smooth/smooth.hpp"

// The kernels take an image as a frame of floats, so that images and frames share one kernel. Up to radius 4,
// a warp computes two or four rows of 120 pixels without shared memory: each lane holds four columns, loads
// all its rows at once, and gets neighboring columns from neighboring lanes. Larger radii use shared memory.
//
// Lower bound: gray_u8 reads 1 byte per pixel and writes 4, which takes an H100 (3.0 TB/s) 0.5 us at 640x480
// and 14 us at 3840x2160. Radius 3 takes 14 operations per pixel, or about 24 instructions including the
// conversion of the rows above and below.

namespace parafield {
namespace {

constexpr int smooth_lanes = 32, each = 4, smooth_warps = 4, smooth_halo = 4;
constexpr int smooth_width = smooth_lanes * each - 2 * smooth_halo;

struct Four {
  float of[each];
};

/// Luma of pixels x to x + 3 of a row. `whole`: if the pixels are gray, they can be loaded as one vector.
template <class Sample, int Channels, int Red>
__device__ Four four_of(const Sample* row, int x, int last, Scale scale, bool whole) {
  if constexpr (Channels == 1) {
    if (whole) {
      using Vector = std::conditional_t<sizeof(Sample) == 1, uchar4,
                                        std::conditional_t<sizeof(Sample) == 2, ushort4, float4>>;
      const Vector four = *reinterpret_cast<const Vector*>(row + x);
      const Sample sample[each] = {four.x, four.y, four.z, four.w};
      return {luma_of(sample, 0, 1, 0, scale), luma_of(sample, 1, 1, 0, scale),
              luma_of(sample, 2, 1, 0, scale), luma_of(sample, 3, 1, 0, scale)};
    }
  }
  Four four;
  PF_UNROLL
  for (int i = 0; i < each; ++i) four.of[i] = luma_of(row, clamp(x + i, 0, last), Channels, Red, scale);
  return four;
}

/// blockIdx.z: index of the frame. Rows: number of rows that a warp computes.
template <int Radius, int Rows>
__global__ void __launch_bounds__(smooth_lanes* smooth_warps)
    smooth_kernel(Frame frame0, Frame frame1, Taps taps, View<float> out0, View<float> out1) {
  static_assert(Radius <= smooth_halo);
  launch_next();
  const Frame frame = blockIdx.z == 0 ? frame0 : frame1;
  const View<float> out = blockIdx.z == 0 ? out0 : out1;
  const int lane = int(threadIdx.x), x = int(blockIdx.x) * smooth_width - smooth_halo + lane * each;
  const int y0 = (int(blockIdx.y) * smooth_warps + int(threadIdx.y)) * Rows;
  const int last = out.width - 1, bottom = out.height - 1;
  const bool inside = x >= 0 && x + each - 1 <= last;
  // If the width is a multiple of four, lanes beyond the border load the nearest four pixels as one vector
  // too.
  const bool of_fours = out.width % each == 0;
  const int from = of_fours ? clamp(x, 0, last + 1 - each) : x;
  const bool stores_fours =
      (reinterpret_cast<std::size_t>(out.data) | std::size_t(out.pitch)) % sizeof(Four) == 0;
  await_last();
  if (y0 > bottom) return;  // true for whole warps only

  Four in[Rows + 2 * Radius];
  with_format(frame, [&]<class Sample, int Channels, int Red>(Scale scale) {
    const bool aligned =
        (reinterpret_cast<std::size_t>(frame.data) | std::size_t(frame.pitch)) % (each * sizeof(Sample)) == 0;
    PF_UNROLL
    for (int i = 0; i < Rows + 2 * Radius; ++i)
      in[i] = four_of<Sample, Channels, Red>(row_of<Sample>(frame, clamp(y0 + i - Radius, 0, bottom)), from,
                                             last, scale, (inside || of_fours) && aligned);
  });
  PF_UNROLL
  for (int row = 0; row < Rows; ++row) {
    float column[each + 2 * Radius];  // vertical sums of columns x - Radius to x + 3 + Radius
    PF_UNROLL
    for (int i = 0; i < each; ++i) {
      float sum = taps.weight[0] * in[row + Radius].of[i];
      PF_UNROLL
      for (int k = 1; k <= Radius; ++k)
        sum = fma(taps.weight[k], in[row + Radius - k].of[i] + in[row + Radius + k].of[i], sum);
      column[Radius + i] = sum;
    }
    const float nearest = x < 0 ? column[Radius] : column[Radius + each - 1];
    PF_UNROLL
    for (int i = 0; i < each; ++i) column[Radius + i] = x < 0 || x > last ? nearest : column[Radius + i];
    PF_UNROLL
    for (int k = 1; k <= Radius; ++k) {
      column[Radius - k] = __shfl_up_sync(~0u, column[Radius + each - k], 1);
      column[Radius + each - 1 + k] = __shfl_down_sync(~0u, column[Radius + k - 1], 1);
    }
    Four sums;
    PF_UNROLL
    for (int i = 0; i < each; ++i) {
      float sum = taps.weight[0] * column[Radius + i];
      PF_UNROLL
      for (int k = 1; k <= Radius; ++k)
        sum = fma(taps.weight[k], column[Radius + i - k] + column[Radius + i + k], sum);
      sums.of[i] = sum;
    }
    if (lane == 0 || lane == smooth_lanes - 1 || x > last || y0 + row > bottom) continue;
    float* const to = out.row(y0 + row) + x;
    if (inside && stores_fours) {
      *reinterpret_cast<float4*>(to) = make_float4(sums.of[0], sums.of[1], sums.of[2], sums.of[3]);
    } else {
      for (int i = 0; i < each && x + i <= last; ++i) to[i] = sums.of[i];
    }
  }
}

constexpr int wide_width = 32, wide_height = 16, reach = Taps::max_radius;

__global__ void __launch_bounds__(wide_width* wide_height)
    wide_kernel(Frame frame0, Frame frame1, Taps taps, View<float> out0, View<float> out1) {
  begin_kernel();
  const Frame frame = blockIdx.z == 0 ? frame0 : frame1;
  const View<float> out = blockIdx.z == 0 ? out0 : out1;
  __shared__ float in[wide_height + 2 * reach][wide_width + 2 * reach],
      column[wide_height][wide_width + 2 * reach];
  const int x0 = int(blockIdx.x) * wide_width, y0 = int(blockIdx.y) * wide_height;
  const int radius = taps.radius, last = out.width - 1, bottom = out.height - 1;
  const int columns = wide_width + 2 * radius, i0 = int(threadIdx.x), j = int(threadIdx.y);
  with_format(frame, [&]<class Sample, int Channels, int Red>(Scale scale) {
    for (int row = j; row < wide_height + 2 * radius; row += wide_height)
      for (int i = i0; i < columns; i += wide_width)
        in[row][i] = luma_of(row_of<Sample>(frame, clamp(y0 + row - radius, 0, bottom)),
                             clamp(x0 + i - radius, 0, last), Channels, Red, scale);
  });
  __syncthreads();
  for (int i = i0; i < columns; i += wide_width) {
    float sum = taps.weight[0] * in[j + radius][i];
    for (int k = 1; k <= radius; ++k)
      sum = fma(taps.weight[k], in[j + radius - k][i] + in[j + radius + k][i], sum);
    column[j][i] = sum;
  }
  __syncwarp();  // a row belongs to one warp
  const int x = x0 + i0, y = y0 + j, i = i0 + radius;
  if (x > last || y > bottom) return;
  float sum = taps.weight[0] * column[j][i];
  for (int k = 1; k <= radius; ++k) sum = fma(taps.weight[k], column[j][i - k] + column[j][i + k], sum);
  out(x, y) = sum;
}

/// Calls launch(kernel, grid, block) with the kernel for a radius.
template <class Launch>
void with_kernel(int radius, Size size, int count, Launch launch) {
  constexpr double small = 1 << 20;  // px; up to here warps with few rows are needed to fill the device
  const bool few_rows = double(size.width) * size.height * count <= small;
  const auto grid = [&](int width, int height) {
    return dim3(blocks_for(size.width, width), blocks_for(size.height, height), unsigned(count));
  };
  with_constant<1, 2, 3, 4>(radius, [&]<int Radius>() {
    if constexpr (Radius == 0)
      launch(wide_kernel, grid(wide_width, wide_height), dim3(wide_width, wide_height));
    else if (few_rows)
      launch(smooth_kernel<Radius, 2>, grid(smooth_width, smooth_warps * 2),
             dim3(smooth_lanes, smooth_warps));
    else
      launch(smooth_kernel<Radius, 4>, grid(smooth_width, smooth_warps * 4),
             dim3(smooth_lanes, smooth_warps));
  });
}

}  // namespace

template <class Backend>
void smooth(Backend& cuda, const View<float>* in, const Taps& taps, const View<float>* out, int count) {
  with_kernel(taps.radius, out[0].size(), count, [&](auto kernel, dim3 grid, dim3 block) {
    cuda.launch(kernel, grid, block, 0, frame_of(in[0]), frame_of(in[count - 1]), taps, out[0],
                out[count - 1]);
  });
}

template <class Backend>
void smooth_luma(Backend& cuda, const Frame* frames, const Taps& taps, const View<float>* out, int count) {
  with_kernel(taps.radius, out[0].size(), count, [&](auto kernel, dim3 grid, dim3 block) {
    cuda.launch_input(kernel, grid, block, frames[0], frames[count - 1], taps, out[0], out[count - 1]);
  });
}

PF_STEP(smooth<Cuda>);
PF_STEP(smooth_luma<Cuda>);

}  // namespace parafield
