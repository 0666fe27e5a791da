// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>

namespace parafield::test {
/// Every allocation of the program so far: allocations.cpp replaces operator new.
inline std::atomic<long> allocations = 0;
}  // namespace parafield::test
