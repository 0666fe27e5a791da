#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "guided/guides/guides.hpp"

namespace parafield {
namespace {

constexpr int threads = 128;

__global__ void gather_kernel(const Track* tracks, int count, bool reversed, Colours colours,
                              LikelihoodScale scale, Guides guides) {
  begin_kernel();
  const int i = int(blockIdx.x) * threads + int(threadIdx.x);
  if (i == 0) *guides.count = count;
  if (i < count) gather_guide(tracks[i], reversed, colours, scale, i, guides);
}

}  // namespace

template <>
void gather_guides(Cuda& cuda, const Track* tracks, int count, bool reversed, const Colours& colours,
                   LikelihoodScale scale, const Guides& guides) {
  cuda.launch_input(gather_kernel, dim3(blocks_for(guides.capacity, threads)), dim3(threads), tracks, count,
                    reversed, colours, scale, guides);
}

}  // namespace parafield
