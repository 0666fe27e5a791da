// SPDX-License-Identifier: MIT
// Calibrations: OpenCV's YAML and Middlebury's calib.txt.
#include "io/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "parafield/io.hpp"

namespace parafield {
namespace io {
namespace {

constexpr std::string_view blanks = " \t\r";

/// Finds the entries "name: value" of OpenCV's YAML that start at the left margin. Lines that are indented or
/// do not start with a name belong to the previous entry.
std::vector<CalibrationEntry> entries_of(std::string_view text) {
  std::vector<CalibrationEntry> entries;
  const char* begin = nullptr;  // start of the last entry's value
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = next_line(text);
    const std::size_t first = line.find_first_not_of(blanks);
    if (first == line.npos || line[first] == '#') continue;
    if (line.starts_with('%') || line.starts_with("---") || line.starts_with("...")) {
      begin = nullptr;
      continue;
    }
    const std::size_t colon = line.find(':');
    const bool is_entry = first == 0 && colon != line.npos &&
                          std::string_view("-[]{},").find(line[0]) == std::string_view::npos;
    if (is_entry) {
      std::string_view name = line.substr(0, colon);
      name = name.substr(0, name.find_last_not_of(blanks) + 1);
      if (name.size() > 1 && name.front() == '"' && name.back() == '"')
        name = name.substr(1, name.size() - 2);
      begin = line.data() + colon + 1;
      entries.push_back({name, number, {}});
    } else if (!begin) {
      fail_format("line ", number, ": not 'name: value' of OpenCV's YAML, nor 'name=value' of Middlebury's ",
                  "calib.txt: ", detail::quoted(line));
    }
    entries.back().value = {begin, std::size_t(line.data() + line.size() - begin)};
  }
  return entries;
}

/// Reads a node "!!opencv-matrix" with rows, cols, dt and data.
Matrix opencv_matrix(CalibrationText& text) {
  if (!text.accept("!!opencv-matrix")) text.fail(" should be an !!opencv-matrix");
  int rows = 0, columns = 0;
  bool typed = false;
  Matrix matrix;
  for (int i = 0; i < 4; ++i) {
    const std::string_view key = text.word();
    text.expect(":");
    if (key == "rows" && !rows) {
      rows = text.count();
    } else if (key == "cols" && !columns) {
      columns = text.count();
    } else if (key == "dt" && !typed) {
      const std::string_view type = text.word();
      if (type != "d" && type != "f" && type != "\"d\"" && type != "\"f\"")
        text.fail(" has values of type ", detail::quoted(type), "; it should be d or f");
      typed = true;
    } else if (key == "data" && matrix.values.empty()) {
      matrix = bracketed(text);
    } else {
      text.fail(" should have rows, cols, dt and data, once each; ", detail::quoted(key), " is not expected");
    }
  }
  text.end();
  if (matrix.rows != 1 || std::size_t(rows) * std::size_t(columns) != matrix.values.size())
    text.fail(" has ", matrix.values.size(), " values, not rows * cols = ", rows, " * ", columns);
  matrix.rows = rows;
  matrix.columns = columns;
  return matrix;
}

/// Converts D: k1 k2 p1 p2, then k3, then k4 k5 k6.
LensDistortion lens_of(const Matrix& matrix, const CalibrationText& text) {
  const std::size_t count = matrix.values.size();
  const bool is_vector = matrix.rows == 1 || matrix.columns == 1;
  if (!is_vector || (count != 4 && count != 5 && count != 8 && count != 12 && count != 14))
    text.fail(" should be 4, 5, 8, 12 or 14 values in a row, not ", matrix.rows, "x", matrix.columns);
  std::array<double, 14> v{};
  std::ranges::copy(matrix.values, v.begin());
  if (std::any_of(v.begin() + 8, v.end(), [](double value) { return value != 0; }))
    text.fail(
        " has thin prism or tilt coefficients (after k6), which are not supported; calibrate without them");
  return {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]};
}

/// The values of a matrix of rows x columns, or of its transpose.
template <int rows, int columns>
std::array<double, rows * columns> values_of_matrix(const Matrix& matrix, const CalibrationText& text) {
  if (!matrix.is(rows, columns) && !matrix.is(columns, rows))
    text.fail(" should be a ", rows, "x", columns, " matrix, not ", matrix.rows, "x", matrix.columns);
  std::array<double, rows * columns> values;
  std::ranges::copy(matrix.values, values.begin());
  return values;
}

/// Stores a value that must occur only once.
template <class T>
void set(std::optional<T>& place, const T& value, const CalibrationText& text) {
  if (place) text.fail(" occurs twice (M1 and M2 are other names of K1 and K2)");
  place = value;
}

/// Image sizes, under the names that different programs write.
struct Sides {
  std::optional<int> width, height;
  std::optional<Size> both;
};

bool read_side(const CalibrationEntry& entry, Sides& sides) {
  CalibrationText text(entry);
  if (entry.name == "image_width" || entry.name == "image_height") {
    set(entry.name == "image_width" ? sides.width : sides.height, text.count(), text);
    text.end();
    return true;
  }
  if (entry.name != "image_size" && entry.name != "imageSize" && entry.name != "size") return false;
  text.expect("[");
  const int width = text.count();
  text.expect(",");
  const int height = text.count();
  text.expect("]");
  text.end();
  set(sides.both, Size{width, height}, text);
  return true;
}

}  // namespace

