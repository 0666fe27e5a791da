// SPDX-License-Identifier: MIT
#pragma once
#include <cuda_runtime.h>

#include "core/backend_interface.hpp"

namespace parafield {

// The next kernel is launched before the current one has ended, which hides the launch latency (programmatic
// dependent launch). GPUs before compute capability 9.0 launch one kernel after the other, and these
// functions do nothing.

/// Allows the next kernel to launch. It launches once every block of this kernel has called this or ended.
__device__ __forceinline__ void launch_next() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits until all preceding kernels have ended and their writes are visible. Every kernel must call it,
/// because later kernels rely on it. Before the call, a kernel must not write anything that preceding kernels
/// use, and may read only data that was finished well before, such as the frames.
__device__ __forceinline__ void await_last() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// The first line of most kernels. A kernel with work to do before or between the two calls makes them
/// separately. If the next kernel's blocks all fit on the device at once, call only `await_last`: launched
/// early, they would crowd onto the SMs that this kernel leaves free.
__device__ __forceinline__ void begin_kernel() {
  launch_next();
  await_last();
}

/// Decides whether the steps of a condition run. One thread of the grid must call it.
__device__ __forceinline__ void decide(const Condition& condition, bool runs) {
  *condition.value = runs;
#if CUDART_VERSION >= 12040
  if (condition.handle) cudaGraphSetConditional(condition.handle, runs);
#endif
}

/// The block's dynamic shared memory; the launch gives its size.
template <class T>
__device__ __forceinline__ T* dynamic_shared() {
  extern __shared__ float4 storage[];
  return reinterpret_cast<T*>(storage);
}

/// 2^x in the hardware's approximation, accurate to about 2 units in the last place.
__device__ __forceinline__ float device_exponential2(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

}  // namespace parafield
