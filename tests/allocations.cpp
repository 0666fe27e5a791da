// SPDX-License-Identifier: MIT
#include "allocations.hpp"

#include <cstdlib>
#include <new>

std::atomic<long> parafield::test::allocations = 0;

#ifdef PARAFIELD_SANITIZED
#include <sanitizer/allocator_interface.h>

// The sanitizer's own operator new stays, because it checks that each delete matches its new.
[[maybe_unused]] static const int installed = __sanitizer_install_malloc_and_free_hooks(
    [](const volatile void*, std::size_t) { ++parafield::test::allocations; }, [](const volatile void*) {});

#else

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  ++parafield::test::allocations;
  if (void* data = std::malloc(bytes ? bytes : 1)) return data;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* data) noexcept { std::free(data); }
[[gnu::noinline]] void operator delete(void* data, std::size_t) noexcept { std::free(data); }

#endif
