#pragma once
#include <optional>
#include <vector>

#include "parafield/image.hpp"
#include "parafield/methods/feature_tracking.hpp"

namespace parafield {

/// A feature of one frame and its flow to the next, px: x to the right, y down, (0, 0) at the center of the first pixel. One
/// that is not finite, or lies outside its frame, is passed over.
struct Track {
  float x, y, u, v;
};

/// How a camera turned from one frame to the next: what was at X in its coordinates (x to the right, y down, z forward) is at
/// R X, with R the turn about (x, y, z) by that vector's length, radians. It moves the image of everything far away from p to
/// K R K^-1 p, K of the focal lengths and the principal point, px.
struct CameraRotation {
  float x = 0, y = 0, z = 0;
  float fx = 0, fy = 0, cx = 0, cy = 0;
};

/// The cells in which features are looked for, one in each: columns and rows of about equal sides, `max_features` in all at
/// most, and no more of either than the frame has pixels. Throws Error(invalid_argument) for a frame below 1x1 or no features.
PARAFIELD_API Size feature_grid(Size frame, int max_features);

/// Features of frame0 and where they are in frame1: those that are kept, cell by cell, row by row; in host memory. Dropped are
/// those without texture around them, those that begin or end outside the frame or at a pixel that is no number, and those that
/// fail the checks of FeatureTracking. Frames are of one size, in host memory or the device's. Without a device: where the frames are, if that is a CUDA device, otherwise Device::best(). Throws Error(invalid_argument)
/// for parameters or frames that are out of range, Error(memory), Error(device).
PARAFIELD_API std::vector<Track> find_tracks(const In<Frame>& frame0, const In<Frame>& frame1,
                                             const FeatureTracking& tracking = {},
                                             const std::optional<Device>& device = {});

}  // namespace parafield
