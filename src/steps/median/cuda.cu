// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "steps/median/median.hpp"

namespace parafield {
namespace {

// A warp makes part of a row: its lanes sort the columns around it, one or two each, and then take the
// medians. A lane with two neighboring pixels works less, as they share four columns; a lane with one ends
// sooner, which matters more on small levels.
constexpr int lanes = 32, rows = 4;

/// blockIdx.z: index of the image.
template <int Side, int PixelsEach>
__global__ void __launch_bounds__(lanes* rows)
    median_kernel(View<const float> in0, View<const float> in1, View<float> out0, View<float> out1) {
  begin_kernel();
  constexpr int radius = Side / 2, columns = lanes * PixelsEach, width = columns - 2 * radius;
  __shared__ alignas(8) float sorted[Side][rows][columns];
  const View<const float> from = blockIdx.z == 0 ? in0 : in1;
  const View<float> to = blockIdx.z == 0 ? out0 : out1;
  const int x0 = int(blockIdx.x) * width, y = int(blockIdx.y) * rows + int(threadIdx.y);
  const int lane = int(threadIdx.x), row = int(threadIdx.y);
  PF_UNROLL
  for (int i = 0; i < PixelsEach; ++i) {
    const int x = clamp(x0 + lane + i * lanes - radius, 0, from.width - 1);
    float values[Side];
    PF_UNROLL
    for (int j = 0; j < Side; ++j)
      values[j] = unsigned_zero(from(x, clamp(y + j - radius, 0, from.height - 1)));
    sort(values);
    PF_UNROLL
    for (int j = 0; j < Side; ++j) sorted[j][row][lane + i * lanes] = values[j];
  }
  __syncwarp();
  const int column0 = PixelsEach * lane, x = x0 + column0;
  if (column0 >= width || x >= to.width || y >= to.height) return;
  float column[Side + PixelsEach - 1][Side];
  PF_UNROLL
  for (int j = 0; j < Side; ++j) {
    if constexpr (PixelsEach == 1) {
      PF_UNROLL
      for (int i = 0; i < Side; ++i) column[i][j] = sorted[j][row][lane + i];
    } else {
      PF_UNROLL
      for (int i = 0; i < Side + 1; i += 2) {
        const float2 two = *reinterpret_cast<const float2*>(&sorted[j][row][column0 + i]);
        column[i][j] = two.x;
        column[i + 1][j] = two.y;
      }
    }
  }
  float medians[PixelsEach];
  if constexpr (Side == 3) {
    PF_UNROLL
    for (int i = 0; i < PixelsEach; ++i)
      medians[i] = median_of_columns(column[i], column[i + 1], column[i + 2]);
  } else {
    float a[10], b[10], middle[6];
    merge(column[1], column[2], a);
    merge(column[3], column[4], b);
    middle_of_pairs(a, b, middle);
    medians[0] = median_with_column(middle, column[0]);
    if constexpr (PixelsEach == 2) medians[1] = median_with_column(middle, column[5]);
  }
  PF_UNROLL
  for (int i = 0; i < PixelsEach; ++i)
    if (x + i < to.width) to(x + i, y) = medians[i];
}

template <int Side, int PixelsEach>
void launch_median(Cuda& cuda, const View<float>* in, const View<float>* out, int count) {
  constexpr int width = lanes * PixelsEach - (Side - 1);
  const int last = count - 1;
  const dim3 grid(blocks_for(in[0].width, width), blocks_for(in[0].height, rows), unsigned(count));
  cuda.launch(median_kernel<Side, PixelsEach>, grid, dim3(lanes, rows), 0, in[0], in[last], out[0],
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
