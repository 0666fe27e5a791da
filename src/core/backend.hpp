// SPDX-License-Identifier: MIT
#pragma once
#include <iterator>

#include "core/cpu/backend.hpp"
#ifdef PARAFIELD_HAS_CUDA
#include "core/cuda/backend.hpp"
#endif
#include "core/cuda/runtime.hpp"
#include "core/fail.hpp"

namespace parafield {

/// Calls f.template operator()<Backend>() with the CPU backend of one of the sets that this build has.
template <int I = 0, class F>
decltype(auto) with_cpu_backend(InstructionSet set, F& f) {
  if constexpr (I + 1 < int(std::size(built_sets)))
    if (set != built_sets[I]) return with_cpu_backend<I + 1>(set, f);
  return f.template operator()<CpuBackend<built_sets[I]>>();
}

/// Calls f.template operator()<Backend>() with the backend type of a device. On the CPU, this is the backend
/// of the best (or forced) instruction set. Throws Error(device) if the device is missing.
template <class F>
decltype(auto) with_backend(const Device& device, F f) {
  if (device.kind == Device::Kind::cuda) {
    cuda::require(device.index);
#ifdef PARAFIELD_HAS_CUDA
    return f.template operator()<Cuda>();
#endif
  }
  return with_cpu_backend(instruction_set(), f);
}

}  // namespace parafield
