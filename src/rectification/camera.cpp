// SPDX-License-Identifier: MIT
#include "rectification/camera.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "core/views.hpp"

namespace parafield {

Vector3 applied(const Matrix3& m, const Vector3& v) {
  Vector3 result;
  for (std::size_t i = 0; i < 3; ++i) result[i] = m[3 * i] * v[0] + m[3 * i + 1] * v[1] + m[3 * i + 2] * v[2];
  return result;
}

Matrix3 product(const Matrix3& a, const Matrix3& b) {
  Matrix3 result{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 3; ++k) result[3 * i + j] += a[3 * i + k] * b[3 * k + j];
  return result;
}

Matrix3 transposed(const Matrix3& m) { return {m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]}; }

double determinant(const Matrix3& m) {
  return m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
         m[2] * (m[3] * m[7] - m[4] * m[6]);
}

Rotation normalized(const Rotation& r) {
  const double length = std::sqrt(r.w * r.w + r.x * r.x + r.y * r.y + r.z * r.z);
  return {r.w / length, r.x / length, r.y / length, r.z / length};
}

/// Shepperd 1978: computes the largest component first to avoid cancellation.
Rotation rotation_of(const Matrix3& m) {
  const double squares[] = {1 + m[0] + m[4] + m[8], 1 + m[0] - m[4] - m[8], 1 - m[0] + m[4] - m[8],
                            1 - m[0] - m[4] + m[8]};
  int largest = 0;
  for (int i = 1; i < 4; ++i)
    if (squares[i] > squares[largest]) largest = i;
  const double wx = m[7] - m[5], wy = m[2] - m[6], wz = m[3] - m[1];
  const double xy = m[1] + m[3], xz = m[2] + m[6], yz = m[5] + m[7], square = squares[largest];
  if (largest == 0) return normalized({square, wx, wy, wz});
  Rotation r = largest == 1   ? Rotation{wx, square, xy, xz}
               : largest == 2 ? Rotation{wy, xy, square, yz}
                              : Rotation{wz, xz, yz, square};
  if (r.w < 0) r = {-r.w, -r.x, -r.y, -r.z};  // choose the rotation by at most pi
  return normalized(r);
}

Rotation half_of(const Rotation& r) { return normalized({1 + r.w, r.x, r.y, r.z}); }

Rotation rotation_between(const Vector3& from, const Vector3& to) {
  const auto length = [](const Vector3& v) { return std::hypot(v[0], v[1], v[2]); };
  const double lengths = length(from) * length(to);
  return normalized({lengths + from[0] * to[0] + from[1] * to[1] + from[2] * to[2],
                     from[1] * to[2] - from[2] * to[1], from[2] * to[0] - from[0] * to[2],
                     from[0] * to[1] - from[1] * to[0]});
}

