// SPDX-License-Identifier: MIT
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

/// Until the end of the scope a device is the thread's current one, and the thread's calls neither fail by nor
/// disturb a stream capture of the program.
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
