// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>

namespace parafield::test {
/// Number of allocations of the program so far, which allocations.cpp counts.
extern std::atomic<long> allocations;
}  // namespace parafield::test