Matrix3 matrix_of(const Rotation& r) {
  const auto [w, x, y, z] = r;
  return {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
          2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
          2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
}

/// Factor g of the radial distortion; 0 at a pole of the formula and beyond.
static double radial(const LensDistortion& d, double r2) {
  const double below = 1 + r2 * (d.k4 + r2 * (d.k5 + r2 * d.k6));
  return below > 0 ? (1 + r2 * (d.k1 + r2 * (d.k2 + r2 * d.k3))) / below : 0;
}

/// Distance from the center, in focal lengths, at which a fisheye lens shows a ray at an angle from its axis.
static double fisheye_radius(const LensDistortion& d, double angle) {
  const double a2 = angle * angle;
  return angle * (1 + a2 * (d.k1 + a2 * (d.k2 + a2 * (d.k3 + a2 * d.k4))));
}

Lens::Lens(const CalibratedCamera& camera)
    : camera_(camera), limit_(std::numeric_limits<double>::infinity()) {
  const bool fisheye = camera.distortion.model == LensModel::fisheye;
  constexpr double step = 1e-3;
  const double farthest = fisheye ? std::numbers::pi : 10;  // 10: 84 degrees off the axis
  if (fisheye) limit_ = std::numbers::pi;
  double last = 0;
  for (double r = step; r <= farthest; r += step) {
    const double seen = fisheye ? fisheye_radius(camera.distortion, r) : r * radial(camera.distortion, r * r);
    if (!(seen > last)) {
      limit_ = fisheye ? r - step : (r - step) * (r - step);
      break;
    }
    last = seen;
  }
}

Place Lens::distorted(const Place& ray) const {
  const auto [x, y] = ray;
  const LensDistortion& d = camera_.distortion;
  const double r2 = x * x + y * y, g = radial(d, r2);
  return {x * g + 2 * d.p1 * x * y + d.p2 * (r2 + 2 * x * x),
          y * g + d.p1 * (r2 + 2 * y * y) + 2 * d.p2 * x * y};
}

std::optional<Place> Lens::seen(const Vector3& ray) const {
  Place at{0, 0};
  if (camera_.distortion.model == LensModel::fisheye) {
    const double across = std::hypot(ray[0], ray[1]), angle = std::atan2(across, ray[2]);
    if (!(angle < limit_)) return {};
    const double scale = across > 0 ? fisheye_radius(camera_.distortion, angle) / across : 0;
    at = {ray[0] * scale, ray[1] * scale};
  } else {
    if (!(ray[2] > 0)) return {};
    const Place flat{ray[0] / ray[2], ray[1] / ray[2]};
    if (!(flat.x * flat.x + flat.y * flat.y < limit_)) return {};
    at = distorted(flat);
  }
  return Place{camera_.fx * at.x + camera_.cx, camera_.fy * at.y + camera_.cy};
}

std::optional<Vector3> Lens::ray(const Place& pixel) const {
  const Place wanted{(pixel.x - camera_.cx) / camera_.fx, (pixel.y - camera_.cy) / camera_.fy};
  return camera_.distortion.model == LensModel::fisheye ? fisheye_ray(wanted) : perspective_ray(wanted);
}

/// Bisection, because the radius grows with the angle up to the limit.
std::optional<Vector3> Lens::fisheye_ray(const Place& wanted) const {
  const double radius = std::hypot(wanted.x, wanted.y);
  if (!(radius < fisheye_radius(camera_.distortion, limit_))) return {};
  if (radius == 0) return Vector3{0, 0, 1};
  double below = 0, above = limit_, angle = 0;
  for (int i = 0; i < 80 && angle != (below + above) / 2; ++i) {
    angle = (below + above) / 2;
    (fisheye_radius(camera_.distortion, angle) < radius ? below : above) = angle;
  }
  const double across = std::sin(angle) / radius;
  return Vector3{wanted.x * across, wanted.y * across, std::cos(angle)};
}

/// Newton's method with finite differences as derivatives.
std::optional<Vector3> Lens::perspective_ray(const Place& wanted) const {
  constexpr double step = 1e-6, enough = 1e-12;
  Place ray{0, 0};
  for (int i = 0; i < 100; ++i) {
    const Place at = distorted(ray);
    const double ex = wanted.x - at.x, ey = wanted.y - at.y;
    if (std::hypot(ex, ey) < enough * (1 + std::hypot(wanted.x, wanted.y))) {
      if (ray.x * ray.x + ray.y * ray.y < limit_) return Vector3{ray.x, ray.y, 1};
      return {};
    }
    const Place right = distorted({ray.x + step, ray.y}), left = distorted({ray.x - step, ray.y});
    const Place below = distorted({ray.x, ray.y + step}), above = distorted({ray.x, ray.y - step});
    const double a = (right.x - left.x) / (2 * step), b = (below.x - above.x) / (2 * step);
    const double c = (right.y - left.y) / (2 * step), d = (below.y - above.y) / (2 * step);
    const double area = a * d - b * c;
    if (!(area > 1e-9)) return {};
    double dx = (d * ex - b * ey) / area, dy = (a * ey - c * ex) / area;
    const double length = std::hypot(dx, dy),
                 longest = 0.5;  // longer steps may leave the valid range of the lens
    if (length > longest) dx *= longest / length, dy *= longest / length;
    ray = {ray.x + dx, ray.y + dy};
  }
  return {};
}

RectifiedView left_view(const StereoCalibration& calibration, const Rectification& plan) {
  const StereoGeometry& g = plan.geometry;
  return {calibration.left, plan.size, plan.left_rotation, g.focal, g.cx, g.cy};
}

RectifiedView right_view(const StereoCalibration& calibration, const Rectification& plan) {
  const StereoGeometry& g = plan.geometry;
  return {calibration.right, plan.size, plan.right_rotation, g.focal, g.cx + g.doffs, g.cy};
}

void fill_tables(const RectifiedView& view, View<float> x, View<float> y, View<std::uint8_t> region) {
  constexpr float nowhere = std::numeric_limits<float>::quiet_NaN();
  for_each_pixel(region.size(), [&](int column, int row) {
    const std::optional<Place> at = view.source(column, row);
    x(column, row) = at ? float(at->x) : nowhere;
    y(column, row) = at ? float(at->y) : nowhere;
    region(column, row) = at.has_value();
  });
}

}  // namespace parafield
