// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <optional>

#include "parafield/rectification.hpp"

/// Rays, rotations and lenses in float64, for tables that are computed once.
namespace parafield {

using Matrix3 = std::array<double, 9>;
using Vector3 = std::array<double, 3>;

inline constexpr Matrix3 identity3 = {1, 0, 0, 0, 1, 0, 0, 0, 1};
Vector3 applied(const Matrix3& m, const Vector3& v);
Matrix3 product(const Matrix3& a, const Matrix3& b);
Matrix3 transposed(const Matrix3& m);
double determinant(const Matrix3& m);

/// A rotation as a quaternion of length 1.
struct Rotation {
  double w = 1, x = 0, y = 0, z = 0;
};
Rotation normalized(const Rotation& rotation);
Rotation rotation_of(const Matrix3& m);  ///< `m` must be nearly a rotation
Rotation half_of(const Rotation& rotation);
/// Shortest rotation from the direction of `from` to the direction of `to`. They must not be opposite.
Rotation rotation_between(const Vector3& from, const Vector3& to);
Matrix3 matrix_of(const Rotation& rotation);

/// Position in an image, px, or point where a ray crosses the plane z = 1.
struct Place {
  double x, y;
};

/// A camera with its lens.
class Lens {
 public:
  explicit Lens(const CalibratedCamera& camera);

  /// Position at which the image shows a ray. None beyond the radius where the distortion stops growing,
  /// because there the formula folds back into the image.
  std::optional<Place> seen(const Place& ray) const;
  /// Ray that the image shows at a position, if there is one.
  std::optional<Place> ray(const Place& pixel) const;

 private:
  Place distorted(const Place& ray) const;

  CalibratedCamera camera_;
  double limit2_;  // squared radius at which the distorted radius stops growing
};

}  // namespace parafield
