#pragma once

namespace parafield {

/// A feature of one frame and its flow to the next, px: x to the right, y down, (0, 0) at the centre of the first pixel. One
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

}  // namespace parafield
