// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "guided/support/record.cuh"

namespace parafield {

template <class Backend>
void gather_features(Backend& cuda, const TrackList& tracks, const Colors& colors, LikelihoodScale scale,
                     const FlowFeatures& features) {
  static_assert(chunk_size == 32);  // of a warp, which stores a chunk
  for_input_pixels<128, 1>(cuda, {features.chunks * chunk_size, 1}, [=] __device__(int i, int) {
    if (i == 0) *features.count = tracks.count;
    store_chunk(flow_feature(tracks, i, colors, scale), i, features);
  });
}

PF_STEP(gather_features<Cuda>);

}  // namespace parafield
