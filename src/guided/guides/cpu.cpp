#include "core/cpu/backend.hpp"
#include "guided/guides/guides.hpp"

namespace parafield {
namespace {

void bound_chunk(const Guides& guides, int chunk) {
  const float* const values[] = {guides.x, guides.y, guides.red, guides.green, guides.blue};
  for (int k = 0; k < 5; ++k) {
    float low = no_bound, high = -no_bound;
    for (int i = chunk * chunk_guides; i < (chunk + 1) * chunk_guides; ++i) {
      const bool counts = guides.x[i] < nowhere;
      low = counts ? smaller(low, values[k][i]) : low;
      high = counts ? larger(high, values[k][i]) : high;
    }
    guides.bounds[k * guides.chunks + chunk] = low;
    guides.bounds[(5 + k) * guides.chunks + chunk] = high;
  }
}

}  // namespace

template <>
void gather_guides(Cpu&, const TrackList& tracks, const Colors& colors, LikelihoodScale scale,
                   const Guides& guides) {
  *guides.count = tracks.count;
  const int chunks = (tracks.count + chunk_guides - 1) / chunk_guides;
  const int width = colors.plane[0].width, height = colors.plane[0].height,
            pitch = int(colors.plane[0].pitch / std::ptrdiff_t(sizeof(float)));
  for (int i = 0; i < chunks * chunk_guides; ++i) {
    const Track track = track_of(tracks, i);
    const Match match = locate(track.x, track.y, width, height);
    const auto channel = [&](int c) { return sample(colors.plane[c].data, pitch, width, height, match); };
    const Color color{channel(0), channel(1), channel(2), 0};
    store_guide(guide_of(track, match.inside, color, scale), i, guides);
  }
  for (int chunk = 0; chunk < chunks; ++chunk) bound_chunk(guides, chunk);
}

}  // namespace parafield
