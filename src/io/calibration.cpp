// SPDX-License-Identifier: MIT
// Calibrations: YAML of OpenCV, and Middlebury's calib.txt.
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

/// Reads D: the coefficients of a lens.
LensCoefficients coefficients_of(const Matrix& matrix, const CalibrationText& text) {
  const std::size_t count = matrix.values.size();
  const bool is_vector = matrix.rows == 1 || matrix.columns == 1;
  if (!is_vector || (count != 4 && count != 5 && count != 8 && count != 12 && count != 14))
    text.fail(" should be 4, 5, 8, 12 or 14 values in a row, not ", matrix.rows, "x", matrix.columns);
  return {matrix.values, matrix.columns == 1};
}

/// Image sizes, under the names that different programs write.
struct Sides {
  std::optional<int> width, height;
  std::optional<Size> both;
};

bool read_side(const CalibrationEntry& entry, bool ros, Sides& sides) {
  CalibrationText text(entry);
  std::string_view name = entry.name;
  if (name.starts_with("image_")) name.remove_prefix(6);
  const bool is_whole = name == entry.name;  // a message of ROS has width and height
  if ((name == "width" || name == "height") && (!is_whole || ros)) {
    set(name == "width" ? sides.width : sides.height, text.count(), text);
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

CalibrationParts decode_yaml(ByteSpan bytes) {
  const std::string_view all = plain_text(bytes);
  const std::size_t first = all.find_first_not_of(" \t\r\n");
  if (first == all.npos) fail_format("the file is empty");
  if (all[first] == '<' || all[first] == '{')
    fail_format(all[first] == '<' ? "an XML" : "a JSON", " file; OpenCV writes YAML to a name with .yml");
  CalibrationParts parts;
  Sides sides;
  const std::vector<CalibrationEntry> entries = entries_of(all);
  const bool ros = is_ros(entries);
  for (const CalibrationEntry& entry : entries) {
    if (read_side(entry, ros, sides) || ros) continue;
    CalibrationText text(entry);
    const std::string_view name = entry.name;
    const bool numbered = name.size() == 2 && (name[1] == '1' || name[1] == '2');
    const std::size_t side = numbered && name[1] == '2';
    if (numbered && (name[0] == 'K' || name[0] == 'M')) {
      if (parts.camera[side]) text.fail(" occurs twice (M1 and M2 are other names of K1 and K2)");
      parts.camera[side] = camera_of(tagged_matrix(text), text);
    } else if (numbered && name[0] == 'D') {
      set(parts.lens[side], coefficients_of(tagged_matrix(text), text), text);
    } else if (name == "R") {
      set(parts.rotation, values_of_matrix<3, 3>(tagged_matrix(text), text), text);
    } else if (name == "T") {
      set(parts.translation, values_of_matrix<3, 1>(tagged_matrix(text), text), text);
    } else if (name == "distortion_model") {
      set(parts.model, lens_model_of(text), text);
    } else if (name == "fisheye_model") {  // 1 or 0, as OpenCV's sample program writes it
      set(parts.model, text.number() != 0 ? LensModel::fisheye : LensModel::perspective, text);
      text.end();
    }
  }
  if (ros) read_ros(entries, parts);
  if (sides.width.has_value() != sides.height.has_value())
    fail_format("it has one of image_width and image_height; it should have both or none");
  if (sides.width) parts.size = Size{*sides.width, *sides.height};
  if (sides.both && parts.size && *sides.both != *parts.size) fail_format("it has two sizes of the images");
  if (sides.both) parts.size = sides.both;
  return parts;
}

StereoCalibration calibration_of(CalibrationParts parts, const CalibrationParts& more) {
  if (parts.ros || more.ros) {
    if (!parts.ros || !more.ros)
      fail_format("a camera_info of ROS describes one camera; it needs a second one of the other camera");
    if (parts.size && more.size && *parts.size != *more.size)
      fail_format("the cameras have images of ", *parts.size, " and ", *more.size, " px");
    StereoCalibration calibration = stereo_of(*parts.ros, *more.ros);
    calibration.size = parts.size.value_or(more.size.value_or(Size{}));
    return calibration;
  }
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
  if (more.model) parts.model = more.model;
  StereoCalibration calibration{*parts.camera[0],
                                *parts.camera[1],
                                *parts.rotation,
                                *parts.translation,
                                parts.size.value_or(Size{}),
                                false};
  as_format([&] { set_lenses(calibration, *parts.lens[0], *parts.lens[1], parts.model); });
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
  std::optional<StereoCalibration> whole;
  const io::CalibrationParts first = read(path, [&](const io::Bytes& bytes) {
    const bool middlebury = io::is_middlebury(bytes);
    if (!middlebury && !io::is_kitti(bytes)) return io::decode_yaml(bytes);
    if (!second.empty())
      io::fail_format(middlebury ? "Middlebury" : "KITTI",
                      "'s calibration is one file and takes no second one");
    whole = middlebury ? io::decode_middlebury(bytes) : io::decode_kitti_calibration(bytes);
    return io::CalibrationParts{};
  });
  if (whole) return *whole;
  const io::CalibrationParts more =
      second.empty() ? io::CalibrationParts{}
                     : read(second, [](const io::Bytes& bytes) { return io::decode_yaml(bytes); });
  return io::naming(path, [&] { return io::calibration_of(first, more); });
}

}  // namespace parafield
