// SPDX-License-Identifier: MIT
#pragma once
#include <atomic>
#include <optional>
#include <vector>

#include "parafield/image.hpp"
#include "parafield/methods/feature_tracking.hpp"

namespace parafield {

/// A feature of one frame and its flow to the next, px: x to the right, y down, with (0, 0) at the center of
/// the first pixel. Tracks that are not finite or outside their frame are ignored.
struct Track {
  float x, y, u, v;
};

/// A camera's rotation from one frame to the next. A point at X in the camera's coordinates (x to the right,
/// y down, z forward) is at R X afterwards. The image of a very distant point moves from p to K R K^-1 p.
struct CameraRotation {
  float x = 0, y = 0, z = 0;             ///< rotation vector: R's axis, with the angle in radians as length
  float fx = 0, fy = 0, cx = 0, cy = 0;  ///< px: focal lengths and principal point of K
};

/// Throws Error(invalid_argument) for an angle above pi, focal lengths that are not positive, or values that
/// are not finite.
PARAFIELD_API void check(const CameraRotation& camera);

/// Number of columns and rows of the grid in which features are sought, one per cell. Cells are nearly
/// square. There are at most `max_features` cells, and at most as many columns and rows as the frame has.
/// Throws Error(invalid_argument) for a frame below 1x1 or max_features below 1.
PARAFIELD_API Size feature_grid(Size frame, int max_features);

/// Finds features of frame0 and their flow to frame1, and returns them in host memory, cell by cell in row
/// order. A feature is dropped if it has too little texture around it, begins or ends outside the frame or at
/// a pixel that is not finite, or fails a check of FeatureTracking. Frames must have the same size and be in
/// host memory or the device's memory. The default device is the CUDA device that holds the frames, otherwise
/// Device::best(). Throws Error(invalid_argument) for parameters or frames out of range, Error(memory),
/// Error(device), and Error(cancelled) soon after another thread has set `cancelled`.
PARAFIELD_API std::vector<Track> find_tracks(const In<Frame>& frame0, const In<Frame>& frame1,
                                             const FeatureTracking& tracking = {},
                                             const std::optional<Device>& device = {},
                                             const std::atomic<bool>* cancelled = nullptr);

}  // namespace parafield
