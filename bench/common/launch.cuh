// SPDX-License-Identifier: MIT
#pragma once
#include "common/cuda.hpp"

/// Launching, for kernels of the studies.
namespace parafield::bench {

/// Launches a kernel. Throws Error(device).
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared_bytes,
            cudaStream_t stream, Arguments... arguments) {
  kernel<<<grid, block, shared_bytes, stream>>>(arguments...);
  check(cudaGetLastError(), "a launch");
}

/// Blocks that cover `count` with `size` each.
inline unsigned blocks_for(int count, int size) { return unsigned((count + size - 1) / size); }

/// Index i, limited to 0 to count - 1.
__device__ inline int clamped(int i, int count) { return i < 0 ? 0 : i < count ? i : count - 1; }

/// A block's dynamic shared memory.
template <class T>
__device__ T* shared_memory() {
  extern __shared__ __align__(16) unsigned char shared_bytes[];
  return reinterpret_cast<T*>(shared_bytes);
}

}  // namespace parafield::bench
