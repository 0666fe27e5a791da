// SPDX-License-Identifier: MIT
#pragma once

namespace parafield {

/// Where a step says whether other steps run: `only_if` of a backend. It lies in the backend's memory.
struct Condition {
  int* value;                     ///< not 0: they run
  unsigned long long handle = 0;  ///< on CUDA, of the graph's node (a cudaGraphConditionalHandle); 0 = none
};

}  // namespace parafield
