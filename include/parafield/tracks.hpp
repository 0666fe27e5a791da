// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <vector>

#include "parafield/image.hpp"
#include "parafield/methods/feature_tracking.hpp"

namespace parafield {

/// A feature of one frame and its flow to the next, px: x to the right, y down, (0, 0) at the center of the
/// first pixel. A track that is not finite, or lies outside its frame, is not used.
struct Track {
  float x, y, u, v;
};

/// A camera's turn from one frame to the next. A point at X in the camera's coordinates (x to the right, y
/// down, z forward) is at R X afterwards. The image of everything far away moves from p to K R K^-1 p.
struct CameraRotation {
  float x = 0, y = 0, z = 0;             ///< R turns about this axis, by the vector's length in radians
  float fx = 0, fy = 0, cx = 0, cy = 0;  ///< px: K's focal lengths and principal point
};

/// Throws Error(invalid_argument) for a turn above pi, focal lengths that are not positive, or values that
/// are not finite.
PARAFIELD_API void check(const CameraRotation& camera);

/// Columns and rows of the cells in which features are looked for, one feature in each. Cells have about
/// equal sides. There are at most `max_features` of them, and at most as many columns and rows as the frame
/// has pixels. Throws Error(invalid_argument) for a frame below 1x1 or max_features below 1.
PARAFIELD_API Size feature_grid(Size frame, int max_features);

/// Features of frame0 and their flow to frame1, cell by cell, row by row, in host memory. A feature is
/// dropped if it has no texture around it, begins or ends outside the frame or at a pixel that is not finite,
/// or fails a check of FeatureTracking. Frames have one size and lie in host memory or the device's. Not
/// given a device: that of CUDA frames, otherwise Device::best(). Throws Error(invalid_argument) for
/// parameters or frames out of range, Error(memory), Error(device).
PARAFIELD_API std::vector<Track> find_tracks(const In<Frame>& frame0, const In<Frame>& frame1,
                                             const FeatureTracking& tracking = {},
                                             const std::optional<Device>& device = {});

}  // namespace parafield
