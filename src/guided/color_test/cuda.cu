// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "guided/color_test/keep_better.hpp"
#include "guided/color_test/window.cuh"

namespace parafield {
namespace {

constexpr int lanes = 32, rows = 4, keep_rows = 8;

__global__ void __launch_bounds__(lanes* rows) color_test_kernel(ColorTest test, FlowPlanes flow) {
  begin_kernel();
  const int x = int(blockIdx.x) * lanes + int(threadIdx.x), y = int(blockIdx.y) * rows + int(threadIdx.y);
  if (x >= test.valid.width || y >= test.valid.height) return;
  Motion motion{flow.u(x, y), flow.v(x, y)};
  test.valid(x, y) = passes_test(test, x, y, motion);
  flow.u(x, y) = motion.u;
  flow.v(x, y) = motion.v;
}

__global__ void gain_kernel(View<const float> frame0, View<const float> frame1, FlowPlanes candidate,
                            FlowPlanes flow, View<float> gain) {
  begin_kernel();
  const int x = int(blockIdx.x) * lanes + int(threadIdx.x),
            y = int(blockIdx.y) * keep_rows + int(threadIdx.y);
  if (x >= gain.width || y >= gain.height) return;
  gain(x, y) = gain_of(frame0(x, y), frame1.data, int(frame1.stride()), gain.width, gain.height, float(x),
                       float(y), {flow.u(x, y), flow.v(x, y)}, {candidate.u(x, y), candidate.v(x, y)});
}

__global__ void keep_kernel(FlowPlanes candidate, View<const float> gain, FlowPlanes flow) {
  begin_kernel();
  const int x = int(blockIdx.x) * lanes + int(threadIdx.x),
            y = int(blockIdx.y) * keep_rows + int(threadIdx.y);
  if (x >= gain.width || y >= gain.height) return;
  float sum = 0;
  for (int row = larger(y - better_reach, 0); row <= smaller(y + better_reach, gain.height - 1); ++row)
    for (int column = larger(x - better_reach, 0); column <= smaller(x + better_reach, gain.width - 1);
         ++column)
      sum += gain(column, row);
  if (!(sum > 0)) return;
  flow.u(x, y) = candidate.u(x, y);
  flow.v(x, y) = candidate.v(x, y);
}

}  // namespace

template <class Backend>
void test_colors(Backend& cuda, const ColorTest& test, FlowPlanes flow) {
  cuda.launch(color_test_kernel,
              dim3(blocks_for(test.valid.width, lanes), blocks_for(test.valid.height, rows)),
              dim3(lanes, rows), 0, test, flow);
}

template <class Backend>
void keep_better(Backend& cuda, View<const float> frame0, View<const float> frame1, FlowPlanes candidate,
                 View<float> gain, FlowPlanes flow) {
  const dim3 block(lanes, keep_rows), grid(blocks_for(gain.width, lanes), blocks_for(gain.height, keep_rows));
  cuda.launch(gain_kernel, grid, block, 0, frame0, frame1, candidate, flow, gain);
  cuda.launch(keep_kernel, grid, block, 0, candidate, gain, flow);
}

PF_STEP(test_colors<Cuda>);
PF_STEP(keep_better<Cuda>);

}  // namespace parafield
