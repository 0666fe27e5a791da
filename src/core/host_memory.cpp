// SPDX-License-Identifier: MIT
#include "core/host_memory.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

// The address sanitizer only checks blocks from malloc.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PF_WATCHED
#endif
#endif
#if defined(MADV_HUGEPAGE) && !defined(__SANITIZE_ADDRESS__) && !defined(PF_WATCHED)
#define PF_MAPS
#endif

namespace parafield {
namespace {

constexpr std::size_t rounded_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

#ifdef PF_MAPS

constexpr std::size_t huge_page = std::size_t(2) << 20;

/// Whether a block is mapped directly from the system.
bool is_mapped(std::size_t bytes) { return bytes >= huge_page - huge_page / 4; }

/// Bytes at the beginning of a block that get huge pages. The last page is huge too if the block fills three
/// quarters of it.
std::size_t huge_bytes(std::size_t bytes) { return (bytes + huge_page / 4) / huge_page * huge_page; }

/// Total bytes of a block's pages.
std::size_t mapped_bytes(std::size_t bytes) {
  return std::max(rounded_up(bytes, std::size_t(sysconf(_SC_PAGESIZE))), huge_bytes(bytes));
}

/// Maps a block that begins on a huge page boundary.
void* map(std::size_t bytes) {
  const std::size_t wanted = mapped_bytes(bytes), taken = wanted + huge_page;
  void* const all = mmap(nullptr, taken, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  char* const begin = static_cast<char*>(all);
  const std::size_t before =
      rounded_up(reinterpret_cast<std::uintptr_t>(all), huge_page) - reinterpret_cast<std::uintptr_t>(all);
  char* const data = begin + before;
  if (before > 0) munmap(begin, before);
  munmap(data + wanted, taken - before - wanted);
  madvise(data, huge_bytes(bytes), MADV_HUGEPAGE);  // may fail; then the pages stay small
  return data;
}

#endif

}  // namespace

void* allocate_host(std::size_t bytes) {
  if (bytes > std::numeric_limits<std::size_t>::max() / 2) return nullptr;
#ifdef PF_MAPS
  if (is_mapped(bytes)) return map(bytes);
#endif
  constexpr std::size_t alignment = 64;
  void* const data = std::aligned_alloc(alignment, rounded_up(bytes, alignment));
  if (data) std::memset(data, 0, bytes);
  return data;
}

void release_host(void* data, [[maybe_unused]] std::size_t bytes) {
  if (!data) return;
#ifdef PF_MAPS
  if (is_mapped(bytes)) return void(munmap(data, mapped_bytes(bytes)));
#endif
  std::free(data);
}

}  // namespace parafield
