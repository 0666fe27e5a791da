// SPDX-License-Identifier: MIT
#pragma once
#include "guided/support/likelihood.hpp"
#include "parafield/tracks.hpp"
#include "steps/colors/color.hpp"

/// Tracked features as likelihoods use them: position, color and flow.
namespace parafield {

/// Tracks between two frames, in the backend's memory. On CUDA they are a graph input, which each replay
/// reads anew.
struct TrackList {
  const Track* tracks;
  int count;
  bool reversed;  ///< tracks run from their end to their start
};

/// One feature. If it cannot be used, its place is `nowhere`.
struct FlowFeature {
  ColoredPlace place;
  Motion flow;  ///< px
};

/// Many features, in chunks of chunk_size. Unused places of the last chunk are nowhere.
struct FlowFeatures {
  float *x, *y, *red, *green, *blue;  ///< places, multiplied by LikelihoodScale
  float *u, *v;                       ///< flow, px
  float* records;                     ///< on CUDA: x, y, red, green, blue, u, v, 0 of each feature
  float* bounds;                      ///< boxes of the chunks: 10 rows, the low sides, then the high sides
  int* count;                         ///< number of features
  int capacity, chunks;               ///< features and chunks that fit into memory
};
constexpr int chunk_size = 32;
/// Place x of a feature that cannot be used.
constexpr float nowhere = 1e15f;
/// Low side of the box of a chunk without features; the high side is its negative.
constexpr float no_bound = 3e38f;

/// Up to this many features, CUDA gathers them in the kernel that uses them.
constexpr int few_features = 256;

inline FlowFeatures make_feature_memory(Workspace& workspace, int capacity) {
  FlowFeatures features{};
  features.capacity = capacity;
  features.chunks = (capacity + chunk_size - 1) / chunk_size;
  const std::size_t count = std::size_t(features.chunks * chunk_size);
  for (float** values :
       {&features.x, &features.y, &features.red, &features.green, &features.blue, &features.u, &features.v})
    *values = workspace.array<float>(count);
  features.records = workspace.array<float>(8 * count);
  features.bounds = workspace.array<float>(10 * std::size_t(features.chunks));
  features.count = workspace.array<int>(1);
  return features;
}

/// Gathers the features of tracks, at most the capacity, in order: the place where a track starts, the color
/// there, and its flow. Tracks that are not finite or start outside the frame are nowhere.
template <class Backend>
void gather_features(Backend& backend, const TrackList& tracks, const Colors& colors, LikelihoodScale scale,
                     const FlowFeatures& features);

PF_HD bool is_somewhere(const FlowFeatures& features, int i) { return features.x[i] < nowhere; }

PF_HD Places places_of(const FlowFeatures& features) {
  return {features.x, features.y, features.red, features.green, features.blue};
}

/// Box of a chunk. Exponents for the box of a chunk without features are infinite.
PF_HD PlaceBox chunk_box(const FlowFeatures& features, int chunk) {
  const auto side = [&](int i) { return features.bounds[i * features.chunks + chunk]; };
  return {{side(0), side(1), side(2), side(3), side(4)}, {side(5), side(6), side(7), side(8), side(9)}};
}

/// Mean of features' flows, weighted by likelihood (Kim, eq. 4).
struct MeanFlow {
  float weight = 0, u = 0, v = 0;

  PF_HD void add(float w, float feature_u, float feature_v) {
    weight += w;
    u = fma(w, feature_u, u);
    v = fma(w, feature_v, v);
  }
  PF_HD Motion motion() const {
    const float inverse = 1 / weight;
    return {u * inverse, v * inverse};
  }
};

/// Track i in the list's direction; NaN after the last one.
PF_HD Track track_of(const TrackList& tracks, int i) {
  constexpr float unknown = __builtin_nanf("");
  const Track track = i < tracks.count ? tracks.tracks[i] : Track{unknown, unknown, unknown, unknown};
  return tracks.reversed ? Track{track.x + track.u, track.y + track.v, -track.u, -track.v} : track;
}

/// The feature of a track that starts inside or outside the frame, at a pixel of the given color.
PF_HD FlowFeature flow_feature(const Track& track, bool inside, const Color& color, LikelihoodScale scale) {
  const bool known = inside & is_finite(track.u) & is_finite(track.v) & is_finite(color.red) &
                     is_finite(color.green) & is_finite(color.blue);
  if (!known) return {{nowhere, 0, 0, 0, 0}, {0, 0}};
  return {{track.x * scale.position, track.y * scale.position, scaled_color(color.red, scale.color),
           scaled_color(color.green, scale.color), scaled_color(color.blue, scale.color)},
          {track.u, track.v}};
}

PF_HD void store_feature(const FlowFeature& feature, int i, const FlowFeatures& to) {
  to.x[i] = feature.place.x, to.y[i] = feature.place.y;
  to.red[i] = feature.place.red, to.green[i] = feature.place.green, to.blue[i] = feature.place.blue;
  to.u[i] = feature.flow.u, to.v[i] = feature.flow.v;
}

}  // namespace parafield
