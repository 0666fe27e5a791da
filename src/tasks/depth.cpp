// SPDX-License-Identifier: MIT
#include <limits>

#include "core/views.hpp"
#include "parafield/stereo.hpp"

namespace parafield {

Image<float> depth_of(const In<DisparityView>& disparity, double focal_length, double baseline,
                      double offset) {
  check_disparity(disparity, "the disparity field");
  if (!(focal_length > 0 && std::isfinite(focal_length)))
    fail(ErrorCode::invalid_argument, "a focal length cannot be ", focal_length, " px; it is above 0");
  if (!(baseline > 0 && std::isfinite(baseline)))
    fail(ErrorCode::invalid_argument, "a baseline cannot be ", baseline, "; it is above 0");
  if (!std::isfinite(offset))
    fail(ErrorCode::invalid_argument, "an offset cannot be ", offset, " px; it is finite");
  Image<float> depth(disparity.size());
  for (int y = 0; y < disparity.d.height; ++y)
    for (int x = 0; x < disparity.d.width; ++x) {
      const double d = disparity.d(x, y) + offset;
      const bool known = has_value(disparity.d(x, y)) && is_set(disparity.valid, x, y) && d > 0;
      depth(x, y) = known ? float(focal_length * baseline / d) : std::numeric_limits<float>::infinity();
    }
  return depth;
}

}  // namespace parafield
