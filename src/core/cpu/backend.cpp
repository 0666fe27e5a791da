#include "core/cpu/backend.hpp"

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "core/fail.hpp"

namespace parafield {

template <InstructionSet Set>
CpuBackend<Set>::CpuBackend(const Device& device, Stream)
    : threads_(device.threads > 0 ? device.threads : int(std::max(1u, std::thread::hardware_concurrency()))) {
  if (device.threads < 0 || device.threads > 1024)
    fail(ErrorCode::invalid_argument, "threads cannot be ", device.threads,
         "; allowed: 0 (one for each core) to 1024");
#ifndef _OPENMP
  threads_ = 1;
#endif
}

template <InstructionSet Set>
CpuBackend<Set>::~CpuBackend() {
  std::free(scratch_);
}

template <InstructionSet Set>
void CpuBackend<Set>::reserve_scratch(std::size_t bytes) {
  bytes = (bytes + 63) / 64 * 64;
  if (bytes <= scratch_bytes_) return;
  std::free(scratch_);
  scratch_bytes_ = bytes;
  scratch_ = static_cast<char*>(std::aligned_alloc(64, bytes * std::size_t(threads_)));
  if (!scratch_)
    fail(ErrorCode::memory, "cannot allocate ", bytes, " bytes of scratch memory for each of ", threads_,
         " threads");
}

#if defined(__x86_64__)
template class CpuBackend<InstructionSet::v2>;
template class CpuBackend<InstructionSet::v3>;
template class CpuBackend<InstructionSet::v4>;
#else
template class CpuBackend<InstructionSet::baseline>;
#endif

}  // namespace parafield
