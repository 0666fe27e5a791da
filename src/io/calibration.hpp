// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "io/formats.hpp"
#include "parafield/rectification.hpp"

/// Files of calibrations. Errors say the line, and not the file.
namespace parafield::io {

/// A named entry of a calibration.
struct CalibrationEntry {
  std::string_view name;
  std::size_t line = 0;    ///< number of its first line
  std::string_view value;  ///< after the name, up to the next entry; may have several lines
};

/// Values of a matrix, row by row.
struct Matrix {
  int rows = 0, columns = 0;
  std::vector<double> values;

  bool is(int height, int width) const { return rows == height && columns == width; }
};

/// Text with the number of its line. It is read from the front.
class CalibrationText {
 public:
  explicit CalibrationText(const CalibrationEntry& entry)
      : rest_(entry.value), line_(entry.line), name_(entry.name) {}

  void skip_space();
  bool accept(char c);
  bool accept(std::string_view word);
  void expect(char c);
  /// Letters, digits and _.
  std::string_view word();
  double number();
  int count();  ///< a whole number above 0
  /// Throws if something follows.
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

/// Values in brackets: "[a b c; d e f]" as Middlebury has them, or "[ a, b, c ]".
Matrix bracketed(CalibrationText& text);

/// What one of OpenCV's files has of a calibration.
struct CalibrationParts {
  std::optional<CalibratedCamera> camera[2];  ///< K1 and K2, without distortion
  std::optional<LensDistortion> lens[2];      ///< D1 and D2
  std::optional<std::array<double, 9>> rotation;
  std::optional<std::array<double, 3>> translation;
  std::optional<Size> size;
};
CalibrationParts decode_opencv(ByteSpan bytes);
/// The calibration of one file or two. Error(format) names what both lack or have.
StereoCalibration calibration_of(CalibrationParts parts, const CalibrationParts& more = {});

/// Middlebury's calib.txt, which has lines "name=value".
bool is_middlebury(ByteSpan bytes);
StereoCalibration decode_middlebury(ByteSpan bytes);

/// Text of a file. Error(format) if it has bytes of 0.
std::string_view plain_text(ByteSpan bytes);
/// Takes the next line from the front.
std::string_view next_line(std::string_view& text);
/// CalibratedCamera of a matrix (fx 0 cx; 0 fy cy; 0 0 1).
CalibratedCamera camera_of(const Matrix& matrix, const CalibrationText& text);

}  // namespace parafield::io
