// SPDX-License-Identifier: MIT
#pragma once
#include "core/cpu/backend.hpp"
#ifdef PARAFIELD_HAS_CUDA
#include "core/cuda/backend.hpp"
#endif
#include "core/cuda/runtime.hpp"
#include "core/fail.hpp"

namespace parafield {

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
#ifdef PARAFIELD_DISPATCH
  switch (instruction_set()) {
    case InstructionSet::v4:
      return f.template operator()<CpuBackend<InstructionSet::v4>>();
    case InstructionSet::v3:
      return f.template operator()<CpuBackend<InstructionSet::v3>>();
    default:
      return f.template operator()<CpuBackend<InstructionSet::v2>>();
  }
#else
  instruction_set();  // throws if another one is forced
  return f.template operator()<CpuBackend<InstructionSet::baseline>>();
#endif
}

}  // namespace parafield
