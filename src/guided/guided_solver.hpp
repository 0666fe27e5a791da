// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>

#include "core/fail.hpp"
#include "core/solver.hpp"
#include "guided/color_test/color_test.hpp"
#include "guided/features/track_finder.hpp"
#include "guided/support/features.hpp"
#include "steps/colors/colors.hpp"

namespace parafield {

/// K R K^-1 of a camera: how the image of distant points moves when the camera turns. Throws as check() does.
inline Homography homography_of(const CameraRotation& camera) {
  const double x = camera.x, y = camera.y, z = camera.z, fx = camera.fx, fy = camera.fy, cx = camera.cx,
               cy = camera.cy;
  check(camera);
  const double angle = std::sqrt(x * x + y * y + z * z);
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

/// Base of solvers that are guided by tracks, which the user gives or the solver finds. Given tracks start in
/// the frame in slot 0.
template <class Solver, class Backend, class Method>
class GuidedSolver : public SolverBase<Solver> {
 public:
  /// Takes the known motion of a solve. Returns its kind: bit 0 for given tracks, bit 1 for a rotation, bit 2
  /// for at most few_features given tracks. Solves of the same kind run the same steps.
  int take(const KnownMotion& known, bool on_host) {
    has_tracks_ = known.tracks.has_value();
    has_rotation_ = known.rotation.has_value();
    if (has_tracks_) {
      const int most = method_.tracking.max_features;
      if (known.tracks->size() > std::size_t(most))
        fail(ErrorCode::invalid_argument, known.tracks->size(),
             " tracks are given, more than max_features = ", most);
      given_ = known.tracks->data();
      count_ = int(known.tracks->size());
      if (Backend::is_gpu && on_host) {
        if (count_ > 0) copy_to(backend_, staged_, given_, sizeof(Track) * std::size_t(count_));
        given_ = staged_;
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

  void prepare(const Frame* frames, int slot, int count) {
    colors_.prepare(frames, slot, count, both_ways_);
    if (!has_tracks_ || needs_luma_) finder_.prepare(frames, slot, count);
  }

 protected:
  /// `both_ways`: also solve the flow from the second frame. `needs_luma`: the solver needs the frames' luma
  /// even if tracks are given.
  GuidedSolver(Backend& backend, Workspace& workspace, const Method& method, Size size, bool both_ways,
               bool needs_luma)
      : backend_(backend),
        method_(method),
        finder_(backend, workspace, method.tracking, size, Method::frames),
        colors_(backend, workspace, method.presmooth, size),
        both_ways_(both_ways),
        needs_luma_(needs_luma),
        rotations_(workspace.array<Homography>(2)) {
    if constexpr (Backend::is_gpu)
      staged_ = workspace.array<Track>(std::size_t(method.tracking.max_features));
  }

  /// Tracks that start in the frame in slot `first`.
  TrackList tracks_from(int first) {
    if (has_tracks_) return {given_, count_, first == 1};
    finder_.find(first, 1 - first);
    return {finder_.tracks(), finder_.count(), false};
  }

  /// Color test for the flow from the frame in slot `first`.
  ColorTest color_test(int first, View<std::uint8_t> valid) const {
    return {colors_.raw(first),
            colors_.raw(1 - first),
            method_.change_threshold,
            method_.change_window,
            has_rotation_ ? rotations_ + first : nullptr,
            valid};
  }

  Backend& backend_;
  const Method method_;
  TrackFinder<Backend> finder_;
  FrameColors<Backend> colors_;

 private:
  const bool both_ways_, needs_luma_;
  Track* staged_ = nullptr;      // device copy of given tracks, on CUDA only
  Homography* const rotations_;  // from frame 0 to frame 1, and back
  const Track* given_ = nullptr;
  int count_ = 0;  // number of given tracks
  bool has_tracks_ = false, has_rotation_ = false;
};

}  // namespace parafield
