// SPDX-License-Identifier: MIT
#include <algorithm>

#include "core/fail.hpp"
#include "parafield/rectification.hpp"

namespace parafield {
namespace {

LensDistortion lens_of(const LensCoefficients& given, LensModel model, const char* name) {
  const std::size_t count = given.values.size();
  std::array<double, 14> v{};
  if (model == LensModel::fisheye) {
    if (count != 4) fail_value(name, " has ", count, " coefficients; a fisheye lens has 4, k1 to k4");
    std::ranges::copy(given.values, v.begin());
    return {.k1 = v[0], .k2 = v[1], .k3 = v[2], .k4 = v[3], .model = model};
  }
  if (count != 0 && count != 4 && count != 5 && count != 8 && count != 12 && count != 14)
    fail_value(name, " has ", count, " coefficients; a perspective lens has 0, 4, 5, 8, 12 or 14");
  std::ranges::copy(given.values, v.begin());
  if (std::any_of(v.begin() + 8, v.end(), [](double value) { return value != 0; }))
    fail(ErrorCode::unsupported, name,
         " has thin prism or tilt coefficients (after k6), which are not supported; calibrate without them");
  return {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]};
}

}  // namespace

void set_lenses(StereoCalibration& calibration, const LensCoefficients& left, const LensCoefficients& right,
                std::optional<LensModel> model) {
  std::string assumption;
  if (!model && left.values.size() == 4 && right.values.size() == 4) {
    const bool fisheye = left.is_column && right.is_column;
    model = fisheye ? LensModel::fisheye : LensModel::perspective;
    assumption = fisheye
                     ? "D1 and D2 have 4 coefficients in a column and no distortion_model: they are read as "
                       "k1 k2 k3 k4 of a fisheye lens, as OpenCV stores them; distortion_model plumb_bob "
                       "means k1 k2 p1 p2"
                     : "D1 and D2 have 4 coefficients and no distortion_model: they are read as k1 k2 p1 p2; "
                       "distortion_model fisheye means k1 k2 k3 k4 of a fisheye lens";
  }
  calibration.left.distortion = lens_of(left, model.value_or(LensModel::perspective), "D1");
  calibration.right.distortion = lens_of(right, model.value_or(LensModel::perspective), "D2");
  calibration.assumption = assumption;
}

}  // namespace parafield
