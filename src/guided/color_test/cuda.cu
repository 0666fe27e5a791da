#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "guided/color_test/window.cuh"

namespace parafield {
namespace {

constexpr int lanes = 32, rows = 4;

__global__ void __launch_bounds__(lanes* rows) color_test_kernel(ColorTest test, FlowPlanes flow) {
  begin_kernel();
  const int x = int(blockIdx.x) * lanes + int(threadIdx.x), y = int(blockIdx.y) * rows + int(threadIdx.y);
  if (x >= test.valid.width || y >= test.valid.height) return;
  Motion motion{flow.u(x, y), flow.v(x, y)};
  test.valid(x, y) = passes_test(test, x, y, motion);
  flow.u(x, y) = motion.u;
  flow.v(x, y) = motion.v;
}

}  // namespace

template <>
void test_colors(Cuda& cuda, const ColorTest& test, FlowPlanes flow) {
  cuda.launch(color_test_kernel,
              dim3(blocks_for(test.valid.width, lanes), blocks_for(test.valid.height, rows)),
              dim3(lanes, rows), 0, test, flow);
}

}  // namespace parafield
