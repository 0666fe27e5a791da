// SPDX-License-Identifier: MIT
#include "parafield/tracks.hpp"

#include <cmath>

#include "guided/features/track_finder.hpp"
#include "tasks/estimator.hpp"

namespace parafield {
namespace {

template <class Backend>
std::vector<Track> found(const Frame* frames, const FeatureTracking& tracking, const Device& device,
                         const std::atomic<bool>* cancelled) {
  Backend backend(device, {});
  if (cancelled) backend.cancelled_by(*cancelled);
  const auto active = backend.activate();
  Workspace workspace(backend.memory());
  TrackFinder<Backend> finder(backend, workspace, tracking, frames[0].size(), 2);
  Frame there[2] = {frames[0], frames[1]};
  FrameBuffer staging[2];
  std::vector<Track> tracks(std::size_t(finder.count()));
  if constexpr (Backend::is_gpu)
    for (int i = 0; i < 2; ++i)
      if (frames[i].memory.on_host()) there[i] = staged(backend, frames[i], staging[i]);
  backend.replay({}, [&] {
    finder.prepare(there, 0, 2);
    finder.find(0, 1);
  });
  copy_to_host(backend, tracks.data(), finder.tracks(), tracks.size() * sizeof(Track));
  std::erase_if(tracks, [](const Track& track) { return !std::isfinite(track.u); });
  return tracks;
}

}  // namespace

void check(const CameraRotation& camera) {
  const double x = camera.x, y = camera.y, z = camera.z;
  if (!(camera.fx > 0 && camera.fy > 0) ||
      !std::isfinite(double(camera.fx) + camera.fy + camera.cx + camera.cy))
    fail(ErrorCode::invalid_argument, "rotation: focal lengths ", camera.fx, ", ", camera.fy,
         " px and principal point (", camera.cx, ", ", camera.cy,
         "): focal lengths must be positive, and all values finite");
  if (!(std::sqrt(x * x + y * y + z * z) <= 3.1416))
    fail(ErrorCode::invalid_argument, "rotation: a turn by (", camera.x, ", ", camera.y, ", ", camera.z,
         ") rad: the angle must be at most pi");
}

Size feature_grid(Size frame, int max_features) {
  if (frame.width < 1 || frame.height < 1 || max_features < 1)
    fail(ErrorCode::invalid_argument, "no grid of ", max_features, " features in ", frame.width, "x",
         frame.height, " pixels");
  // Choose the grid whose cells have the shortest long side; among equal grids, the one with most cells.
  Size best{1, 1};
  double shortest = std::max(frame.width, frame.height);
  for (int columns = 1; columns <= std::min(frame.width, max_features); ++columns) {
    const int rows = std::min(frame.height, max_features / columns);
    const double longer = std::max(double(frame.width) / columns, double(frame.height) / rows);
    if (longer > shortest || (longer == shortest && columns * rows <= best.width * best.height)) continue;
    shortest = longer;
    best = {columns, rows};
  }
  return best;
}

std::vector<Track> find_tracks(const In<Frame>& frame0, const In<Frame>& frame1,
                               const FeatureTracking& tracking, const std::optional<Device>& asked,
                               const std::atomic<bool>* cancelled) {
  check(tracking);
  const Device device = asked                     ? *asked
                        : frame0.memory.on_host() ? Device::best()
                                                  : Device::cuda(frame0.memory.device);
  Frame frames[] = {checked(frame0, "frame0", frame0.size(), device),
                    checked(frame1, "frame1", frame0.size(), device)};
  return with_errors([&] {
    give_range(frames);
    return with_backend(device,
                        [&]<class Backend>() { return found<Backend>(frames, tracking, device, cancelled); });
  });
}

}  // namespace parafield
