#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "guided/guides/record.cuh"

namespace parafield {
namespace {

constexpr int threads = 128;

__global__ void gather_kernel(TrackList tracks, Colors colors, LikelihoodScale scale, Guides guides) {
  begin_kernel();
  const int i = int(blockIdx.x) * threads + int(threadIdx.x);
  if (i == 0) *guides.count = tracks.count;
  if (i / chunk_guides < guides.chunks) store_chunk(guide_of(tracks, i, colors, scale), i, guides);
}

}  // namespace

template <>
void gather_guides(Cuda& cuda, const TrackList& tracks, const Colors& colors, LikelihoodScale scale,
                   const Guides& guides) {
  cuda.launch_input(gather_kernel, dim3(blocks_for(guides.chunks * chunk_guides, threads)), dim3(threads),
                    tracks, colors, scale, guides);
}

}  // namespace parafield
