#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "guided/change/change.hpp"

namespace parafield {
namespace {

constexpr int lanes = 32, rows = 4;

__global__ void __launch_bounds__(lanes* rows)
    change_kernel(Colours frame0, Colours frame1, ChangeTest test, const Homography* turn, FlowPlanes flow,
                  View<std::uint8_t> valid) {
  begin_kernel();
  const int x = int(blockIdx.x) * lanes + int(threadIdx.x), y = int(blockIdx.y) * rows + int(threadIdx.y);
  if (x >= valid.width || y >= valid.height) return;
  const auto passes = [&](Motion motion) {
    return window_difference(frame0, frame1, test.window, x, y, motion) < test.threshold;
  };
  bool passed = passes({flow.u(x, y), flow.v(x, y)});
  if (turn && !passed) {
    const Motion motion = turn->flow(float(x), float(y));
    passed = passes(motion);
    if (passed) {
      flow.u(x, y) = motion.u;
      flow.v(x, y) = motion.v;
    }
  }
  valid(x, y) = passed;
}

}  // namespace

template <>
void test_change(Cuda& cuda, const Colours& frame0, const Colours& frame1, const ChangeTest& test,
                 const Homography* turn, FlowPlanes flow, View<std::uint8_t> valid) {
  cuda.launch(change_kernel, dim3(blocks_for(valid.width, lanes), blocks_for(valid.height, rows)),
              dim3(lanes, rows), 0, frame0, frame1, test, turn, flow, valid);
}

}  // namespace parafield
