// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "core/arithmetic.hpp"
#include "core/cpu/instruction_set.hpp"
#include "core/cpu/threads.hpp"
#include "core/step.hpp"
#include "parafield/device.hpp"

namespace parafield {

/// Rows `begin` to `end` - 1 of a loop. `continues`: the thread has just done the rows above in the same loop,
/// and its scratch memory holds what that left.
struct RowRange {
  int begin, end;
  bool continues;

  /// First row that is still to be made, where those up to `reach` rows above and below are made too.
  PF_HD int first_new(int reach, int height) const {
    return continues ? smaller(begin + reach, height) : larger(begin - reach, 0);
  }
};

/// The CPU backend. Each cpu.cpp is compiled once for each instruction set and names its own backend `Cpu`.
/// So that no two of these objects share a symbol, they define only steps for their own `Cpu` and functions of
/// an unnamed namespace, and use no std containers.
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
    const int unit = rows_of_unit(height);
    share(parts_of(height, unit), [=](int part, int) {
      const int end = smaller(unit * (part + 1), height);
      for (int y = unit * part; y < end; ++y) f(y);
    });
  }

  /// f(rows, scratch) for each few neighboring rows. `scratch`: memory of the thread's own.
  template <class RowsFunction>
  void few_rows(int height, RowsFunction f) const {
    const int unit = rows_of_unit(height);
    char* const scratch = scratch_;
    const std::size_t bytes = scratch_bytes_;
    LastPart* const last = last_parts_;
    const std::uint64_t loop = ++loops_;
    share(parts_of(height, unit), [=](int part, int thread) {
      const bool continues = last[thread].loop == loop && last[thread].part == part - 1;
      last[thread] = {loop, part};
      f(RowRange{unit * part, smaller(unit * (part + 1), height), continues},
        scratch + bytes * std::size_t(thread));
    });
  }

  /// The same for bands of rows, one for each thread: for work that does much before the first row.
  template <class RowsFunction>
  void bands(int height, RowsFunction f) const {
    const int count = smaller(height, thread_count_);
    char* const scratch = scratch_;
    const std::size_t bytes = scratch_bytes_;
    share(count, [=](int part, int thread) {
      const auto begin = [=](int band) { return int((long long)height * band / count); };
      f(RowRange{begin(part), begin(part + 1), false}, scratch + bytes * std::size_t(thread));
    });
  }

 private:
  /// Rows that are not divided: 1, 2, 4 or 8, as a cell of some methods has 8, but more of very high planes.
  /// So a thread has nearly the same rows in every loop over planes of one height, and they stay in its cache.
  int rows_of_unit(int height) const {
    int unit = 1;
    while (unit < 8 && 2 * unit * 3 * thread_count_ <= height) unit *= 2;
    return larger(unit, height / (Threads::most_parts + 1) + 1);
  }
  static int parts_of(int height, int unit) { return (height + unit - 1) / unit; }

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
  /// What a thread did last in a loop of `few_rows`.
  struct alignas(64) LastPart {
    std::uint64_t loop = 0;
    int part = 0;
  };
  LastPart* last_parts_;
  mutable std::uint64_t loops_ = 0;
};

/// What the compiler of a backend's loops was told to use, as it says itself.
template <class Backend>
InstructionSet compiled_for(const Backend& cpu);

#ifdef PF_TARGET
using Cpu = CpuBackend<InstructionSet::PF_TARGET>;
#endif

}  // namespace parafield
