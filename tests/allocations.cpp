// SPDX-License-Identifier: MIT
#include "allocations.hpp"

#include <cstdlib>
#include <new>

std::atomic<long> parafield::test::allocations = 0;

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++parafield::test::allocations;
  if (void* data = std::malloc(bytes ? bytes : 1)) return data;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* data) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete(void* data, std::size_t) noexcept { std::free(data); }
