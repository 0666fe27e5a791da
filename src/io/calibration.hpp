// SPDX-License-Identifier: MIT
#pragma once
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

/// Reads values in brackets: "[a b c; d e f]", as in Middlebury's files, or "[ a, b, c ]".
Matrix bracketed(CalibrationText& text);

/// The parts of a calibration that one of OpenCV's files has.
struct CalibrationParts {
  std::optional<CalibratedCamera> camera[2];  ///< K1 and K2, without distortion
  std::optional<LensDistortion> lens[2];      ///< D1 and D2
  std::optional<std::array<double, 9>> rotation;
  std::optional<std::array<double, 3>> translation;
  std::optional<Size> size;
};
CalibrationParts decode_opencv(ByteSpan bytes);
/// Combines the parts of one or two files. Error(format) names the parts that are missing, or that both files
/// have.
StereoCalibration calibration_of(CalibrationParts parts, const CalibrationParts& more = {});

/// Whether a file is Middlebury's calib.txt, which has lines "name=value".
bool is_middlebury(ByteSpan bytes);
StereoCalibration decode_middlebury(ByteSpan bytes);

/// Converts a matrix (fx 0 cx; 0 fy cy; 0 0 1) to a camera.
CalibratedCamera camera_of(const Matrix& matrix, const CalibrationText& text);

}  // namespace parafield::io
