// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/arithmetic.hpp"
#include "core/backend_interface.hpp"
#include "core/cpu/instruction_set.hpp"
#include "core/cpu/threads.hpp"
#include "core/step.hpp"
#include "parafield/device.hpp"

namespace parafield {

/// Rows of a loop that one thread computes in one call.
struct RowRange {
  int begin, end;  ///< rows `begin` to `end` - 1
  /// Whether this thread's last call in the same loop was for the rows just above. If so, its scratch memory
  /// still holds what that call left there.
  bool continues;

  /// First row that this call still needs to compute if its rows depend on rows up to `reach` above and below
  /// them. Earlier rows are already in the thread's scratch memory.
  PF_HD int first_new(int reach, int height) const {
    return continues ? smaller(begin + reach, height) : larger(begin - reach, 0);
  }
};

/// The CPU backend. Each cpu.cpp is compiled once for each instruction set and names its own backend `Cpu`.
/// No two of these objects may share a symbol: therefore they must define only steps for their own `Cpu` and
/// functions in an unnamed namespace, and must not use std containers.
template <InstructionSet Set>
class CpuBackend {
 public:
  static constexpr bool is_gpu = false;
  static constexpr InstructionSet instruction_set = Set;

  CpuBackend(const Device& device, Stream, bool throughput = false);
  ~CpuBackend();
  CpuBackend(const CpuBackend&) = delete;
  CpuBackend& operator=(const CpuBackend&) = delete;

  Memory memory() const { return Memory::host(); }
  Stream stream() const { return {}; }
  /// Does nothing here. On CUDA, the device is the thread's current one while the result lives.
  struct Active {
    ~Active() {}
  };
  Active activate() const { return {}; }
  void synchronize() const {}
  /// From now on, steps throw Error(cancelled) once the flag is true. The flag must outlive all steps.
  void cancelled_by(const std::atomic<bool>& flag) { cancelled_ = &flag; }
  /// Copies rows of bytes; returns when the copy is complete. All queues are the same here.
  void copy(void* to, std::ptrdiff_t to_pitch, const void* from, std::ptrdiff_t from_pitch,
            std::ptrdiff_t row_bytes, int height, Queue queue = Queue::solves) const;
  void mark(int /*mark*/, Queue) const {}
  void begin_after(int /*mark*/, Queue) const {}
  void await(int /*mark*/) const {}
  std::size_t scratch_bytes() const { return scratch_bytes_ * std::size_t(thread_count_); }

  /// Ensures that each thread of `few_rows`, `parts` and `bands` has at least `bytes` of scratch memory,
  /// aligned to 64 bytes. Must not be called during a solve.
  void reserve_scratch(std::size_t bytes);

  std::size_t free_memory() const;  ///< currently unused memory, bytes
  /// Largest amount of memory that a solve may plan with: all memory of the machine, bytes, because the
  /// system can move other memory to swap.
  std::size_t usable_memory() const;

  /// Runs the steps of a solve. On CUDA, they are recorded once for each key and then replayed.
  template <class Steps>
  void replay(const ReplayKey&, Steps steps) {
    steps();
  }

  /// Runs two groups of steps. Neither may read what the other writes: on CUDA they run concurrently.
  template <class Aside, class Steps>
  void beside(Aside aside, Steps steps) const {
    aside();
    steps();
  }

  /// Runs decide(condition), which sets *value, and then runs the steps if *value is not 0.
  template <class Decide, class Steps>
  void only_if(int* value, Decide decide, Steps steps) const {
    decide(Condition{value});
    if (*value != 0) steps();
  }

  /// Calls (*callback)(share). On CUDA, the call happens when the preceding steps have run.
  template <class Callback>
  void notify(const Callback& callback, double share) const {
    (*callback)(share);
  }

  /// Calls f(y) for each row, on all threads.
  template <class RowFunction>
  void rows(int height, RowFunction f) const {
    const int unit = rows_of_unit(height);
    share(parts_of(height, unit), [=](int part, int) {
      const int end = smaller(unit * (part + 1), height);
      for (int y = unit * part; y < end; ++y) f(y);
    });
  }

