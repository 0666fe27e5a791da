// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"

namespace parafield {

#if CUDART_VERSION >= 12040

namespace {

__global__ void set_condition_kernel(cudaGraphConditionalHandle handle, const int* condition) {
  begin_kernel();
  cudaGraphSetConditional(handle, *condition != 0);
}

}  // namespace

void Cuda::record_condition(unsigned long long handle, const int* condition) {
  launch(set_condition_kernel, dim3(1), dim3(1), 0, cudaGraphConditionalHandle(handle), condition);
}

#else

void Cuda::record_condition(unsigned long long, const int*) {}

#endif

}  // namespace parafield
