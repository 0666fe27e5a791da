#pragma once
#include <cmath>
#include <cstring>

#include "core/fail.hpp"
#include "guided/change/change.hpp"
#include "guided/guides/guides.hpp"
#include "core/solver.hpp"

namespace parafield {

/// K R K^-1. Throws Error(invalid_argument) for what is no rotation or no camera.
inline Homography homography_of(const CameraRotation& camera) {
  const double x = camera.x, y = camera.y, z = camera.z, fx = camera.fx, fy = camera.fy, cx = camera.cx,
               cy = camera.cy;
  if (!(fx > 0 && fy > 0) || !std::isfinite(fx + fy + cx + cy))
    fail(ErrorCode::invalid_argument, "a camera cannot have focal lengths ", camera.fx, ", ", camera.fy,
         " px and a principal point (", camera.cx, ", ", camera.cy, ")");
  const double angle = std::sqrt(x * x + y * y + z * z);
  if (!(angle <= 3.1416))
    fail(ErrorCode::invalid_argument, "a camera cannot turn by (", camera.x, ", ", camera.y, ", ", camera.z,
         "): at most pi in all, radians");
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
    result.of[3 * row] = float(mapped(0) / fx);
    result.of[3 * row + 1] = float(mapped(1) / fy);
    result.of[3 * row + 2] = float(mapped(2) - mapped(0) * cx / fx - mapped(1) * cy / fy);
  }
  return result;
}

/// What a user gives beside the frames, in the backend's memory: tracks, and how the camera turned, there and back.
template <class Backend>
class Guidance {
 public:
  Guidance(Backend& backend, Workspace& workspace, int most_tracks)
      : backend_(backend), most_(most_tracks), turns_(workspace.array<Homography>(2)) {
    if constexpr (Backend::is_gpu) staged_ = workspace.array<Track>(std::size_t(most_tracks));
  }

  /// Before each solve. Returns which of its kinds it is: solves of one kind take the same steps.
  int take(const KnownMotion& known, bool on_host) {
    has_tracks_ = known.tracks.has_value();
    turned_ = known.rotation.has_value();
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
    if (turned_) {
      CameraRotation camera = *known.rotation;
      const Homography there = homography_of(camera);
      camera.x = -camera.x, camera.y = -camera.y, camera.z = -camera.z;
      const Homography both[] = {there, homography_of(camera)};
      copy_to(backend_, turns_, both, sizeof both);
    }
    return has_tracks_ + 2 * turned_ + 4 * (has_tracks_ && count_ <= few_guides);
  }

  bool has_tracks() const { return has_tracks_; }
  const Track* tracks() const { return tracks_; }
  int count() const { return count_; }
  /// Null where the camera did not turn, as far as is known.
  const Homography* turn(bool back) const { return turned_ ? turns_ + back : nullptr; }

 private:
  Backend& backend_;
  const int most_;
  Track* staged_ = nullptr;
  Homography* const turns_;
  const Track* tracks_ = nullptr;
  int count_ = 0;
  bool has_tracks_ = false, turned_ = false;
};

}  // namespace parafield
