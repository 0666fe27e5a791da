// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "guided/support/features.hpp"

namespace parafield {
namespace {

void bound_chunk(const FlowFeatures& features, int chunk) {
  const float* const values[] = {features.x, features.y, features.red, features.green, features.blue};
  for (int k = 0; k < 5; ++k) {
    float low = no_bound, high = -no_bound;
    for (int i = chunk * chunk_size; i < (chunk + 1) * chunk_size; ++i) {
      const bool counts = features.x[i] < nowhere;
      low = counts ? smaller(low, values[k][i]) : low;
      high = counts ? larger(high, values[k][i]) : high;
    }
    features.bounds[k * features.chunks + chunk] = low;
    features.bounds[(5 + k) * features.chunks + chunk] = high;
  }
}

}  // namespace

template <class Backend>
void gather_features(Backend&, const TrackList& tracks, const Colors& colors, LikelihoodScale scale,
                     const FlowFeatures& features) {
  *features.count = tracks.count;
  const int chunks = (tracks.count + chunk_size - 1) / chunk_size;
  const ColorPlanes planes = planes_of(colors);
  for (int i = 0; i < chunks * chunk_size; ++i) {
    const Track track = track_of(tracks, i);
    const Match match = locate(track.x, track.y, planes.width, planes.height);
    store_feature(flow_feature(track, match.inside, color_at(planes, match), scale), i, features);
  }
  for (int chunk = 0; chunk < chunks; ++chunk) bound_chunk(features, chunk);
}

PF_STEP(gather_features<Cpu>);

}  // namespace parafield
