#pragma once
#include <cstddef>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "core/cpu/instruction_set.hpp"
#include "parafield/device.hpp"

namespace parafield {

/// The CPU backend. Each cpu.cpp is compiled once for each instruction set and names its own backend `Cpu`.
/// So that no two of these objects share a symbol, they define only specialisations for their own `Cpu` and
/// functions of an unnamed namespace, and use no std containers.
template <InstructionSet Set>
class CpuBackend {
 public:
  static constexpr InstructionSet instruction_set = Set;

  CpuBackend(const Device& device, Stream);
  ~CpuBackend();
  CpuBackend(const CpuBackend&) = delete;
  CpuBackend& operator=(const CpuBackend&) = delete;

  Memory memory() const { return Memory::host(); }
  Stream stream() const { return {}; }
  void synchronize() const {}
  std::size_t scratch_bytes() const { return scratch_bytes_ * std::size_t(threads_); }

  /// Makes sure of that many bytes of scratch memory for each thread of `bands`, aligned to 64. Not during a
  /// solve.
  void reserve_scratch(std::size_t bytes);

  /// Runs the steps of a solve. (On CUDA they are recorded once for each key and replayed.)
  template <class Steps>
  void replay(int, Steps steps) {
    steps();
  }

  /// f(y) for each row.
  template <class RowFunction>
  void rows(int height, RowFunction f) const {
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads_) schedule(static)
#endif
    for (int y = 0; y < height; ++y) f(y);
  }

  /// f(y0, y1, scratch) for each thread's share of the rows, y0 < y1.
  template <class BandFunction>
  void bands(int height, BandFunction f) const {
#ifdef _OPENMP
#pragma omp parallel num_threads(threads_)
    {
      const int band = omp_get_thread_num(), count = omp_get_num_threads();
      const int y0 = int((long long)height * band / count), y1 = int((long long)height * (band + 1) / count);
      if (y0 < y1) f(y0, y1, scratch_ + scratch_bytes_ * std::size_t(band));
    }
#else
    f(0, height, scratch_);
#endif
  }

 private:
  int threads_;
  char* scratch_ = nullptr;
  std::size_t scratch_bytes_ = 0;
};

/// What the compiler of a backend's loops was told to use, as it says itself.
template <class Backend>
InstructionSet compiled_for(const Backend& cpu);

#ifdef PF_TARGET
using Cpu = CpuBackend<InstructionSet::PF_TARGET>;
#endif

}  // namespace parafield
