// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"

namespace parafield {

// Connected components are a forest in a plane of labels (Rosenfeld and Pfaltz 1966). A pixel's label is the
// index of another pixel of its component, never a larger index; a root's label is its own index. An index
// counts along the pitch of the labels. So a component's root is its first pixel, row by row.

/// The root of pixel i's component.
PF_HD int root_of(const volatile int* labels, int i) {
  for (int label = labels[i]; label != i; label = labels[i]) i = label;
  return i;
}

}  // namespace parafield
