#pragma once
#include "steps/warp/warp.hpp"
#include "guided/likelihood.hpp"
#include "parafield/tracks.hpp"

namespace parafield {

/// Tracks that begin in a frame. Reversed: they begin where they end, and go back. On CUDA they are an input that a replay reads
/// anew.
struct TrackList {
  const Track* tracks;
  int count;
  bool reversed;
};

/// Where tracks begin, and their color there, as guides: in the order of the tracks; those that are not finite or begin
/// outside the frame lie nowhere. At most as many as the guides' capacity.
template <class Backend>
void gather_guides(Backend& backend, const TrackList& tracks, const Colors& colors, LikelihoodScale scale,
                   const Guides& guides);

/// Up to so many are gathered where they are used, on CUDA.
constexpr int few_guides = 256;

inline Guides make_guides(Workspace& workspace, int capacity) {
  Guides guides{};
  guides.capacity = capacity;
  guides.chunks = (capacity + chunk_guides - 1) / chunk_guides;
  const std::size_t count = std::size_t(guides.chunks * chunk_guides);
  for (float** values :
       {&guides.x, &guides.y, &guides.red, &guides.green, &guides.blue, &guides.u, &guides.v})
    *values = workspace.array<float>(count);
  guides.records = workspace.array<float>(8 * count);
  guides.bounds = workspace.array<float>(10 * std::size_t(guides.chunks));
  guides.count = workspace.array<int>(1);
  return guides;
}

struct Guide {
  Place place;
  Motion flow;
};

/// A mean of guides' flows (Kim, eq. 4) on its way.
struct MeanFlow {
  float weight = 0, u = 0, v = 0;

  PF_HD void add(float w, float guide_u, float guide_v) {
    weight += w;
    u = fma(w, guide_u, u);
    v = fma(w, guide_v, v);
  }
  PF_HD Motion motion() const {
    const float inverse = 1 / weight;
    return {u * inverse, v * inverse};
  }
};

/// The i-th track in its direction; behind the last ones are unknown.
PF_HD Track track_of(const TrackList& tracks, int i) {
  constexpr float unknown = __builtin_nanf("");
  const Track track = i < tracks.count ? tracks.tracks[i] : Track{unknown, unknown, unknown, unknown};
  return tracks.reversed ? Track{track.x + track.u, track.y + track.v, -track.u, -track.v} : track;
}

/// A track's guide, of the color where it begins.
PF_HD Guide guide_of(const Track& track, bool inside, const Color& color, LikelihoodScale scale) {
  const bool known = inside & is_finite(track.u) & is_finite(track.v) & is_finite(color.red) &
                     is_finite(color.green) & is_finite(color.blue);
  if (!known) return {{nowhere, 0, 0, 0, 0}, {0, 0}};
  return {{track.x * scale.position, track.y * scale.position, scaled_color(color.red, scale.color),
           scaled_color(color.green, scale.color), scaled_color(color.blue, scale.color)},
          {track.u, track.v}};
}

PF_HD void store_guide(const Guide& guide, int i, const Guides& to) {
  to.x[i] = guide.place.x, to.y[i] = guide.place.y;
  to.red[i] = guide.place.red, to.green[i] = guide.place.green, to.blue[i] = guide.place.blue;
  to.u[i] = guide.flow.u, to.v[i] = guide.flow.v;
}

}  // namespace parafield
