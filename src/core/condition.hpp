// SPDX-License-Identifier: MIT
#pragma once

namespace parafield {

/// Where a step decides whether other steps run; see a backend's `only_if`.
struct Condition {
  int* value;                     ///< in the backend's memory; not 0: the steps run
  unsigned long long handle = 0;  ///< CUDA: cudaGraphConditionalHandle of the graph's node; 0 = none
};

}  // namespace parafield
