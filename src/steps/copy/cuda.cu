// SPDX-License-Identifier: MIT
#include "core/cuda/kernel.cuh"
#include "steps/copy/copy.cuh"

namespace parafield {
namespace {

struct WordCopies {
  WordCopy copies[PlaneCopies::most];
};

__global__ void __launch_bounds__(copy_threads) copy_kernel(const __grid_constant__ WordCopies words) {
  begin_kernel();
  copy_rows(words.copies[blockIdx.y], int(blockIdx.x), int(gridDim.x));
}

}  // namespace

template <class Backend>
void copy_planes(Backend& cuda, const PlaneCopies& copies) {
  WordCopies words{};
  std::ptrdiff_t blocks = 1;
  for (int i = 0; i < copies.count; ++i) {
    words.copies[i] = word_copy(copies.planes[i]);
    blocks = std::max(blocks, blocks_of(words.copies[i]));
  }
  cuda.launch_input(copy_kernel, dim3(unsigned(blocks), unsigned(copies.count)), dim3(copy_threads), words);
}

PF_STEP(copy_planes<Cuda>);

}  // namespace parafield
