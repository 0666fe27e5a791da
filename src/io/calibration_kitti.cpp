// SPDX-License-Identifier: MIT Calibrations: KITTI's calib.txt with P0 to P3, and calib_cam_to_cam.txt with
// P_rect_00 to P_rect_03. Cameras 0 and 1 are gray, 2 and 3 have colors; their images are rectified.
#include <array>
#include <string>

#include "io/calibration.hpp"

namespace parafield::io {
namespace {

/// The number of the camera that a line describes, -1 for other lines. `prefix`: of the name, as "P_rect_0".
int camera_in(std::string_view name, std::string_view prefix) {
  const bool fits = name.size() == prefix.size() + 1 && name.starts_with(prefix);
  return fits && name.back() >= '0' && name.back() <= '3' ? name.back() - '0' : -1;
}
int projection_in(std::string_view name) {
  return std::max(camera_in(name, "P"), camera_in(name, "P_rect_0"));
}

/// Calls use(entry) for each line "name: value".
void for_each_line(ByteSpan bytes, const auto& use) {
  std::string_view text = plain_text(bytes);
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view line = next_line(text);
    const std::size_t colon = line.find(':');
    if (colon != line.npos) use(CalibrationEntry{line.substr(0, colon), number, line.substr(colon + 1)});
  }
}

}  // namespace

bool is_kitti(ByteSpan bytes) {
  int projections = 0;
  for_each_line(bytes, [&](const CalibrationEntry& entry) { projections += projection_in(entry.name) >= 0; });
  return projections >= 2;
}

StereoCalibration decode_kitti_calibration(ByteSpan bytes) {
  std::optional<std::array<double, 12>> projections[4];
  std::optional<Size> sizes[4];
  for_each_line(bytes, [&](const CalibrationEntry& entry) {
    const int camera = projection_in(entry.name), sized = camera_in(entry.name, "S_rect_0");
    CalibrationText text(entry);
    if (camera >= 0) {
      std::array<double, 12> values;
      for (double& value : values) value = text.number();
      set(projections[camera], values, text);
    } else if (sized >= 0) {
      const int width = text.count(), height = text.count();
      set(sizes[sized], Size{width, height}, text);
    } else {
      return;
    }
    text.end();
  });
  const bool gray = projections[0] && projections[1], colored = projections[2] && projections[3];
  if (!gray && !colored) fail_format("KITTI's calibration lacks P2 and P3, or P0 and P1, of one pair");
  const std::size_t left = colored ? 2 : 0;
  const auto camera_of_p = [&](std::size_t i) {
    const std::array<double, 12>& p = *projections[i];
    if (!(p[0] > 0)) fail_format("P", i, " has the focal length ", p[0], " px; it must be above 0");
    return CalibratedCamera{p[0], p[5], p[2], p[6]};
  };
  // A projection maps X of the reference camera to (fx (X + t) + cx Z) / Z.
  const auto shift = [&](std::size_t i) {
    const std::array<double, 12>& p = *projections[i];
    return (p[3] - p[2] * p[11]) / p[0];
  };
  StereoCalibration calibration{camera_of_p(left), camera_of_p(left + 1)};
  calibration.translation = {shift(left + 1) - shift(left), 0, 0};
  if (!(calibration.translation[0] < 0))
    fail_format("P", left + 1, " lies ", calibration.translation[0], " to the left of P", left,
                "; a right camera must lie to the right");
  if (sizes[left] && sizes[left + 1] && *sizes[left] != *sizes[left + 1])
    fail_format("the cameras have images of ", *sizes[left], " and ", *sizes[left + 1], " px");
  calibration.size = sizes[left].value_or(sizes[left + 1].value_or(Size{}));
  calibration.rectified = true;
  if (gray && colored)
    calibration.assumption =
        "the images are taken to be the color cameras' (P2 and P3), not the gray ones' (P0 and P1)";
  return calibration;
}

}  // namespace parafield::io
