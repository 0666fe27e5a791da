// SPDX-License-Identifier: MIT
// Calibrations: camera_info of ROS, as calibration files (camera_matrix, distortion_coefficients ...) and as
// messages (K, D, R, P; in lower case since ROS 2).
#include "io/calibration.hpp"

namespace parafield::io {
namespace {

/// Names of an entry in a file and in a message.
struct Names {
  std::string_view file, message, lower;

  bool has(std::string_view name) const { return name == file || name == message || name == lower; }
};
constexpr Names camera_names = {"camera_matrix", "K", "k"},
                lens_names = {"distortion_coefficients", "D", "d"},
                rotation_names = {"rectification_matrix", "R", "r"},
                projection_names = {"projection_matrix", "P", "p"};

/// Reads a matrix of a file, or a list of a message, which has the given shape unless it is 0x0.
Matrix matrix_in(const CalibrationEntry& entry, CalibrationText& text, const Names& names, int rows,
                 int columns) {
  if (entry.name == names.file) return tagged_matrix(text, false);
  Matrix matrix = listed(text);
  text.end();
  if (rows > 0 && matrix.values.size() == std::size_t(rows) * std::size_t(columns))
    matrix.rows = rows, matrix.columns = columns;
  return matrix;
}

}  // namespace

bool is_ros(const std::vector<CalibrationEntry>& entries) {
  const auto has = [&](const Names& names) {
    return std::ranges::any_of(entries, [&](const CalibrationEntry& entry) {
      return names.has(entry.name) && entry.value.find("!!opencv-matrix") == entry.value.npos;
    });
  };
  return has(camera_names) && has(projection_names);
}

LensModel lens_model_of(CalibrationText& text) {
  std::string_view name = text.word();
  text.end();
  if (name.size() > 1 && (name[0] == '"' || name[0] == '\'') && name.back() == name[0])
    name = name.substr(1, name.size() - 2);
  if (name == "plumb_bob" || name == "rational_polynomial" || name == "perspective")
    return LensModel::perspective;
  if (name == "equidistant" || name == "fisheye") return LensModel::fisheye;
  text.fail(" cannot be ", detail::quoted(name),
            "; allowed: plumb_bob, rational_polynomial, perspective, equidistant, fisheye");
}

void read_ros(const std::vector<CalibrationEntry>& entries, CalibrationParts& parts) {
  std::optional<CalibratedCamera> camera;
  std::optional<LensCoefficients> lens;
  std::optional<LensModel> model;
  std::optional<std::array<double, 9>> rotation;
  std::optional<std::array<double, 12>> projection;
  for (const CalibrationEntry& entry : entries) {
    CalibrationText text(entry);
    if (camera_names.has(entry.name))
      set(camera, camera_of(matrix_in(entry, text, camera_names, 3, 3), text), text);
    else if (lens_names.has(entry.name))
      set(lens, {matrix_in(entry, text, lens_names, 0, 0).values}, text);
    else if (rotation_names.has(entry.name))
      set(rotation, values_of_matrix<3, 3>(matrix_in(entry, text, rotation_names, 3, 3), text), text);
    else if (projection_names.has(entry.name))
      set(projection, values_of_matrix<3, 4>(matrix_in(entry, text, projection_names, 3, 4), text), text);
    else if (entry.name == "distortion_model")
      set(model, lens_model_of(text), text);
  }
  std::vector<std::string_view> missing;
  if (!lens) missing.push_back("distortion_coefficients");
  if (!model) missing.push_back("distortion_model");
  if (!rotation) missing.push_back("rectification_matrix");
  if (!missing.empty()) fail_format("the camera_info of ROS lacks ", joined(missing));
  if (!((*projection)[0] > 0 && (*projection)[5] > 0))
    fail_format("projection_matrix has focal lengths ", (*projection)[0], " and ", (*projection)[5],
                " px; they must be above 0: calibrate both cameras as a pair");
  parts.ros = RosCamera{*camera, *lens, *model, *rotation, *projection};
}

StereoCalibration stereo_of(const RosCamera& one, const RosCamera& other) {
  // A projection maps X of the left camera's rectified view to (fx (X + t_x) + cx Z) / Z.
  const auto shift = [](const RosCamera& camera) {
    const std::array<double, 12>& p = camera.projection;
    return std::array{(p[3] - p[2] * p[11]) / p[0], (p[7] - p[6] * p[11]) / p[5], p[11]};
  };
  const bool swapped = shift(one)[0] < shift(other)[0];
  const RosCamera &left = swapped ? other : one, &right = swapped ? one : other;
  const std::array<double, 3> from = shift(left), to = shift(right);
  if (from == to)
    fail_format(
        "both projection matrices have the same fourth column, so the cameras would be in one place: ",
        "calibrate them as a pair");
  StereoCalibration calibration{left.camera, right.camera};
  // The rectified views differ by to - from: R = R2^T R1, T = R2^T (to - from).
  calibration.rotation = {};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k) {
      const double turned = right.rectification[3 * k + i];
      for (std::size_t j = 0; j < 3; ++j)
        calibration.rotation[3 * i + j] += turned * left.rectification[3 * k + j];
      calibration.translation[i] += turned * (to[k] - from[k]);
    }
  as_format([&] {
    set_lenses(calibration, left.lens, left.lens, left.model);
    StereoCalibration of_right;  // its lens may be of another model
    set_lenses(of_right, right.lens, right.lens, right.model);
    calibration.right.distortion = of_right.right.distortion;
  });
  return calibration;
}

}  // namespace parafield::io
