// SPDX-License-Identifier: MIT
#pragma once
#include <cuda_runtime_api.h>

#include "core/fail.hpp"

namespace parafield::cuda {

/// Throws an Error that names the call if it failed. Every CUDA call whose failure matters goes through here.
inline void check(cudaError_t result, const char* call) {
  if (result == cudaSuccess) return;
  cudaGetLastError();  // clears the error, so that a later call does not report it again
  fail(result == cudaErrorMemoryAllocation ? ErrorCode::memory : ErrorCode::device, call, ": ",
       cudaGetErrorString(result));
}

/// Makes a device the thread's current one until the end of the scope. Meanwhile the thread's calls neither
/// fail because of a stream capture elsewhere in the program nor invalidate it.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    check(cudaSetDevice(device), "cudaSetDevice");
    cudaThreadExchangeStreamCaptureMode(&mode_);
  }
  ~CurrentDevice() {
    cudaThreadExchangeStreamCaptureMode(&mode_);
    cudaSetDevice(before_);
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

}  // namespace parafield::cuda

#define PF_CUDA(call) ::parafield::cuda::check(call, #call)
