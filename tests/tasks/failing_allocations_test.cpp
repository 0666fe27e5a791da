// SPDX-License-Identifier: MIT
// Each allocation of an estimator's life fails once: of the standard library, of host memory and of CUDA.
// Every time there is an Error, nothing is lost, and the next estimator works. The linker sends the library's
// calls of the allocating functions here (--wrap, see CMakeLists.txt).
#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>

#include "tasks/any_case.hpp"
#include "tasks/on_device.hpp"
#ifdef PARAFIELD_HAS_CUDA
#include <cuda_runtime_api.h>
#endif

namespace {

std::atomic<long> until_failure = -1;  // allocations that succeed before one fails; < 0 = none fails
std::atomic<long> held = 0;            // allocations of the C++ library that are not freed
std::array<void*, 4096> blocks{};      // of host memory and of CUDA that are not freed
std::mutex blocks_mutex;

bool fails() { return until_failure >= 0 && until_failure-- == 0; }

void* kept(void* data) {
  const std::lock_guard lock(blocks_mutex);
  for (void*& block : blocks)
    if (!block) return block = data;
  std::abort();
}
void forget(void* data) {
  const std::lock_guard lock(blocks_mutex);
  for (void*& block : blocks)
    if (block == data) block = nullptr;
}
long blocks_held() {
  const std::lock_guard lock(blocks_mutex);
  long count = 0;
  for (void* const block : blocks) count += block != nullptr;
  return count;
}

}  // namespace

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  void* const data = fails() ? nullptr : std::malloc(bytes ? bytes : 1);
  if (!data) throw std::bad_alloc();
  ++held;
  return data;
}
[[gnu::noinline]] void operator delete(void* data) noexcept {
  if (data) --held;
  std::free(data);
}
[[gnu::noinline]] void operator delete(void* data, std::size_t) noexcept { operator delete(data); }

extern "C" {
void* __real_aligned_alloc(std::size_t alignment, std::size_t bytes);
void __real_free(void* data);
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return fails() ? nullptr : kept(__real_aligned_alloc(alignment, bytes));
}
void __wrap_free(void* data) {
  if (data) forget(data);
  __real_free(data);
}
#ifdef PARAFIELD_HAS_CUDA
cudaError_t __real_cudaMallocAsync(void** data, std::size_t bytes, cudaStream_t stream);
cudaError_t __real_cudaFreeAsync(void* data, cudaStream_t stream);
cudaError_t __real_cudaHostAlloc(void** data, std::size_t bytes, unsigned flags);
cudaError_t __wrap_cudaMallocAsync(void** data, std::size_t bytes, cudaStream_t stream) {
  if (fails()) return cudaErrorMemoryAllocation;
  const cudaError_t result = __real_cudaMallocAsync(data, bytes, stream);
  if (result == cudaSuccess) kept(*data);
  return result;
}
cudaError_t __wrap_cudaFreeAsync(void* data, cudaStream_t stream) {
  forget(data);
  return __real_cudaFreeAsync(data, stream);
}
cudaError_t __wrap_cudaHostAlloc(void** data, std::size_t bytes, unsigned flags) {
  return fails() ? cudaErrorMemoryAllocation : __real_cudaHostAlloc(data, bytes, flags);
}
#endif
}

namespace parafield {
namespace {

class FailingAllocationsOn : public OnDevice {
 protected:
  /// Makes an estimator, calls it and pushes frames. Returns a hash of the results.
  template <class Task>
  std::uint64_t life(const typename Task::Method& method, const std::vector<Frame>& frames) const {
    typename Task::Options options;
    options.device = device();
    Estimator<Task> estimator(method, frames[0].size(), options);
    std::uint64_t hash = hash_of(estimator(frames[0], frames[1]));
    if constexpr (Task::streams)
      for (const Frame& frame : frames)
        if (const auto* result = estimator.push(frame)) hash = hash_of(*result, hash);
    if constexpr (Task::pairs)
      for (std::size_t i = 1; i < frames.size(); ++i)
        hash = hash_of(estimator.push(frames[i - 1], frames[i]), hash);
    return hash;
  }

  template <class Task>
  void expect_errors(const typename Task::Method& method) const {
    const Scene scene = render_scene("translation", {.size = {40, 30}, .frames = 3});
    const std::vector<Frame> frames(scene.frames.begin(), scene.frames.end());
    const std::uint64_t expected = life<Task>(method, frames);  // kernels are loaded, streams are kept
    const long held_before = held, blocks_before = blocks_held();
    int failures = 0;
    for (long n = 0;; ++n) {
      ErrorCode code = ErrorCode::memory;
      until_failure = n;
      try {
        life<Task>(method, frames);
      } catch (const Error& error) {
        code = error.code();
      }
      const bool failed = until_failure.exchange(-1) < 0;
      ASSERT_EQ(code, ErrorCode::memory) << "allocation " << n;
      ASSERT_EQ(held, held_before) << "allocation " << n;
      ASSERT_EQ(blocks_held(), blocks_before) << "allocation " << n;
      if (!failed) break;
      ++failures;
      ASSERT_EQ(life<Task>(method, frames), expected) << "after allocation " << n;
    }
    EXPECT_GT(failures, 20);
  }
};

TEST_P(FailingAllocationsOn, Flow) { expect_errors<Flow>(AdaptiveRidge{}); }
TEST_P(FailingAllocationsOn, FlowOfFeatures) {
  expect_errors<Flow>(MultiHypothesis{.tracking = {.max_features = 50}});
}
TEST_P(FailingAllocationsOn, Stereo) {
  expect_errors<Stereo>(BeliefPropagation<StereoEnergy>{.energy = {.disparities = 8}});
}
TEST_P(FailingAllocationsOn, Detection) { expect_errors<Detection>(Icm<ChangeEnergy>{}); }

INSTANTIATE_TEST_SUITE_P(Devices, FailingAllocationsOn, every_device(), device_name);

}  // namespace
}  // namespace parafield
