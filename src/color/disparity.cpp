// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "color/picture.hpp"
#include "core/views.hpp"
#include "parafield/color.hpp"

namespace parafield {
namespace {

struct Range {
  double min, max;
};

/// Range of the valid disparities; 0, 0 if there are none.
Range range_of(const DisparityView& disparity) {
  Range range{HUGE_VAL, -HUGE_VAL};
  for_each_pixel(disparity.d.size(), [&](int x, int y) {
    const float d = disparity.d(x, y);
    if (!has_value(d) || !is_set(disparity.valid, x, y)) return;
    range = {std::min<double>(range.min, d), std::max<double>(range.max, d)};
  });
  return range.min <= range.max ? range : Range{0, 0};
}

}  // namespace

FrameBuffer color_disparity(const In<DisparityView>& disparity, const DisparityColorOptions& options) {
  check_disparity(disparity, "the disparity field");
  const bool own_range = options.min == 0 && options.max == 0;
  if (!own_range && !(options.min < options.max && std::isfinite(options.min) && std::isfinite(options.max)))
    fail_value("min and max cannot be ", options.min, " and ", options.max,
               " px; they must be finite with max above min, or both 0 for the range of the field");
  const Range range = own_range ? range_of(disparity) : Range{options.min, options.max};
  const auto& colors = color_map();

  FrameBuffer picture(disparity.size(), PixelFormat::rgb_u8);  // black
  const View<std::uint8_t> values = values_of<std::uint8_t>(picture);
  for_each_pixel(disparity.d.size(), [&](int x, int y) {
    const float d = disparity.d(x, y);
    if (!has_value(d) || !(options.show_invalid || is_set(disparity.valid, x, y))) return;
    const double part =
        range.max > range.min ? std::clamp((d - range.min) / (range.max - range.min), 0.0, 1.0) : 0;
    std::ranges::copy(colors[std::size_t(part * 255 + 0.5)], &values(3 * x, y));
  });
  return picture;
}

FrameBuffer overlay_mask(const In<Frame>& frame, const In<MotionMaskView>& mask) {
  FrameBuffer picture = to_rgb(frame, "the frame");
  check_same_size("the frame", frame.size(), "its mask", mask.moving ? mask.size() : Size{});
  check_pitch(mask.moving, "the mask");
  const View<std::uint8_t> values = values_of<std::uint8_t>(picture);
  for_each_pixel(frame.size(), [&](int x, int y) {
    if (mask.moving(x, y)) blend(&values(3 * x, y), {255, 0, 0}, 0.5);
  });
  return picture;
}

}  // namespace parafield
