// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <thread>

#include "core/fail.hpp"
#include "core/host_memory.hpp"
#include "parafield/image.hpp"

namespace parafield {

/// The number after a word in a system file; without a word, the file's first one. None if it is not there.
static std::optional<std::size_t> number_in(const char* path, const std::string& word = "") {
  std::ifstream file(path);
  for (std::string each; word != "" && each != word;)
    if (!(file >> each)) return {};
  std::size_t number = 0;
  if (!(file >> number)) return {};
  return number;
}

static int checked_threads(int threads) {
  if (threads < 0 || threads > 1024)
    fail(ErrorCode::invalid_argument, "threads cannot be ", threads,
         "; allowed: 0 (one for each core) to 1024");
  return threads > 0 ? threads : int(std::max(1u, std::thread::hardware_concurrency()));
}

template <InstructionSet Set>
CpuBackend<Set>::CpuBackend(const Device& device, Stream, bool /*throughput*/)
    : thread_count_(checked_threads(device.threads)),
      last_parts_(new LastPart[std::size_t(thread_count_)]),
      threads_(new Threads(thread_count_)) {}

template <InstructionSet Set>
CpuBackend<Set>::~CpuBackend() {
  delete threads_;
  release_host(scratch_, scratch_bytes_ * std::size_t(thread_count_));
}

template <InstructionSet Set>
void CpuBackend<Set>::run_parts(int parts, void (*part)(const void*, int, int), const void* data) const {
  if (!cancelled_) return threads_->run(parts, part, data);
  fail_if_cancelled(*cancelled_);
  // The parts of a long loop that have not begun when the call is cancelled are left out.
  struct Parts {
    void (*part)(const void*, int, int);
    const void* data;
    const std::atomic<bool>* cancelled;
  } const all{part, data, cancelled_};
  const auto unless_cancelled = [](const void* of, int i, int thread) {
    const auto& [each, each_data, cancelled] = *static_cast<const Parts*>(of);
    if (!cancelled->load(std::memory_order_relaxed)) each(each_data, i, thread);
  };
  threads_->run(parts, unless_cancelled, &all);
  fail_if_cancelled(*cancelled_);
}

template <InstructionSet Set>
void CpuBackend<Set>::copy(void* to, std::ptrdiff_t to_pitch, const void* from, std::ptrdiff_t from_pitch,
                           std::ptrdiff_t row_bytes, int height, Queue) const {
  detail::copy(to, to_pitch, {}, from, from_pitch, {}, row_bytes, height);
}

template <InstructionSet Set>
void CpuBackend<Set>::reserve_scratch(std::size_t bytes) {
  bytes = (bytes + 63) / 64 * 64;
  if (bytes <= scratch_bytes_) return;
  release_host(scratch_, scratch_bytes_ * std::size_t(thread_count_));
  scratch_bytes_ = 0;
  scratch_ = static_cast<char*>(allocate_host(bytes * std::size_t(thread_count_)));
  if (!scratch_)
    fail(ErrorCode::memory, "cannot allocate ", bytes, " bytes of scratch memory for each of ", thread_count_,
         " threads");
  scratch_bytes_ = bytes;
}

template <InstructionSet Set>
std::size_t CpuBackend<Set>::usable_memory() const {
  return std::size_t(sysconf(_SC_PHYS_PAGES)) * std::size_t(sysconf(_SC_PAGESIZE));
}

template <InstructionSet Set>
std::size_t CpuBackend<Set>::free_memory() const {
  const auto kilobytes = number_in("/proc/meminfo", "MemAvailable:");
  const std::size_t here = kilobytes ? 1024 * *kilobytes : usable_memory();
  // A container may have less. Its limit counts the memory that its processes hold, but not cached files.
  const auto limit = number_in("/sys/fs/cgroup/memory.max");
  const auto held = number_in("/sys/fs/cgroup/memory.stat", "anon");
  if (!limit || !held) return here;
  return std::min(here, *limit > *held ? *limit - *held : 0);
}

#if !defined(PARAFIELD_DISPATCH)
template class CpuBackend<InstructionSet::baseline>;
#elif defined(__aarch64__)
template class CpuBackend<InstructionSet::neon>;
#else
template class CpuBackend<InstructionSet::v2>;
template class CpuBackend<InstructionSet::v3>;
template class CpuBackend<InstructionSet::v4>;
#endif

}  // namespace parafield
