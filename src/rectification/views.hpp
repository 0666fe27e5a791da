// SPDX-License-Identifier: MIT
#pragma once
#include "rectification/camera.hpp"

namespace parafield {

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
    const Vector3 ray = applied(back_, {(x - cx_) / focal_, (y - cy_) / focal_, 1});
    if (!(ray[2] > 0)) return {};
    const std::optional<Place> at = lens_.seen({ray[0] / ray[2], ray[1] / ray[2]});
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

/// The left and the right view of a plan.
RectifiedView left_view(const StereoCalibration& calibration, const Rectification& plan);
RectifiedView right_view(const StereoCalibration& calibration, const Rectification& plan);

/// Writes the positions in the camera's image of all pixels of a view; NaN outside the image. `region`
/// receives 1 inside and 0 outside.
void fill_tables(const RectifiedView& view, View<float> x, View<float> y, View<std::uint8_t> region);

}  // namespace parafield
