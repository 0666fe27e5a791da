// SPDX-License-Identifier: MIT
#include "rectification/views.hpp"

#include <limits>

namespace parafield {

RectifiedView left_view(const StereoCalibration& calibration, const Rectification& plan) {
  const StereoGeometry& g = plan.geometry;
  return {calibration.left, plan.size, plan.left_rotation, g.focal, g.cx, g.cy};
}

RectifiedView right_view(const StereoCalibration& calibration, const Rectification& plan) {
  const StereoGeometry& g = plan.geometry;
  return {calibration.right, plan.size, plan.right_rotation, g.focal, g.cx + g.doffs, g.cy};
}

void fill_tables(const RectifiedView& view, View<float> x, View<float> y, View<std::uint8_t> region) {
  constexpr float nowhere = std::numeric_limits<float>::quiet_NaN();
  for (int row = 0; row < region.height; ++row)
    for (int column = 0; column < region.width; ++column) {
      const std::optional<Place> at = view.source(column, row);
      x(column, row) = at ? float(at->x) : nowhere;
      y(column, row) = at ? float(at->y) : nowhere;
      region(column, row) = at.has_value();
    }
}

}  // namespace parafield
