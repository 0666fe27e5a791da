#pragma once
#include "guided/colors/color.cuh"
#include "guided/guides/guides.hpp"

namespace parafield {

/// A guide as it lies in memory on CUDA: x, y, red, green; blue, u, v, 0.
struct Record {
  float4 position, rest;

  __device__ Place place() const { return {position.x, position.y, position.z, position.w, rest.x}; }
};

__device__ inline Record record_of(const Guide& guide) {
  return {make_float4(guide.place.x, guide.place.y, guide.place.red, guide.place.green),
          make_float4(guide.place.blue, guide.flow.u, guide.flow.v, 0)};
}

/// The guides of the tracks i, i + apart, ...; what is read of one does not wait for another.
template <int Count>
__device__ void get_guides(const TrackList& tracks, int i, int apart, const Colors& colors,
                           LikelihoodScale scale, Guide (&guides)[Count]) {
  const View<Color>& pixels = colors.pixels;
  Track track[Count];
  Match match[Count];
  Color color[Count];
  PF_UNROLL
  for (int k = 0; k < Count; ++k) track[k] = track_of(tracks, i + k * apart);
  PF_UNROLL
  for (int k = 0; k < Count; ++k) {
    match[k] = locate(track[k].x, track[k].y, pixels.width, pixels.height);
    color[k] = sample(pixels, match[k]);
  }
  PF_UNROLL
  for (int k = 0; k < Count; ++k) guides[k] = guide_of(track[k], match[k].inside, color[k], scale);
}
__device__ inline Guide guide_of(const TrackList& tracks, int i, const Colors& colors,
                                 LikelihoodScale scale) {
  Guide guide[1];
  get_guides(tracks, i, 0, colors, scale, guide);
  return guide[0];
}

/// A warp writes a chunk's guides, one a lane, and its box.
__device__ inline void store_chunk(const Guide& guide, int i, const Guides& to) {
  store_guide(guide, i, to);
  reinterpret_cast<Record*>(to.records)[i] = record_of(guide);
  const Place& place = guide.place;
  const float values[] = {place.x, place.y, place.red, place.green, place.blue};
  const bool counts = place.x < nowhere;
  PF_UNROLL
  for (int k = 0; k < 5; ++k) {
    float low = counts ? values[k] : no_bound, high = counts ? values[k] : -no_bound;
    PF_UNROLL
    for (int step = chunk_guides / 2; step > 0; step /= 2) {
      low = smaller(low, __shfl_xor_sync(~0u, low, step));
      high = larger(high, __shfl_xor_sync(~0u, high, step));
    }
    if (i % chunk_guides > 0) continue;
    to.bounds[k * to.chunks + i / chunk_guides] = low;
    to.bounds[(5 + k) * to.chunks + i / chunk_guides] = high;
  }
}

}  // namespace parafield
