#pragma once
#include <cuda_runtime_api.h>

#include "core/fail.hpp"

namespace parafield::cuda {

/// Every CUDA call goes through here: a failure is an Error that names the call.
inline void check(cudaError_t result, const char* call) {
  if (result == cudaSuccess) return;
  cudaGetLastError();  // so that a failure that can be recovered from is not reported again
  fail(result == cudaErrorMemoryAllocation ? ErrorCode::memory : ErrorCode::device, call, ": ",
       cudaGetErrorString(result));
}

}  // namespace parafield::cuda

#define PF_CUDA(call) ::parafield::cuda::check(call, #call)
