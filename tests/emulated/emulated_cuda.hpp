// SPDX-License-Identifier: MIT
#pragma once
#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>
#include <functional>

#include "core/backend_interface.hpp"
#include "parafield/device.hpp"

/// Backend that runs CUDA's kernels on the CPU, for tests where there is no GPU. Kernels are compiled as C++,
/// with shadow/ ahead of src. The threads of a block are fibers. Each runs up to its next synchronization, in
/// an order that the test chooses: if a synchronization is missing, some order gives other results.
namespace parafield {

enum class ThreadOrder { forward, backward, random };

class EmulatedCuda {
 public:
  static constexpr bool is_gpu = true;

  explicit EmulatedCuda(ThreadOrder order) : order_(order) {}

  Memory memory() const { return Memory::host(); }
  void synchronize() const {}
  void reserve_scratch(std::size_t) {}
  int multiprocessors() const { return 4; }
  void hold_next_for_throughput() {}
  void allow_shared_memory(const void*, std::size_t) {}
  void copy(void* to, std::ptrdiff_t to_pitch, const void* from, std::ptrdiff_t from_pitch,
            std::ptrdiff_t row_bytes, int height) const {
    for (int y = 0; y < height; ++y)
      std::memcpy(static_cast<char*>(to) + y * to_pitch, static_cast<const char*>(from) + y * from_pitch,
                  std::size_t(row_bytes));
  }
  template <class Steps>
  void replay(const ReplayKey&, Steps steps) {
    steps();
  }
  template <class... Parameters, class... Arguments>
  void launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t,
              const Arguments&... arguments) {
    run(grid, block, [&] { kernel(Parameters(arguments)...); });
  }
  template <class... Parameters, class... Arguments>
  void launch_input(void (*kernel)(Parameters...), dim3 grid, dim3 block, const Arguments&... arguments) {
    launch(kernel, grid, block, 0, arguments...);
  }

 private:
  void run(dim3 grid, dim3 block, const std::function<void()>& thread);

  ThreadOrder order_;
};

/// Functions that a thread of a kernel may call.
namespace emulated {

extern uint3 thread, block;
extern dim3 threads_of_block, blocks_of_grid;

void synchronize_block();
/// Synchronizes the block. Number of threads whose bit is set.
int synchronize_count(bool bit);
void synchronize_warp();
/// The value that another lane of the warp passes.
std::uint64_t exchange(std::uint64_t value, int lane);
/// Bits of the warp's lanes.
unsigned ballot(bool bit);
int lane();

}  // namespace emulated
}  // namespace parafield
