// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"

namespace parafield {

// Connected components form a forest in a plane of labels (Rosenfeld and Pfaltz 1966). A pixel's label is the
// index of a pixel of its component, never larger than its own index; a root's label is its own index.
// Indices count along the labels' pitch, so a component's final root is its first pixel in row order.

/// The root of pixel i's component.
PF_HD int root_of(const volatile int* labels, int i) {
  for (int label = labels[i]; label != i; label = labels[i]) i = label;
  return i;
}

}  // namespace parafield
