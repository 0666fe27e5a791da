// SPDX-License-Identifier: MIT
#include "core/cuda/backend.hpp"
#include "core/cuda/kernel.cuh"
#include "guided/support/record.cuh"

namespace parafield {
namespace {

constexpr int threads = 128;

__global__ void gather_kernel(TrackList tracks, Colors colors, LikelihoodScale scale, FlowFeatures features) {
  begin_kernel();
  const int i = int(blockIdx.x) * threads + int(threadIdx.x);
  if (i == 0) *features.count = tracks.count;
  if (i / chunk_size < features.chunks) store_chunk(flow_feature(tracks, i, colors, scale), i, features);
}

}  // namespace

template <class Backend>
void gather_features(Backend& cuda, const TrackList& tracks, const Colors& colors, LikelihoodScale scale,
                     const FlowFeatures& features) {
  cuda.launch_input(gather_kernel, dim3(blocks_for(features.chunks * chunk_size, threads)), dim3(threads),
                    tracks, colors, scale, features);
}

PF_STEP(gather_features<Cuda>);

}  // namespace parafield
