// SPDX-License-Identifier: MIT
#pragma once
// Tracks of a pair of frames on a target, with the dropped ones.
#include <bit>
#include <string>
#include <vector>

#include "core/backend.hpp"
#include "guided/features/track_finder.hpp"
#include "parafield/tracks.hpp"
#include "targets.hpp"

namespace parafield {

struct GridOfTracks {
  FeatureGrid grid;
  std::vector<Track> tracks;

  const Track& operator()(int column, int row) const {
    return tracks[std::size_t(row * grid.columns + column)];
  }
  int kept() const {
    int count = 0;
    for (const Track& track : tracks) count += track.u == track.u;
    return count;
  }
};

inline FrameBuffer copy_of(const Frame& frame, Memory memory) {
  FrameBuffer host(frame.size(), frame.format);
  const std::ptrdiff_t row_bytes = std::ptrdiff_t(frame.width) * bytes_per_pixel(frame.format);
  detail::copy(host.row(0), host.frame().pitch, Memory::host(), frame.data,
               frame.pitch ? frame.pitch : row_bytes, Memory::host(), row_bytes, frame.height);
  return host.to(memory);
}

/// Runs the steps twice, on CUDA recorded and then replayed. The frames are in the last two of `slots`.
inline GridOfTracks tracks_on(const Target& target, const Frame& frame0, const Frame& frame1,
                              const FeatureTracking& tracking, int threads = 2, int slots = 2) {
  const Forced forced(target);
  const Device device = target.device(threads);
  return with_backend(device, [&]<class Backend>() {
    Backend backend(device, {});
    if constexpr (requires { backend.activate(); }) backend.activate();
    const FrameBuffer held[] = {copy_of(frame0, backend.memory()), copy_of(frame1, backend.memory())};
    const Frame frames[] = {held[0], held[1]};
    Workspace workspace(backend.memory());
    TrackFinder<Backend> finder(backend, workspace, tracking, frame0.size(), slots);
    for (int i = 0; i < 2; ++i)
      backend.replay({}, [&] {
        finder.prepare(frames, slots - 2, 2);
        finder.find(slots - 2, slots - 1);
      });
    backend.synchronize();
    GridOfTracks found{finder.grid(), std::vector<Track>(std::size_t(finder.count()))};
    const auto bytes = std::ptrdiff_t(found.tracks.size() * sizeof(Track));
    detail::copy(found.tracks.data(), bytes, Memory::host(), finder.tracks(), bytes, backend.memory(), bytes,
                 1);
    return found;
  });
}

}  // namespace parafield
