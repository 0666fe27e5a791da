// SPDX-License-Identifier: MIT
// Words and numbers of calibration files.
#include <cmath>

#include "io/calibration.hpp"

namespace parafield::io {

void CalibrationText::skip_space() {
  for (; !rest_.empty(); rest_.remove_prefix(1)) {
    const char c = rest_.front();
    if (c == '#') {  // a comment, up to the end of the line
      rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      if (rest_.empty()) return;
    } else if (c != ' ' && c != '\t' && c != '\r' && c != '\n') {
      return;
    }
    line_ += rest_.front() == '\n';
  }
}

bool CalibrationText::accept(std::string_view word) {
  skip_space();
  if (!rest_.starts_with(word)) return false;
  rest_.remove_prefix(word.size());
  return true;
}

void CalibrationText::expect(std::string_view word) {
  if (accept(word)) return;
  const std::string_view found = token();
  fail(" should have '", word, "' where ", found.empty() ? "it ends" : detail::quoted(found), " is");
}

std::string_view CalibrationText::token() {
  skip_space();
  if (rest_.empty()) return {};
  const std::size_t end =
      std::max<std::size_t>(1, std::min(rest_.find_first_of(" \t\r\n,;:[]"), rest_.size()));
  const std::string_view result = rest_.substr(0, end);
  rest_.remove_prefix(end);
  return result;
}

std::string_view CalibrationText::word() {
  const std::string_view found = token();
  if (found.empty()) fail(" ends too early");
  return found;
}

bool CalibrationText::done() {
  skip_space();
  return rest_.empty();
}

double CalibrationText::number() {
  const std::string_view found = token();
  std::string_view digits = found;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  double value = 0;
  if (found.empty()) fail(" ends where a number should be");
  if (!read_number(digits, value) || !std::isfinite(value))
    fail(" should have a finite number where ", detail::quoted(found), " is");
  return value;
}

int CalibrationText::count() {
  const double value = number();
  if (!(value >= 1 && value <= max_side && value == std::floor(value)))
    fail(" should be a whole number of 1 to ", max_side, ", not ", value);
  return int(value);
}

void CalibrationText::end() {
  const std::string_view found = token();
  if (!found.empty()) fail(" should end where ", detail::quoted(found), " is");
}

Matrix bracketed(CalibrationText& text) {
  constexpr std::size_t most = 64;  // values; a calibration's matrices have at most 14
  Matrix matrix;
  int columns = 0;
  const auto end_row = [&] {
    if (matrix.rows > 0 && columns != matrix.columns) text.fail(" has rows of different lengths");
    matrix.columns = columns;
    columns = 0;
    ++matrix.rows;
  };
  text.expect("[");
  while (!text.accept("]")) {
    if (text.accept(";")) {
      end_row();
      continue;
    }
    if (matrix.values.size() == most) text.fail(" has more than ", most, " values");
    matrix.values.push_back(text.number());
    ++columns;
    text.accept(",");
  }
  end_row();
  return matrix;
}

Matrix listed(CalibrationText& text) {
  constexpr std::size_t most = 64;
  if (!text.accept("- ")) return bracketed(text);
  Matrix matrix;
  do {
    if (matrix.values.size() == most) text.fail(" has more than ", most, " values");
    matrix.values.push_back(text.number());
  } while (text.accept("- "));
  matrix.rows = 1;
  matrix.columns = int(matrix.values.size());
  return matrix;
}

Matrix tagged_matrix(CalibrationText& text, bool of_opencv) {
  if (of_opencv && !text.accept("!!opencv-matrix")) text.fail(" should be an !!opencv-matrix");
  int rows = 0, columns = 0;
  bool typed = false;
  Matrix matrix;
  for (int i = 0; i < (of_opencv ? 4 : 3); ++i) {
    const std::string_view key = text.word();
    text.expect(":");
    if (key == "rows" && !rows) {
      rows = text.count();
    } else if (key == "cols" && !columns) {
      columns = text.count();
    } else if (key == "dt" && of_opencv && !typed) {
      const std::string_view type = text.word();
      if (type != "d" && type != "f" && type != "\"d\"" && type != "\"f\"")
        text.fail(" has values of type ", detail::quoted(type), "; it should be d or f");
      typed = true;
    } else if (key == "data" && matrix.values.empty()) {
      matrix = listed(text);
    } else {
      text.fail(" should have rows, cols, ", of_opencv ? "dt and data" : "and data", ", once each; ",
                detail::quoted(key), " is not expected");
    }
  }
  text.end();
  if (matrix.rows != 1 || std::size_t(rows) * std::size_t(columns) != matrix.values.size())
    text.fail(" has ", matrix.values.size(), " values, not rows * cols = ", rows, " * ", columns);
  matrix.rows = rows;
  matrix.columns = columns;
  return matrix;
}

CalibratedCamera camera_of(const Matrix& m, const CalibrationText& text) {
  if (!m.is(3, 3)) text.fail(" should be a 3x3 matrix, not ", m.rows, "x", m.columns);
  const std::vector<double>& v = m.values;
  if (v[1] != 0 || v[3] != 0 || v[6] != 0 || v[7] != 0 || v[8] != 1)
    text.fail(" should be a camera's matrix, fx 0 cx; 0 fy cy; 0 0 1, without skew");
  if (!(v[0] > 0 && v[4] > 0))
    text.fail(" has focal lengths ", v[0], " and ", v[4], " px; they must be above 0");
  return {v[0], v[4], v[2], v[5]};
}

}  // namespace parafield::io
