#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "guided/guides/guides.hpp"

namespace parafield {
namespace {

constexpr int lanes = 32, threads = 128;
static_assert(lanes == chunk_guides, "a warp makes a chunk");

__global__ void gather_kernel(const Track* tracks, int count, bool reversed, Colours colours,
                              LikelihoodScale scale, Guides guides) {
  begin_kernel();
  const int i = int(blockIdx.x) * threads + int(threadIdx.x), chunk = i / lanes;
  if (i == 0) *guides.count = count;
  if (chunk >= guides.chunks) return;
  const float none = __int_as_float(0x7fffffff);
  gather_guide(i < count ? tracks[i] : Track{none, none, none, none}, reversed, colours, scale, i, guides);
  const float values[] = {guides.x[i], guides.y[i], guides.red[i], guides.green[i], guides.blue[i]};
  float4* const record = reinterpret_cast<float4*>(guides.records) + 2 * i;
  record[0] = make_float4(values[0], values[1], values[2], values[3]);
  record[1] = make_float4(values[4], guides.u[i], guides.v[i], 0);
  const bool counts = values[0] < nowhere;
  PF_UNROLL
  for (int k = 0; k < 5; ++k) {
    float low = counts ? values[k] : no_bound, high = counts ? values[k] : -no_bound;
    PF_UNROLL
    for (int step = lanes / 2; step > 0; step /= 2) {
      low = smaller(low, __shfl_xor_sync(~0u, low, step));
      high = larger(high, __shfl_xor_sync(~0u, high, step));
    }
    if (i % lanes > 0) continue;
    guides.bounds[k * guides.chunks + chunk] = low;
    guides.bounds[(5 + k) * guides.chunks + chunk] = high;
  }
}

}  // namespace

template <>
void gather_guides(Cuda& cuda, const Track* tracks, int count, bool reversed, const Colours& colours,
                   LikelihoodScale scale, const Guides& guides) {
  cuda.launch_input(gather_kernel, dim3(blocks_for(guides.chunks * lanes, threads)), dim3(threads), tracks,
                    count, reversed, colours, scale, guides);
}

}  // namespace parafield
