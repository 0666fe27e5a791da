// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <optional>

#include "parafield/rectification.hpp"

/// Rays, rotations, lenses and rectified views in float64, for tables that are computed once.
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

/// Position in an image, px, or on the plane z = 1.
struct Place {
  double x, y;
};

/// A camera with its lens.
class Lens {
 public:
  explicit Lens(const CalibratedCamera& camera);

  /// Position at which the image shows a ray of any length. None beyond the radius (of a fisheye lens: the
  /// angle) where the distortion stops growing, because there the formula folds back into the image.
  std::optional<Place> seen(const Vector3& ray) const;
  /// Ray that the image shows at a position, if there is one: (x, y, 1), or of length 1 for a fisheye lens,
  /// which may also see what is behind z = 0.
  std::optional<Vector3> ray(const Place& pixel) const;

 private:
  /// Where a perspective lens shows the point of a ray on the plane z = 1, in focal lengths.
  Place distorted(const Place& ray) const;
  std::optional<Vector3> perspective_ray(const Place& wanted) const;
  std::optional<Vector3> fisheye_ray(const Place& wanted) const;

  CalibratedCamera camera_;
  double limit_;  // squared radius or, of a fisheye lens, angle at which the distorted radius stops growing
};

/// One of the two rectified views. Maps its pixels to positions in the camera's image.
class RectifiedView {
 public:
  /// `rotation`: from the camera to the rectified view. `focal`, `cx`, `cy`: focal length and principal point
  /// of the rectified view, px.
  RectifiedView(const CalibratedCamera& camera, Size size, const Matrix3& rotation, double focal, double cx,
                double cy)
      : lens_(camera), size_(size), back_(transposed(rotation)), focal_(focal), cx_(cx), cy_(cy) {}

  /// Changes the focal length, px.
  void zoom(double focal) { focal_ = focal; }

  /// Position in the camera's image that a pixel of the view shows; none outside the image.
  std::optional<Place> source(double x, double y) const {
    const std::optional<Place> at = lens_.seen(applied(back_, {(x - cx_) / focal_, (y - cy_) / focal_, 1}));
    const bool inside =
        at && at->x >= 0 && at->x <= size_.width - 1 && at->y >= 0 && at->y <= size_.height - 1;
    return inside ? at : std::nullopt;
  }

 private:
  Lens lens_;
  Size size_;
  Matrix3 back_;
  double focal_, cx_, cy_;
};

/// The plan of the options after checks, or plan_rectification's if they have none. Throws like Rectifier.
Rectification plan_of(const StereoCalibration& calibration, Size size, const RectifierOptions& options);

/// The left and the right view of a plan.
RectifiedView left_view(const StereoCalibration& calibration, const Rectification& plan);
RectifiedView right_view(const StereoCalibration& calibration, const Rectification& plan);

/// Writes the positions in the camera's image of all pixels of a view; NaN outside the image. `region`
/// receives 1 inside and 0 outside.
void fill_tables(const RectifiedView& view, View<float> x, View<float> y, View<std::uint8_t> region);

}  // namespace parafield
