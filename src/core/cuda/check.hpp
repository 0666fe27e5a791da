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

/// Makes a device the thread's current one until the end of the scope.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    check(cudaSetDevice(device), "cudaSetDevice");
  }
  ~CurrentDevice() { cudaSetDevice(before_); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  int before_ = 0;
};

}  // namespace parafield::cuda

#define PF_CUDA(call) ::parafield::cuda::check(call, #call)
