// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "core/fail.hpp"
#include "core/views.hpp"
#include "rectification/camera.hpp"

namespace parafield {
namespace {

constexpr int along_border = 128;  // samples along each side of an image

void check_camera(const CalibratedCamera& camera, const char* side) {
  const auto [k1, k2, p1, p2, k3, k4, k5, k6, model] = camera.distortion;
  for (const double value : {camera.fx, camera.fy, camera.cx, camera.cy, k1, k2, p1, p2, k3, k4, k5, k6})
    if (!std::isfinite(value)) fail_value("the ", side, " camera of the calibration has a value ", value);
  if (!(camera.fx > 0 && camera.fy > 0))
    fail_value("the ", side, " camera of the calibration has focal lengths ", camera.fx, " and ", camera.fy,
               " px; they must be above 0");
  if (model == LensModel::fisheye && (p1 != 0 || p2 != 0 || k5 != 0 || k6 != 0))
    fail_value("the ", side, " camera of the calibration has a fisheye lens with p1, p2, k5, k6 = ", p1, ", ",
               p2, ", ", k5, ", ", k6, "; the fisheye model has only k1 to k4");
}

void check_rotation(const Matrix3& rotation, const char* name) {
  const Matrix3 square = product(rotation, transposed(rotation));
  double largest = 0;
  for (std::size_t i = 0; i < 9; ++i) largest = std::max(largest, std::abs(square[i] - identity3[i]));
  if (!(largest <= 0.01) || !(determinant(rotation) > 0))
    fail_value(name, " is not a rotation: its columns must be orthogonal and of length 1; ",
               "R R^T differs from the identity by ", largest, ", and its determinant is ",
               determinant(rotation));
}

/// Throws if the baseline is not along the rows. `t`: T between the cameras when both are turned to the same
/// orientation. `given`: T of the calibration, for error messages.
void check_translation(const Vector3& t, const Vector3& given) {
  const auto said = [&] { return text("T = (", given[0], ", ", given[1], ", ", given[2], ")"); };
  const double length = std::hypot(t[0], t[1], t[2]);
  if (!(length > 0) || !std::isfinite(length))
    fail_value(said(), " of the calibration: the cameras must be apart");
  if (std::abs(t[1]) > std::abs(t[0]))
    fail(ErrorCode::unsupported, said(),
         " of the calibration: the cameras are one above the other; stereo needs them side by side");
  if (!(std::abs(t[0]) > 0.5 * length))
    fail_value(said(),
               " of the calibration: one camera is in front of the other; stereo needs them side by side");
  if (t[0] > 0)
    fail_value(said(),
               " of the calibration: the right camera is to the left of the left one; swap the images and "
               "calibrate again");
}

Size checked_size(const StereoCalibration& calibration, Size size) {
  const Size own = calibration.size;
  if (own != Size{} && (own.width < 1 || own.height < 1))
    fail_value("the calibration is for images of ", own, " px");
  if (size == Size{}) size = own;
  if (size == Size{}) fail_value("the calibration lacks the size of the images; pass it");
  if (size.width < 1 || size.height < 1) fail_value("images of ", size, " px cannot be rectified");
  if (own != Size{} && own != size)
    fail_value("the calibration is for images of ", own, " px, the frames are ", size);
  return size;
}

/// Calls f(x, y) along the border of an image, at `along` + 1 evenly spaced positions on each side.
template <class F>
void around(Size size, F f, int along = along_border) {
  const double right = size.width - 1, bottom = size.height - 1;
  for (int i = 0; i <= along; ++i) {
    const double share = double(i) / along;
    f(share * right, 0.0);
    f(share * right, bottom);
    f(0.0, share * bottom);
    f(right, share * bottom);
  }
}

/// Rotated ray of a pixel, on the plane z = 1. If there is none, or if the ray of a fisheye lens is more than
/// 80 degrees off the axis of the view, moves the pixel toward the principal point until there is one.
Place rotated_ray(const CalibratedCamera& camera, const Lens& lens, const Matrix3& rotation, Place pixel) {
  constexpr double cosine_80 = 0.17364817766693036;
  const double least = camera.distortion.model == LensModel::fisheye ? cosine_80 : 0.01;
  for (int i = 0; i < 200; ++i) {
    if (const auto ray = lens.ray(pixel)) {
      const Vector3 at = applied(rotation, *ray);
      if (at[2] > least) return {at[0] / at[2], at[1] / at[2]};
    }
    pixel = {camera.cx + 0.95 * (pixel.x - camera.cx), camera.cy + 0.95 * (pixel.y - camera.cy)};
  }
  fail_value("the calibration turns a camera away from its rectified view");
}

/// Mean of the rotated rays of the image's corners; for a fisheye lens, which may show its corners beyond any
/// flat view, of the places halfway to them.
Place middle_of(const CalibratedCamera& camera, const Matrix3& rotation, Size size) {
  const Lens lens(camera);
  Place sum{0, 0};
  const bool fisheye = camera.distortion.model == LensModel::fisheye;
  const double left = fisheye ? camera.cx / 2 : 0, top = fisheye ? camera.cy / 2 : 0;
  const double right = fisheye ? (camera.cx + size.width - 1) / 2 : size.width - 1,
               bottom = fisheye ? (camera.cy + size.height - 1) / 2 : size.height - 1;
  for (const double x : {left, right})
    for (const double y : {top, bottom}) {
      const Place ray = rotated_ray(camera, lens, rotation, {x, y});
      sum = {sum.x + ray.x / 4, sum.y + ray.y / 4};
    }
  return sum;
}

/// Usual focal length of a camera, reduced for barrel distortion at the corners as in OpenCV.
double usual_focal(const CalibratedCamera& camera, Size size) {
  if (camera.distortion.model == LensModel::fisheye) return camera.fy;
  const double square = double(size.width) * size.width + double(size.height) * size.height;
  const double shrunk = 1 + camera.distortion.k1 * square / (4 * camera.fy * camera.fy);
  return camera.distortion.k1 < 0 ? camera.fy * std::max(shrunk, 0.05) : camera.fy;
}

/// Smallest focal length at which all pixels of both views are inside the images.
double smallest_focal(const StereoCalibration& calibration, const Rectification& plan) {
  const double usual = plan.geometry.focal;
  RectifiedView views[] = {left_view(calibration, plan), right_view(calibration, plan)};
  const auto fits = [&](double factor, int along = along_border) {
    bool inside = true;
    for (RectifiedView& view : views) {
      view.zoom(usual * factor);
      around(
          plan.size, [&](double x, double y) { inside = inside && view.source(x, y).has_value(); }, along);
    }
    return inside;
  };
  double above = 64;
  if (!fits(above))
    fail_value("with this calibration, the rectified views show nothing that is in both images");
  constexpr double step = 0.98;
  while (above > 1e-3 && fits(above * step)) above *= step;
  double below = above * step;
  for (int i = 0; i < 40; ++i) {
    const double middle = (above + below) / 2;
    (fits(middle) ? above : below) = middle;
  }
  const int every_pixel = std::max(std::max(plan.size.width, plan.size.height) - 1, 1);
  while (above < 64 && !fits(above, every_pixel)) above *= 1.0005;
  return usual * above;
}

/// Largest focal length at which both views show the whole images.
double largest_focal(const StereoCalibration& calibration, const Rectification& plan) {
  const auto& [size, g, left, right] = plan;
  double focal = 1e12;
  const auto limit = [&](double ray, double center, int pixels) {
    if (ray < 0) focal = std::min(focal, center / -ray);
    if (ray > 0) focal = std::min(focal, (pixels - 1 - center) / ray);
  };
  const auto show = [&](const CalibratedCamera& camera, const Matrix3& rotation, double cx) {
    const Lens lens(camera);
    around(plan.size, [&](double x, double y) {
      const Place ray = rotated_ray(camera, lens, rotation, {x, y});
      limit(ray.x, cx, plan.size.width);
      limit(ray.y, plan.geometry.cy, plan.size.height);
    });
  };
  show(calibration.left, left, g.cx);
  show(calibration.right, right, g.cx + g.doffs);
  if (!(focal > 0))
    fail_value("with this calibration, no rectified view shows the whole images; use a smaller alpha");
  return focal;
}

/// Plan for a pair that is already rectified: its cameras stay as they are.
Rectification kept(const StereoCalibration& calibration, Size size) {
  const CalibratedCamera &left = calibration.left, &right = calibration.right;
  const auto near = [](double a, double b, double tolerance) { return std::abs(a - b) <= tolerance; };
  if (!near(left.fx, left.fy, 1e-6 * left.fx) || !near(left.fx, right.fx, 1e-6 * left.fx) ||
      !near(left.fx, right.fy, 1e-6 * left.fx) || !near(left.cy, right.cy, 1e-6 * left.fx) ||
      !(left.distortion == LensDistortion{}) || !(right.distortion == LensDistortion{}))
    fail_value("cameras of a rectified pair must have one focal length, one cy and no distortion");
  return {size,
          {left.fx, -calibration.translation[0], left.cx, left.cy, right.cx - left.cx},
          identity3,
          identity3};
}

}  // namespace

Rectification plan_rectification(const StereoCalibration& calibration, Size given, double alpha) {
  const Size size = checked_size(calibration, given);
  if (!(alpha >= 0 && alpha <= 1)) fail_value("alpha cannot be ", alpha, "; it must be 0 to 1");
  check_camera(calibration.left, "left");
  check_camera(calibration.right, "right");
  check_rotation(calibration.rotation, "R of the calibration");
  const Rotation half = half_of(rotation_of(calibration.rotation));
  const Matrix3 forward = matrix_of(half), backward = transposed(forward);
  const Vector3 between = applied(backward, calibration.translation);
  check_translation(between, calibration.translation);
  if (calibration.rectified) return kept(calibration, size);

  // Turn both cameras to a common orientation, then turn their rows parallel to the baseline.
  const Matrix3 level = matrix_of(rotation_between(between, {-1, 0, 0}));
  Rectification plan{size, {}, product(level, forward), product(level, backward)};
  StereoGeometry& g = plan.geometry;
  g.baseline = std::hypot(between[0], between[1], between[2]);
  g.focal = std::min(usual_focal(calibration.left, size), usual_focal(calibration.right, size));
  const Place left = middle_of(calibration.left, plan.left_rotation, size),
              right = middle_of(calibration.right, plan.right_rotation, size);
  g.cx = (size.width - 1) / 2.0 - g.focal * (left.x + right.x) / 2;
  g.cy = (size.height - 1) / 2.0 - g.focal * (left.y + right.y) / 2;
  const bool fisheye = calibration.left.distortion.model == LensModel::fisheye ||
                       calibration.right.distortion.model == LensModel::fisheye;
  double small = alpha < 1 ? smallest_focal(calibration, plan) : 0;
  const double large = alpha > 0 || fisheye ? largest_focal(calibration, plan) : 0;
  if (fisheye && alpha < 1) small = std::max(small, large);  // the pixels of a wider view would be too coarse
  g.focal = (1 - alpha) * small + alpha * large;
  return plan;
}

Rectification plan_of(const StereoCalibration& calibration, Size size, const RectifierOptions& options) {
  if (!options.plan) return plan_rectification(calibration, size, options.alpha);
  const Rectification& plan = *options.plan;
  if (size == Size{} && calibration.size == Size{}) size = plan.size;
  const Size images = checked_size(calibration, size);
  if (images != plan.size)
    fail_value("the rectified views of the plan are ", plan.size, " px, the images are ", images,
               " px; both must have the same size");
  check_camera(calibration.left, "left");
  check_camera(calibration.right, "right");
  check_rotation(plan.left_rotation, "the rotation of the left view");
  check_rotation(plan.right_rotation, "the rotation of the right view");
  const auto& [focal, baseline, cx, cy, doffs] = plan.geometry;
  for (const double value : {baseline, cx, cy, doffs})
    if (!std::isfinite(value)) fail_value("the geometry of the rectified views has a value ", value);
  if (!(focal > 0 && std::isfinite(focal)))
    fail_value("the rectified views have the focal length ", focal, " px; it must be above 0");
  return plan;
}

}  // namespace parafield
