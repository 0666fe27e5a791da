// SPDX-License-Identifier: MIT
#pragma once
#include <cuda_runtime.h>

#include "core/condition.hpp"

namespace parafield {

// A kernel is launched before the one ahead of it has ended, which hides the launch. (Programmatic dependent launch; older
// cards launch one after the other and need nothing.)

/// Allows the next kernel's launch.
__device__ __forceinline__ void launch_next() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits until everything that the kernel may read has been written.
__device__ __forceinline__ void await_last() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// The first line of every kernel, or both by themselves where there is something to do between them. A kernel ahead of one whose
/// blocks all find room at once only waits: launched early, those would crowd on the multiprocessors that it leaves free.
__device__ __forceinline__ void begin_kernel() {
  launch_next();
  await_last();
}

/// Says whether the steps of a condition run; for one thread.
__device__ __forceinline__ void decide(const Condition& condition, bool runs) {
  *condition.value = runs;
#if CUDART_VERSION >= 12040
  if (condition.handle) cudaGraphSetConditional(condition.handle, runs);
#endif
}

/// The block's memory whose size the launch gives.
template <class T>
__device__ __forceinline__ T* dynamic_shared() {
  extern __shared__ float4 storage[];
  return reinterpret_cast<T*>(storage);
}

/// 2^x as the device has it, to about 2 units in the last place.
__device__ __forceinline__ float device_exponential2(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

}  // namespace parafield
