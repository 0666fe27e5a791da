// SPDX-License-Identifier: MIT
#include "core/host_memory.hpp"

#include <cstdlib>
#include <limits>
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace parafield {

void* allocate_host(std::size_t bytes) {
  constexpr std::size_t huge_page = std::size_t(2) << 20;
  if (bytes > std::numeric_limits<std::size_t>::max() - huge_page) return nullptr;
  // The last page is a huge one, too, if the block needs three quarters of it.
  const std::size_t huge_bytes = (bytes + huge_page / 4) / huge_page * huge_page;
  const std::size_t alignment = huge_bytes > 0 ? huge_page : 64;
  void* const data = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
#ifdef MADV_HUGEPAGE
  // The advice may fail; then pages are small.
  if (data && huge_bytes > 0) madvise(data, huge_bytes, MADV_HUGEPAGE);
#endif
  return data;
}

}  // namespace parafield
