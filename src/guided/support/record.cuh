// SPDX-License-Identifier: MIT
#pragma once
#include "guided/support/features.hpp"

namespace parafield {

/// A feature in CUDA memory: x, y, red, green; blue, u, v, 0.
struct Record {
  float4 position, rest;

  __device__ ColoredPlace place() const { return {position.x, position.y, position.z, position.w, rest.x}; }
};

__device__ inline Record record_of(const FlowFeature& feature) {
  return {make_float4(feature.place.x, feature.place.y, feature.place.red, feature.place.green),
          make_float4(feature.place.blue, feature.flow.u, feature.flow.v, 0)};
}

/// Loads the features of tracks i, i + apart and so on. The loads are issued together, so they do not wait
/// for each other.
template <int Count>
__device__ void load_features(const TrackList& tracks, int i, int apart, const Colors& colors,
                              LikelihoodScale scale, FlowFeature (&features)[Count]) {
  const View<Color>& pixels = colors.pixels;
  Track track[Count];
  Match match[Count];
  Color color[Count];
  PF_UNROLL
  for (int k = 0; k < Count; ++k) track[k] = track_of(tracks, i + k * apart);
  PF_UNROLL
  for (int k = 0; k < Count; ++k) {
    match[k] = locate(track[k].x, track[k].y, pixels.width, pixels.height);
    color[k] = color_at(pixels, match[k]);
  }
  PF_UNROLL
  for (int k = 0; k < Count; ++k) features[k] = flow_feature(track[k], match[k].inside, color[k], scale);
}
__device__ inline FlowFeature flow_feature(const TrackList& tracks, int i, const Colors& colors,
                                           LikelihoodScale scale) {
  FlowFeature feature[1];
  load_features(tracks, i, 0, colors, scale, feature);
  return feature[0];
}

/// Writes the features of a chunk and its box, using one warp with one feature per lane.
__device__ inline void store_chunk(const FlowFeature& feature, int i, const FlowFeatures& to) {
  store_feature(feature, i, to);
  reinterpret_cast<Record*>(to.records)[i] = record_of(feature);
  const ColoredPlace& place = feature.place;
  const float values[] = {place.x, place.y, place.red, place.green, place.blue};
  const bool counts = place.x < nowhere;
  PF_UNROLL
  for (int k = 0; k < 5; ++k) {
    float low = counts ? values[k] : no_bound, high = counts ? values[k] : -no_bound;
    PF_UNROLL
    for (int step = chunk_size / 2; step > 0; step /= 2) {
      low = smaller(low, __shfl_xor_sync(~0u, low, step));
      high = larger(high, __shfl_xor_sync(~0u, high, step));
    }
    if (i % chunk_size > 0) continue;
    to.bounds[k * to.chunks + i / chunk_size] = low;
    to.bounds[(5 + k) * to.chunks + i / chunk_size] = high;
  }
}

}  // namespace parafield