  /// Calls f(x, y) for each pixel of an image, or for each cell of a grid, on all threads.
  template <class PixelFunction>
  void pixels(Size size, PixelFunction f) const {
    rows(size.height, [=](int y) {
      for (int x = 0; x < size.width; ++x) f(x, y);
    });
  }

  /// Calls f(rows, scratch) for ranges of at least 1 row, mostly 1 to 8. `scratch` is the calling thread's
  /// own memory.
  template <class RowsFunction>
  void few_rows(int height, RowsFunction f) const {
    few_rows(height, most_rows_of_unit, f);
  }
  /// The same for ranges of mostly 1 to `most` rows, at most 8. It is for expensive rows, such as rows of
  /// cells, which the threads could not share evenly in larger parts.
  template <class RowsFunction>
  void few_rows(int height, int most, RowsFunction f) const {
    const int unit = rows_of_unit(height, most);
    char* const scratch = scratch_;
    const std::size_t bytes = scratch_bytes_;
    LastPart* const last = last_parts_.get();
    const std::uint64_t loop = ++loops_;
    share(parts_of(height, unit), [=](int part, int thread) {
      const bool continues = last[thread].loop == loop && last[thread].part == part - 1;
      last[thread] = {loop, part};
      f(RowRange{unit * part, smaller(unit * (part + 1), height), continues},
        scratch + bytes * std::size_t(thread));
    });
  }

  /// Calls f(part, scratch) for parts 0 to count - 1, on all threads.
  template <class PartFunction>
  void parts(int count, PartFunction f) const {
    char* const scratch = scratch_;
    const std::size_t bytes = scratch_bytes_;
    share(count, [=](int part, int thread) { f(part, scratch + bytes * std::size_t(thread)); });
  }

  int threads() const { return thread_count_; }
  /// Number of bands of at most `most` rows, the same number for each thread.
  int band_count(int height, int most) const {
    return smaller(height, (1 + (height - 1) / most / thread_count_) * thread_count_);
  }
  /// First row of a band.
  static int band_begin(int height, int count, int band) { return int((long long)height * band / count); }

  /// Calls f(rows, scratch) for bands of rows, one for each thread. It is for work with a high cost before
  /// its first row.
  template <class RowsFunction>
  void bands(int height, RowsFunction f) const {
    bands(height, height, f);
  }
  /// The same for bands of at most `most` rows, the same number for each thread.
  template <class RowsFunction>
  void bands(int height, int most, RowsFunction f) const {
    const int count = band_count(height, most);
    parts(count, [=](int band, char* scratch) {
      f(RowRange{band_begin(height, count, band), band_begin(height, count, band + 1), false}, scratch);
    });
  }

 private:
  static constexpr int most_rows_of_unit = 8;
  /// Number of rows in a part: 1, 2, 4 or 8, because cells of some methods have 8 rows. Very high planes get
  /// more, to stay within most_parts. It depends only on the height, `most` and the number of threads, so a
  /// thread has nearly the same rows in every loop over planes of one height, and they stay in its cache.
  int rows_of_unit(int height, int most = most_rows_of_unit) const {
    int unit = 1;
    while (unit < most && 2 * unit * 3 * thread_count_ <= height) unit *= 2;
    return larger(unit, parts_of(height, Threads::most_parts));
  }
  static int parts_of(int height, int unit) { return (height + unit - 1) / unit; }

  /// Calls f(part, thread) for each part, on all threads.
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

  /// The last part that a thread took in `few_rows`, and that loop's number.
  struct alignas(64) LastPart {
    std::uint64_t loop = 0;
    int part = 0;
  };

  int thread_count_;
  std::unique_ptr<LastPart[]> last_parts_;
  Threads* threads_;
  const std::atomic<bool>* cancelled_ = nullptr;
  char* scratch_ = nullptr;
  std::size_t scratch_bytes_ = 0;
  mutable std::uint64_t loops_ = 0;
};

/// The instruction set that a backend's loops are compiled for, according to the compiler's own macros.
template <class Backend>
InstructionSet compiled_for(const Backend& cpu);

#ifdef PF_TARGET
using Cpu = CpuBackend<InstructionSet::PF_TARGET>;
#endif

}  // namespace parafield
