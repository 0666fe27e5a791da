#pragma once

namespace parafield {

/// The first line of every kernel. A kernel is launched before the one ahead of it has ended, which hides the launch;
/// here it allows the same to the next one, and waits until everything that it may read has been written.
/// (Programmatic dependent launch; older cards launch one after the other and need nothing.)
__device__ __forceinline__ void begin_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

}  // namespace parafield
