// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/median/median.cuh"

namespace parafield {
namespace {

constexpr int median_rows = 4;

/// blockIdx.z: index of the image.
template <int Side, int PixelsEach>
__global__ void __launch_bounds__(32 * median_rows)
    median_kernel(View<const float> in0, View<const float> in1, View<float> out0, View<float> out1) {
  begin_kernel();
  using Part = WarpMedian<Side, PixelsEach>;
  const View<const float> from = blockIdx.z == 0 ? in0 : in1;
  const View<float> to = blockIdx.z == 0 ? out0 : out1;
  const int x0 = int(blockIdx.x) * Part::width, y = int(blockIdx.y) * median_rows + int(threadIdx.y);
  if (y >= to.height) return;
  Part::make(
      int(threadIdx.x),
      [&](int, int column, int j) {
        const float* const row = from.row(clamp(y + j - Part::radius, 0, from.height - 1));
        typename Part::Values values;
        PF_UNROLL
        for (int i = 0; i < PixelsEach; ++i)
          values.column[i] = unsigned_zero(row[clamp(x0 + column + i - Part::radius, 0, from.width - 1)]);
        return values;
      },
      [&](int, int column, int, float median) {
        if (x0 + column < to.width) to(x0 + column, y) = median;
      });
}

template <int Side, int PixelsEach>
void launch_median(Cuda& cuda, const View<float>* in, const View<float>* out, int count) {
  const int last = count - 1;
  const dim3 grid(blocks_for(in[0].width, WarpMedian<Side, PixelsEach>::width),
                  blocks_for(in[0].height, median_rows), unsigned(count));
  cuda.launch(median_kernel<Side, PixelsEach>, grid, dim3(32, median_rows), 0, in[0], in[last], out[0],
              out[last]);
}

}  // namespace

template <class Backend>
void median(Backend& cuda, const View<float>* in, int side, const View<float>* out, int count) {
  const bool small = in[0].width * in[0].height < 150'000;
  if (side == 3)
    small ? launch_median<3, 1>(cuda, in, out, count) : launch_median<3, 2>(cuda, in, out, count);
  else
    small ? launch_median<5, 1>(cuda, in, out, count) : launch_median<5, 2>(cuda, in, out, count);
}

PF_STEP(median<Cuda>);

}  // namespace parafield
