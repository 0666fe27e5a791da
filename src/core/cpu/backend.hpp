#pragma once
#include <atomic>
#include <cstddef>

#include "core/cpu/instruction_set.hpp"
#include "core/cpu/threads.hpp"
#include "parafield/device.hpp"

namespace parafield {

/// The CPU backend. Each cpu.cpp is compiled once for each instruction set and names its own backend `Cpu`.
/// So that no two of these objects share a symbol, they define only specializations for their own `Cpu` and
/// functions of an unnamed namespace, and use no std containers.
template <InstructionSet Set>
class CpuBackend {
 public:
  static constexpr bool is_gpu = false;
  static constexpr InstructionSet instruction_set = Set;

  CpuBackend(const Device& device, Stream);
  ~CpuBackend();
  CpuBackend(const CpuBackend&) = delete;
  CpuBackend& operator=(const CpuBackend&) = delete;

  Memory memory() const { return Memory::host(); }
  Stream stream() const { return {}; }
  /// On CUDA: the device is the thread's current one as long as the result lives.
  struct Active {
    ~Active() {}
  };
  Active activate() const { return {}; }
  void synchronize() const {}
  /// From now on a step throws Error(cancelled) once the flag is true.
  void cancelled_by(const std::atomic<bool>& flag) { cancelled_ = &flag; }
  /// Rows of bytes.
  void copy(void* to, std::ptrdiff_t to_pitch, const void* from, std::ptrdiff_t from_pitch,
            std::ptrdiff_t row_bytes, int height) const;
  std::size_t scratch_bytes() const { return scratch_bytes_ * std::size_t(thread_count_); }

  /// Makes sure of that many bytes of scratch memory for each thread of `bands`, aligned to 64. Not during a
  /// solve.
  void reserve_scratch(std::size_t bytes);

  std::size_t available_memory() const;  ///< in bytes: all that the machine has

  /// Runs the steps of a solve. (On CUDA they are recorded once for each key and replayed.)
  template <class Steps>
  void replay(int, Steps steps) {
    steps();
  }

  /// (*callback)(share). (On CUDA once the steps before have run.)
  template <class Callback>
  void notify(const Callback& callback, double share) const {
    (*callback)(share);
  }

  /// f(y) for each row.
  template <class RowFunction>
  void rows(int height, RowFunction f) const {
    const int parts = height < 4 * threads() ? height : 4 * threads();
    share(parts, [=](int part, int) {
      const int end = int((long long)height * (part + 1) / parts);
      for (int y = int((long long)height * part / parts); y < end; ++y) f(y);
    });
  }

  /// f(y0, y1, scratch) for bands of rows, y0 < y1. A band begins with work of its own: there are few.
  template <class BandFunction>
  void bands(int height, BandFunction f) const {
    const int most = height / 64 < 2 * threads() ? threads() : 2 * threads();
    const int parts = height < most ? height : most;
    char* const scratch = scratch_;
    const std::size_t bytes = scratch_bytes_;
    share(parts, [=](int part, int thread) {
      f(int((long long)height * part / parts), int((long long)height * (part + 1) / parts),
        scratch + bytes * std::size_t(thread));
    });
  }

 private:
  int threads() const { return thread_count_; }

  /// f(part, thread) for each part, on the threads.
  template <class PartFunction>
  void share(int parts, const PartFunction& f) const {
    run_parts(
        parts,
        [](const void* data, int part, int thread) {
          (*static_cast<const PartFunction*>(data))(part, thread);
        },
        &f);
  }
  void run_parts(int parts, void (*part)(const void*, int, int), const void* data) const;

  int thread_count_;
  Threads* threads_;
  const std::atomic<bool>* cancelled_ = nullptr;
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
