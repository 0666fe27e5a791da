// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "io/formats.hpp"
#include "parafield/rectification.hpp"

/// Calibration files. Errors name the line, but not the file.
namespace parafield::io {

/// A named entry of a calibration.
struct CalibrationEntry {
  std::string_view name;
  std::size_t line = 0;    ///< number of its first line
  std::string_view value;  ///< text after the name, up to the next entry; may span several lines
};

/// Values of a matrix, row by row.
struct Matrix {
  int rows = 0, columns = 0;
  std::vector<double> values;

  bool is(int height, int width) const { return rows == height && columns == width; }
};

/// Text that is read from the front, with the current line number for errors.
class CalibrationText {
 public:
  explicit CalibrationText(const CalibrationEntry& entry)
      : rest_(entry.value), line_(entry.line), name_(entry.name) {}

  void skip_space();
  bool accept(std::string_view word);
  void expect(std::string_view word);
  /// Letters, digits and _.
  std::string_view word();
  bool done();  ///< whether nothing follows
  double number();
  int count();  ///< a whole number above 0
  /// Throws if anything follows.
  void end();
  [[noreturn]] void fail(const auto&... parts) const {
    fail_format("line ", line_, ": ", detail::value_text(name_), parts...);
  }

 private:
  std::string_view token();  ///< up to the next space, comma, semicolon or bracket

  std::string_view rest_;
  std::size_t line_;
  std::string_view name_;
};

/// Calls f() and turns its errors into Error(format).
template <class F>
void as_format(F f) {
  try {
    f();
  } catch (const Error& error) {
    fail_format(error.what());
  }
}

/// Reads values in brackets: "[a b c; d e f]", as in Middlebury's files, or "[ a, b, c ]".
Matrix bracketed(CalibrationText& text);
/// Reads a list of YAML: "[ a, b, c ]", or lines "- a".
Matrix listed(CalibrationText& text);

/// A camera_info of ROS, which describes one camera of a pair.
struct RosCamera {
  CalibratedCamera camera;  ///< without distortion
  LensCoefficients lens;
  LensModel model = LensModel::perspective;
  std::array<double, 9> rectification{};  ///< R: from the camera to its rectified view
  std::array<double, 12> projection{};    ///< P, whose fourth column has the baseline
};

/// The parts of a calibration that one YAML file of OpenCV or ROS has.
struct CalibrationParts {
  std::optional<CalibratedCamera> camera[2];  ///< K1 and K2, without distortion
  std::optional<LensCoefficients> lens[2];    ///< D1 and D2
  std::optional<LensModel> model;             ///< of both lenses, if the file names it
  std::optional<RosCamera> ros;               ///< then it has nothing else but the size
  std::optional<std::array<double, 9>> rotation;
  std::optional<std::array<double, 3>> translation;
  std::optional<Size> size;
};
CalibrationParts decode_yaml(ByteSpan bytes);
/// Decodes the entries of a camera_info of ROS. Sets `ros`.
void read_ros(const std::vector<CalibrationEntry>& entries, CalibrationParts& parts);
bool is_ros(const std::vector<CalibrationEntry>& entries);
/// Converts the name of a lens model in a file, in quotes or not. Throws for names that are not known.
LensModel lens_model_of(CalibrationText& text);
/// The calibration of two cameras of ROS, in any order: the right one has the baseline in its projection.
StereoCalibration stereo_of(const RosCamera& one, const RosCamera& other);
/// Combines the parts of one or two files. Error(format) names the parts that are missing, or that both files
/// have.
StereoCalibration calibration_of(CalibrationParts parts, const CalibrationParts& more = {});

/// Whether a file is Middlebury's calib.txt, which has lines "name=value".
bool is_middlebury(ByteSpan bytes);
StereoCalibration decode_middlebury(ByteSpan bytes);

/// Whether a file is a calibration of KITTI, which has lines "P2: ..." or "P_rect_02: ...".
bool is_kitti(ByteSpan bytes);
StereoCalibration decode_kitti_calibration(ByteSpan bytes);

/// The values of a matrix of rows x columns; a vector may also be a row.
template <int rows, int columns>
std::array<double, rows * columns> values_of_matrix(const Matrix& matrix, const CalibrationText& text) {
  if (!matrix.is(rows, columns) && !(columns == 1 && matrix.is(columns, rows)))
    text.fail(" should be a ", rows, "x", columns, " matrix, not ", matrix.rows, "x", matrix.columns);
  std::array<double, rows * columns> values;
  std::ranges::copy(matrix.values, values.begin());
  return values;
}

/// Stores a value that must occur only once.
template <class T>
void set(std::optional<T>& place, const T& value, const CalibrationText& text) {
  if (place) text.fail(" occurs twice");
  place = value;
}

/// Reads a matrix with rows, cols and data, and OpenCV's dt. A matrix of OpenCV begins with !!opencv-matrix.
Matrix tagged_matrix(CalibrationText& text, bool of_opencv = true);

/// Converts a matrix (fx 0 cx; 0 fy cy; 0 0 1) to a camera.
CalibratedCamera camera_of(const Matrix& matrix, const CalibrationText& text);

}  // namespace parafield::io
