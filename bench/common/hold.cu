// SPDX-License-Identifier: MIT
#include "common/launch.cuh"

namespace parafield::bench {
namespace {

__device__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

__global__ void hold_kernel(unsigned long long duration) {
  const unsigned long long begin = nanoseconds();
  while (nanoseconds() - begin < duration) __nanosleep(500);
}

}  // namespace

void hold(cudaStream_t stream, double microseconds) {
  launch(hold_kernel, dim3(1), dim3(1), 0, stream, (unsigned long long)(microseconds * 1000));
}

}  // namespace parafield::bench
