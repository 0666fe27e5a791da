#pragma once
#include "blocks/warp/warp.hpp"
#include "guided/likelihood.hpp"
#include "parafield/tracks.hpp"

namespace parafield {

/// Where tracks begin, and their colour there, as guides: in the order of the tracks; those that are not finite or begin
/// outside the frame lie nowhere. Reversed: the tracks begin where they end, and go back. On CUDA `tracks` are an input that a
/// replay reads anew. At most as many as the guides' capacity.
template <class Backend>
void gather_guides(Backend& backend, const Track* tracks, int count, bool reversed, const Colours& colours,
                   LikelihoodScale scale, const Guides& guides);

constexpr int least_room = 256;  // which may be read, whatever the count

inline Guides make_guides(Workspace& workspace, int capacity) {
  Guides guides{};
  guides.capacity = capacity;
  guides.chunks = (capacity + chunk_guides - 1) / chunk_guides;
  const std::size_t count = std::size_t(larger(guides.chunks * chunk_guides, least_room));
  for (float** values :
       {&guides.x, &guides.y, &guides.red, &guides.green, &guides.blue, &guides.u, &guides.v})
    *values = workspace.array<float>(count);
  guides.records = workspace.array<float>(8 * count);
  guides.bounds = workspace.array<float>(10 * std::size_t(guides.chunks));
  guides.count = workspace.array<int>(1);
  return guides;
}

PF_HD void gather_guide(Track track, bool reversed, const Colours& colours, LikelihoodScale scale, int i,
                        const Guides& to) {
  if (reversed) track = {track.x + track.u, track.y + track.v, -track.u, -track.v};
  const int width = colours.plane[0].width, height = colours.plane[0].height,
            pitch = int(colours.plane[0].pitch / std::ptrdiff_t(sizeof(float)));
  const Match match = locate(track.x, track.y, width, height);
  const float red = sample(colours.plane[0].data, pitch, width, height, match),
              green = sample(colours.plane[1].data, pitch, width, height, match),
              blue = sample(colours.plane[2].data, pitch, width, height, match);
  const bool known = match.inside & is_finite(track.u) & is_finite(track.v) & is_finite(red) &
                     is_finite(green) & is_finite(blue);
  to.x[i] = known ? track.x * scale.position : nowhere;
  to.y[i] = known ? track.y * scale.position : 0.0f;
  to.red[i] = known ? scaled_colour(red, scale.colour) : 0.0f;
  to.green[i] = known ? scaled_colour(green, scale.colour) : 0.0f;
  to.blue[i] = known ? scaled_colour(blue, scale.colour) : 0.0f;
  to.u[i] = known ? track.u : 0.0f;
  to.v[i] = known ? track.v : 0.0f;
}

}  // namespace parafield
