// SPDX-License-Identifier: MIT
#pragma once
// Counts every allocation of the program. Replaces operator new: in one file of a program only.
#include <atomic>
#include <cstdlib>
#include <new>

namespace parafield::test {
inline std::atomic<long> allocations = 0;
}

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++parafield::test::allocations;
  if (void* data = std::malloc(bytes ? bytes : 1)) return data;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* data) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete(void* data, std::size_t) noexcept { std::free(data); }
