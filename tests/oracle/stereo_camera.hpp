// SPDX-License-Identifier: MIT
#pragma once
// A stereo camera in float64, by OpenCV's equations (opencv, calib3d: Detailed Description), and a textured
// plane that it sees.
#include <array>
#include <cmath>

#include "parafield/rectification.hpp"

namespace parafield::oracle {

struct Point {
  double x, y, z;
};
struct Pixel {
  double x, y;
};

/// R X + T.
inline Point moved(const std::array<double, 9>& r, const Point& p, const std::array<double, 3>& t = {}) {
  return {r[0] * p.x + r[1] * p.y + r[2] * p.z + t[0], r[3] * p.x + r[4] * p.y + r[5] * p.z + t[1],
          r[6] * p.x + r[7] * p.y + r[8] * p.z + t[2]};
}
/// R^T (X - T).
inline Point moved_back(const std::array<double, 9>& r, const Point& p, const std::array<double, 3>& t = {}) {
  const double x = p.x - t[0], y = p.y - t[1], z = p.z - t[2];
  return {r[0] * x + r[3] * y + r[6] * z, r[1] * x + r[4] * y + r[7] * z, r[2] * x + r[5] * y + r[8] * z};
}

/// Rodrigues' formula: the turn about a vector by its length.
inline std::array<double, 9> turn(double x, double y, double z) {
  const double angle = std::hypot(x, y, z);
  if (angle == 0) return {1, 0, 0, 0, 1, 0, 0, 0, 1};
  x /= angle, y /= angle, z /= angle;
  const double c = std::cos(angle), s = std::sin(angle), d = 1 - c;
  return {c + d * x * x,     d * x * y - s * z, d * x * z + s * y, d * x * y + s * z, c + d * y * y,
          d * y * z - s * x, d * x * z - s * y, d * y * z + s * x, c + d * z * z};
}

/// Where a camera sees a point.
inline Pixel project(const CalibratedCamera& camera, const Point& point) {
  const auto& k = camera.distortion;
  if (k.model == LensModel::fisheye) {
    const double length = std::sqrt(point.x * point.x + point.y * point.y + point.z * point.z),
                 t = std::acos(point.z / length), across = length * std::sin(t);
    const double d =
        t + k.k1 * std::pow(t, 3) + k.k2 * std::pow(t, 5) + k.k3 * std::pow(t, 7) + k.k4 * std::pow(t, 9);
    return {camera.fx * d * (across > 0 ? point.x / across : 0) + camera.cx,
            camera.fy * d * (across > 0 ? point.y / across : 0) + camera.cy};
  }
  const double x = point.x / point.z, y = point.y / point.z, r2 = x * x + y * y, r4 = r2 * r2, r6 = r4 * r2;
  const double g = (1 + k.k1 * r2 + k.k2 * r4 + k.k3 * r6) / (1 + k.k4 * r2 + k.k5 * r4 + k.k6 * r6);
  return {camera.fx * (x * g + 2 * k.p1 * x * y + k.p2 * (r2 + 2 * x * x)) + camera.cx,
          camera.fy * (y * g + k.p1 * (r2 + 2 * y * y) + 2 * k.p2 * x * y) + camera.cy};
}

/// The ray of a pixel, at z = 1: the fixed point of "take the distortion off".
inline Point ray_of(const CalibratedCamera& camera, const Pixel& pixel) {
  double x = (pixel.x - camera.cx) / camera.fx, y = (pixel.y - camera.cy) / camera.fy;
  for (int i = 0; i < 300; ++i) {
    const Pixel seen = project(camera, {x, y, 1});
    const double dx = (pixel.x - seen.x) / camera.fx, dy = (pixel.y - seen.y) / camera.fy;
    x += dx;
    y += dy;
    if (std::abs(dx) + std::abs(dy) < 1e-13) break;
  }
  return {x, y, 1};
}

/// The plane a x + b y + z = depth, in the left camera's coordinates, with a smooth texture of 0..255.
struct TexturedPlane {
  double a = 0.25, b = 0.1, depth = 1.5;

  /// Distance along a ray from a center, in lengths of the ray.
  double distance(const Point& center, const Point& ray) const {
    return (depth - (a * center.x + b * center.y + center.z)) / (a * ray.x + b * ray.y + ray.z);
  }
  double brightness(const Point& p) const {
    double sum = 128;
    for (int i = 0; i < 16; ++i) {
      const double f = 6 + 3.1 * i,
                   angle = 2.4 * i;  // waves of 70 to 10 px from 1.5 away at 500 px focal length
      sum += 22 * std::pow(0.93, i) * std::sin(f * (std::cos(angle) * p.x + std::sin(angle) * p.y) + 1.7 * i);
    }
    return sum < 0 ? 0 : sum > 255 ? 255 : sum;
  }
};

/// A calibrated stereo camera with distortion, turned and moved cameras.
inline StereoCalibration some_calibration(Size size = {320, 240}) {
  const double s = size.width / 640.0;
  StereoCalibration c;
  c.left = {520 * s, 522 * s, 318.5 * s, 243.2 * s, {-0.28, 0.09, 0.0012, -0.0007, 0.01}};
  c.right = {527 * s, 526 * s, 324.1 * s, 236.8 * s, {-0.31, 0.12, -0.0009, 0.0011, -0.02}};
  c.rotation = turn(0.021, -0.034, 0.017);
  c.translation = {-0.12, 0.004, 0.006};
  c.size = size;
  return c;
}

/// The images that both cameras take of the plane.
inline FrameBuffer image_of(const StereoCalibration& c, bool right, const TexturedPlane& plane,
                            PixelFormat format = PixelFormat::gray_f32) {
  FrameBuffer image(c.size, format);
  const Point center = right ? moved_back(c.rotation, {0, 0, 0}, c.translation) : Point{0, 0, 0};
  for (int y = 0; y < c.size.height; ++y)
    for (int x = 0; x < c.size.width; ++x) {
      const Pixel pixel{double(x), double(y)};
      const Point ray = right ? moved_back(c.rotation, ray_of(c.right, pixel)) : ray_of(c.left, pixel);
      const double s = plane.distance(center, ray);
      const double value =
          plane.brightness({center.x + s * ray.x, center.y + s * ray.y, center.z + s * ray.z});
      if (format == PixelFormat::gray_f32)
        static_cast<float*>(image.row(y))[x] = float(value);
      else  // rgb_u8
        for (int i = 0; i < 3; ++i)
          static_cast<std::uint8_t*>(image.row(y))[3 * x + i] =
              std::uint8_t(i == 1 ? 255 - value : value + 0.5);
    }
  return image;
}

}  // namespace parafield::oracle
