#pragma once
#include <cmath>
#include <cstring>

#include "core/fail.hpp"
#include "core/solver.hpp"
#include "guided/color_test/color_test.hpp"
#include "guided/features/track_finder.hpp"
#include "guided/support/features.hpp"

namespace parafield {

/// K R K^-1 of a camera. Throws Error(invalid_argument) for angles above pi, focal lengths that are not
/// positive and values that are not finite.
inline Homography homography_of(const CameraRotation& camera) {
  const double x = camera.x, y = camera.y, z = camera.z, fx = camera.fx, fy = camera.fy, cx = camera.cx,
               cy = camera.cy;
  if (!(fx > 0 && fy > 0) || !std::isfinite(fx + fy + cx + cy))
    fail(ErrorCode::invalid_argument, "rotation: focal lengths ", camera.fx, ", ", camera.fy,
         " px and principal point (", camera.cx, ", ", camera.cy,
         "): focal lengths must be positive, and all values finite");
  const double angle = std::sqrt(x * x + y * y + z * z);
  if (!(angle <= 3.1416))
    fail(ErrorCode::invalid_argument, "rotation: a turn by (", camera.x, ", ", camera.y, ", ", camera.z,
         ") rad: must be at most pi in all");
  // Rodrigues: R = 1 + a [w]x + b [w]x^2.
  const double a = angle > 1e-9 ? std::sin(angle) / angle : 1,
               b = angle > 1e-9 ? (1 - std::cos(angle)) / (angle * angle) : 0.5;
  const double r[3][3] = {{1 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y},
                          {b * x * y + a * z, 1 - b * (x * x + z * z), b * y * z - a * x},
                          {b * x * z - a * y, b * y * z + a * x, 1 - b * (x * x + y * y)}};
  Homography result{};
  for (int row = 0; row < 3; ++row) {
    const auto mapped = [&](int column) {  // row of K R
      return row == 0   ? fx * r[0][column] + cx * r[2][column]
             : row == 1 ? fy * r[1][column] + cy * r[2][column]
                        : r[2][column];
    };
    result.h[3 * row] = float(mapped(0) / fx);
    result.h[3 * row + 1] = float(mapped(1) / fy);
    result.h[3 * row + 2] = float(mapped(2) - mapped(0) * cx / fx - mapped(1) * cy / fy);
  }
  return result;
}

/// Motion that the user gives beside the frames, in the backend's memory: tracks, and the camera's rotation
/// there and back.
template <class Backend>
class GivenMotion {
 public:
  GivenMotion(Backend& backend, Workspace& workspace, int most_tracks)
      : backend_(backend), most_(most_tracks), rotations_(workspace.array<Homography>(2)) {
    if constexpr (Backend::is_gpu) staged_ = workspace.array<Track>(std::size_t(most_tracks));
  }

  /// Takes the known motion of a solve. Returns its kind: solves of one kind take the same steps.
  int take(const KnownMotion& known, bool on_host) {
    has_tracks_ = known.tracks.has_value();
    has_rotation_ = known.rotation.has_value();
    if (has_tracks_) {
      const std::span<const Track> tracks = *known.tracks;
      if (tracks.size() > std::size_t(most_))
        fail(ErrorCode::invalid_argument, tracks.size(),
             " tracks are given, more than max_features = ", most_);
      tracks_ = tracks.data();
      count_ = int(tracks.size());
      if (Backend::is_gpu && on_host) {
        if (count_ > 0) copy_to(backend_, staged_, tracks_, sizeof(Track) * std::size_t(count_));
        tracks_ = staged_;
      }
    }
    if (has_rotation_) {
      CameraRotation camera = *known.rotation;
      const Homography there = homography_of(camera);
      camera.x = -camera.x, camera.y = -camera.y, camera.z = -camera.z;
      const Homography both[] = {there, homography_of(camera)};
      copy_to(backend_, rotations_, both, sizeof both);
    }
    return has_tracks_ + 2 * has_rotation_ + 4 * (has_tracks_ && count_ <= few_features);
  }

  bool has_tracks() const { return has_tracks_; }
  TrackList tracks(bool back) const { return {tracks_, count_, back}; }
  /// Null where no rotation is given.
  const Homography* rotation(bool back) const { return has_rotation_ ? rotations_ + back : nullptr; }

 private:
  Backend& backend_;
  const int most_;
  Track* staged_ = nullptr;
  Homography* const rotations_;
  const Track* tracks_ = nullptr;
  int count_ = 0;
  bool has_tracks_ = false, has_rotation_ = false;
};

/// Tracks that begin in the frame in slot `first` of 0 and 1: the given ones, which begin in slot 0, or else
/// found ones.
template <class Backend>
TrackList tracks_from(int first, const GivenMotion<Backend>& given, TrackFinder<Backend>& finder) {
  if (given.has_tracks()) return given.tracks(first == 1);
  finder.find(first, 1 - first);
  return {finder.tracks(), finder.count(), false};
}

}  // namespace parafield
