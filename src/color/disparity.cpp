// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "color/color_map.hpp"
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
  for (int y = 0; y < disparity.d.height; ++y)
    for (int x = 0; x < disparity.d.width; ++x) {
      const float d = disparity.d(x, y);
      if (!has_value(d) || !is_set(disparity.valid, x, y)) continue;
      range = {std::min<double>(range.min, d), std::max<double>(range.max, d)};
    }
  return range.min <= range.max ? range : Range{0, 0};
}

}  // namespace

FrameBuffer color_disparity(const In<DisparityView>& disparity, const DisparityColorOptions& options) {
  check_disparity(disparity, "the disparity field");
  const bool own_range = options.min == 0 && options.max == 0;
  if (!own_range && !(options.min < options.max && std::isfinite(options.min) && std::isfinite(options.max)))
    fail_value("min and max cannot be ", options.min, " and ", options.max,
               " px; they are finite and max is above min, or both are 0 for the range of the field");
  const auto [min, max] = own_range ? range_of(disparity) : Range{options.min, options.max};
  const auto& colors = color_map();

  FrameBuffer picture(disparity.size(), PixelFormat::rgb_u8);  // black
  const View<std::uint8_t> values = values_of<std::uint8_t>(picture);
  for (int y = 0; y < disparity.d.height; ++y)
    for (int x = 0; x < disparity.d.width; ++x) {
      const float d = disparity.d(x, y);
      if (!has_value(d) || !(options.show_invalid || is_set(disparity.valid, x, y))) continue;
      const double part = max > min ? std::clamp((d - min) / (max - min), 0.0, 1.0) : 0;
      std::ranges::copy(colors[std::size_t(part * 255 + 0.5)], &values(3 * x, y));
    }
  return picture;
}

FrameBuffer overlay_mask(const In<Frame>& frame, const In<MotionMaskView>& mask) {
  FrameBuffer picture = to_rgb(frame, "the frame");
  if (!mask.moving || mask.size() != picture.size())
    fail_value("the frame has ", frame.size(), " pixels, its mask ", mask.moving.size());
  check_pitch(mask.moving, "the mask");
  const View<std::uint8_t> values = values_of<std::uint8_t>(picture);
  for (int y = 0; y < frame.height; ++y)
    for (int x = 0; x < frame.width; ++x)
      if (mask.moving(x, y)) blend(&values(3 * x, y), {255, 0, 0}, 0.5);
  return picture;
}

}  // namespace parafield
