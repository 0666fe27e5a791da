// SPDX-License-Identifier: MIT
#pragma once
#include "core/workspace.hpp"
#include "steps/warp/warp.hpp"

namespace parafield {

/// Forward-backward check. Each pixel moves to the second frame by its flow and back by the flow there;
/// `valid` is cleared if it leaves the frame or returns more than `tolerance` px away.
template <class Backend>
void check_consistency(Backend& backend, FlowPlanes forward, FlowPlanes backward, float tolerance,
                       View<std::uint8_t> valid);

/// Left-right check. The pixel at column x of the left image moves to the nearest pixel at x - d of the right
/// image, where halves round to the right; `valid` is cleared if it leaves the image or the disparity there
/// differs by more than `tolerance` px. A disparity in `right` points from column x to column x + d of the
/// left image. `unsure` may be empty; otherwise it receives 1 for pixels that are not valid or whose
/// disparities differ at all, and 0 for the others.
template <class Backend>
void check_disparities(Backend& backend, View<const float> left, View<const float> right, float tolerance,
                       View<std::uint8_t> valid, View<std::uint8_t> unsure);

/// Projects the disparities of the left image into the right image. Each pixel gets the largest disparity
/// that points to it, which belongs to the nearest surface, or -infinity if none does.
template <class Backend>
void project_disparities(Backend& backend, View<const float> left, View<float> right);

PF_HD bool is_consistent(float u, float v, const float* back_u, const float* back_v, int pitch, int width,
                         int height, int x, int y, float tolerance) {
  const Match match = locate(float(x) + u, float(y) + v, width, height);
  const float du = u + sample(back_u, pitch, width, height, match),
              dv = v + sample(back_v, pitch, width, height, match);
  return match.inside & (fma(du, du, dv * dv) <= tolerance * tolerance);
}

/// The column of the right image that a disparity points to from a column of the left image.
struct Column {
  bool inside;
  int x;
};
PF_HD Column column_at(int x, float d, int width) {
  const float place = float(x) - d + 0.5f;  // rounds down to the column; NaN counts as outside
  return {bool((place >= 0) & (place < float(width))), int(clamp(place, 0.0f, float(width - 1)))};
}

/// Absolute difference to the right image's disparity; very large outside the image. `d`: the left disparity
/// at column x; `right`: the row of right disparities.
PF_HD float difference_to_right(float d, const float* right, int width, int x) {
  const Column column = column_at(x, d, width);
  return column.inside ? magnitude(right[column.x] - d) : 3e38f;
}

/// Marks a pixel that received no disparity.
constexpr float not_projected = -__builtin_inff();

}  // namespace parafield