CalibrationParts decode_opencv(ByteSpan bytes) {
  const std::string_view all = plain_text(bytes);
  const std::size_t first = all.find_first_not_of(" \t\r\n");
  if (first == all.npos) fail_format("the file is empty");
  if (all[first] == '<' || all[first] == '{')
    fail_format(all[first] == '<' ? "an XML" : "a JSON", " file; OpenCV writes YAML to a name with .yml");
  CalibrationParts parts;
  Sides sides;
  for (const CalibrationEntry& entry : entries_of(all)) {
    if (read_side(entry, sides)) continue;
    CalibrationText text(entry);
    const std::string_view name = entry.name;
    const bool numbered = name.size() == 2 && (name[1] == '1' || name[1] == '2');
    const std::size_t side = numbered && name[1] == '2';
    if (numbered && (name[0] == 'K' || name[0] == 'M')) {
      set(parts.camera[side], camera_of(opencv_matrix(text), text), text);
    } else if (numbered && name[0] == 'D') {
      set(parts.lens[side], lens_of(opencv_matrix(text), text), text);
    } else if (name == "R") {
      set(parts.rotation, values_of_matrix<3, 3>(opencv_matrix(text), text), text);
    } else if (name == "T") {
      set(parts.translation, values_of_matrix<3, 1>(opencv_matrix(text), text), text);
    }
  }
  if (sides.width.has_value() != sides.height.has_value())
    fail_format("it has one of image_width and image_height; it should have both or none");
  if (sides.width) parts.size = Size{*sides.width, *sides.height};
  if (sides.both && parts.size && *sides.both != *parts.size) fail_format("it has two sizes of the images");
  if (sides.both) parts.size = sides.both;
  return parts;
}

StereoCalibration calibration_of(CalibrationParts parts, const CalibrationParts& more) {
  std::vector<std::string_view> missing, twice;
  const auto join = [&](auto& part, const auto& other, const char* name) {
    if (part && other) twice.push_back(name);
    if (other) part = other;
    if (!part) missing.push_back(name);
  };
  join(parts.camera[0], more.camera[0], "K1");
  join(parts.lens[0], more.lens[0], "D1");
  join(parts.camera[1], more.camera[1], "K2");
  join(parts.lens[1], more.lens[1], "D2");
  join(parts.rotation, more.rotation, "R");
  join(parts.translation, more.translation, "T");
  if (!twice.empty()) fail_format("the second file also has ", joined(twice));
  if (!missing.empty())
    fail_format("a stereo calibration needs K1, D1, K2, D2, R and T; missing: ", joined(missing),
                parts.rotation || !parts.camera[0] || !parts.camera[1]
                    ? ""
                    : " (OpenCV's sample writes R and T to a second file, extrinsics.yml)");
  if (more.size) parts.size = more.size;
  StereoCalibration calibration{*parts.camera[0],
                                *parts.camera[1],
                                *parts.rotation,
                                *parts.translation,
                                parts.size.value_or(Size{}),
                                false};
  calibration.left.distortion = *parts.lens[0];
  calibration.right.distortion = *parts.lens[1];
  return calibration;
}

