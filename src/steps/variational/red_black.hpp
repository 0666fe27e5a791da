// SPDX-License-Identifier: MIT
#pragma once
#include "steps/variational/variational.hpp"

/// In an unnamed namespace, so that each instruction set has its own copy.
namespace parafield {
namespace {

/// The same pointer, from a source that the compiler does not know. A loop that updates every other value of
/// a row reads only values that it keeps, so it may be vectorized, but the compiler sees that the row depends
/// on its own neighbors.
inline float* same_row(float* row) {
  asm("" : "+r"(row));
  return row;
}

}  // namespace
}  // namespace parafield
