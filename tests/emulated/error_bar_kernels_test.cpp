// SPDX-License-Identifier: MIT
// The CUDA kernels of error bars, run by emulated threads: they give the bits of the CPU's steps.
#include "emulated/emulated_cuda.hpp"
#include "steps/error_bars_on.hpp"

namespace parafield {
namespace {

TEST(EmulatedErrorBarKernels, GiveTheBitsOfTheCpu) {
  unsigned seed = 0;
  for (const Size size : {Size{1, 1}, Size{31, 9}, Size{32, 16}, Size{33, 17}, Size{70, 35}, Size{150, 20}})
    for (const ThreadOrder order : {ThreadOrder::forward, ThreadOrder::backward, ThreadOrder::random}) {
      ++seed;
      EmulatedCuda emulated(order);
      const FlowBarsCase flow(size, seed, seed % 3 ? 0.2f : 5.0f, seed % 2);
      EXPECT_TRUE(flow_bars_with(emulated, flow) == bars_on(reference_target(), flow))
          << size.width << "x" << size.height;
      const DisparityBarsCase disparities(size, seed, 0.4f);
      EXPECT_TRUE(disparity_bars_with(emulated, disparities) == bars_on(reference_target(), disparities))
          << size.width << "x" << size.height;
    }
}

}  // namespace
}  // namespace parafield