bool is_middlebury(ByteSpan bytes) {
  std::string_view text = plain_text(bytes);
  while (!text.empty()) {
    const std::string_view line = next_line(text);
    if (line.find_first_not_of(blanks) == line.npos || line.starts_with('#')) continue;
    const std::size_t equals = line.find('=');
    return !line.starts_with('%') && equals != line.npos && equals < line.find(':');
  }
  return false;
}

StereoCalibration decode_middlebury(ByteSpan bytes) {
  std::string_view text = plain_text(bytes);
  std::optional<CalibratedCamera> camera[2];
  std::optional<double> baseline, doffs;
  std::optional<int> width, height;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = next_line(text);
    if (line.find_first_not_of(blanks) == line.npos || line.starts_with('#')) continue;
    const std::size_t equals = line.find('=');
    if (equals == line.npos || equals == 0)
      fail_format("line ", number, ": not 'name=value' of Middlebury's calib.txt: ", detail::quoted(line));
    const CalibrationEntry entry{line.substr(0, equals), number, line.substr(equals + 1)};
    CalibrationText value(entry);
    if (entry.name == "cam0" || entry.name == "cam1")
      set(camera[entry.name == "cam1"], camera_of(bracketed(value), value), value);
    else if (entry.name == "baseline" || entry.name == "doffs")
      set(entry.name == "doffs" ? doffs : baseline, value.number(), value);
    else if (entry.name == "width" || entry.name == "height")
      set(entry.name == "width" ? width : height, value.count(), value);
    else
      continue;  // ndisp, vmin, vmax and others do not describe the cameras
    value.end();
  }
  std::vector<std::string_view> missing;
  if (!camera[0]) missing.push_back("cam0");
  if (!camera[1]) missing.push_back("cam1");
  if (!baseline) missing.push_back("baseline");
  if (width.has_value() != height.has_value()) missing.push_back(width ? "height" : "width");
  if (!missing.empty()) fail_format("Middlebury's calibration lacks ", joined(missing));
  if (!(*baseline > 0)) fail_format("baseline cannot be ", *baseline, "; it must be above 0");
  if (doffs && std::abs(*doffs - (camera[1]->cx - camera[0]->cx)) > 1)
    fail_format("doffs is ", *doffs, ", but cx of cam1 and cam0 differ by ", camera[1]->cx - camera[0]->cx);
  StereoCalibration calibration{*camera[0], *camera[1]};
  calibration.translation = {-*baseline, 0, 0};
  if (width) calibration.size = {*width, *height};
  calibration.rectified = true;
  return calibration;
}

}  // namespace io

StereoCalibration read_calibration(const std::filesystem::path& path, const std::filesystem::path& second) {
  const auto read = [](const std::filesystem::path& file, auto decode) {
    return io::naming(file, [&] { return decode(io::read_file(file)); });
  };
  std::optional<StereoCalibration> middlebury;
  const io::CalibrationParts first = read(path, [&](const io::Bytes& bytes) {
    if (!io::is_middlebury(bytes)) return io::decode_opencv(bytes);
    if (!second.empty()) io::fail_format("Middlebury's calibration is one file and takes no second one");
    middlebury = io::decode_middlebury(bytes);
    return io::CalibrationParts{};
  });
  if (middlebury) return *middlebury;
  const io::CalibrationParts more =
      second.empty() ? io::CalibrationParts{}
                     : read(second, [](const io::Bytes& bytes) { return io::decode_opencv(bytes); });
  return io::naming(path, [&] { return io::calibration_of(first, more); });
}

}  // namespace parafield
