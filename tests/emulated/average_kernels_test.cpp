// SPDX-License-Identifier: MIT
// The CUDA kernels that average frames over time, run by emulated threads: they give the bits of the CPU's
// steps.
#include "emulated/emulated_cuda.hpp"
#include "steps/average_on.hpp"

namespace parafield {
namespace {

TEST(EmulatedAverageKernels, GiveTheBitsOfTheCpu) {
  unsigned seed = 0;
  for (const Size size : {Size{1, 1}, Size{31, 9}, Size{32, 8}, Size{70, 17}})
    for (const ThreadOrder order : {ThreadOrder::forward, ThreadOrder::random}) {
      const AverageCase c(size, ++seed);
      EmulatedCuda emulated(order);
      EXPECT_TRUE(averages_with(emulated, c) == averages_on(reference_target(), c, 1))
          << size.width << "x" << size.height;
    }
}

}  // namespace
}  // namespace parafield
