#include <algorithm>
#include <cmath>

#include "color/color_map.hpp"
#include "color/picture.hpp"
#include "core/disparity_view.hpp"
#include "parafield/color.hpp"

namespace parafield {
namespace {

struct Range {
  double min, max;
};

/// Range of the valid disparities; 0, 0 if there are none.
Range range_of(const DisparityView& disparity) {
  bool found = false;
  Range range{0, 0};
  for (int y = 0; y < disparity.d.height; ++y)
    for (int x = 0; x < disparity.d.width; ++x) {
      const float d = disparity.d(x, y);
      if (!has_value(d) || (disparity.valid && !disparity.valid(x, y))) continue;
      range = found ? Range{std::min<double>(range.min, d), std::max<double>(range.max, d)} : Range{d, d};
      found = true;
    }
  return range;
}

}  // namespace

FrameBuffer color_disparity(const In<DisparityView>& disparity, const DisparityColorOptions& options) {
  check_disparity(disparity, "the disparity field");
  const bool own_range = options.min == 0 && options.max == 0;
  if (!own_range && !(options.min < options.max && std::isfinite(options.min) && std::isfinite(options.max)))
    fail(ErrorCode::invalid_argument, "min and max cannot be ", options.min, " and ", options.max,
         " px; they are finite and max is above min, or both are 0 for the range of the field");
  const auto [min, max] = own_range ? range_of(disparity) : Range{options.min, options.max};
  const auto& colors = color_map();

  FrameBuffer picture(disparity.size(), PixelFormat::rgb_u8);  // black
  for (int y = 0; y < disparity.d.height; ++y) {
    auto* out = static_cast<std::uint8_t*>(picture.row(y));
    for (int x = 0; x < disparity.d.width; ++x, out += 3) {
      const float d = disparity.d(x, y);
      const bool valid = !disparity.valid || disparity.valid(x, y);
      if (!has_value(d) || !(valid || options.show_invalid)) continue;
      const double part = max > min ? std::clamp((d - min) / (max - min), 0.0, 1.0) : 0;
      const Color& color = colors[std::size_t(part * 255 + 0.5)];
      std::copy(color.begin(), color.end(), out);
    }
  }
  return picture;
}

FrameBuffer overlay_mask(const In<Frame>& frame, const In<MotionMaskView>& mask) {
  FrameBuffer picture = to_rgb(frame, "the frame");
  if (!mask.moving || mask.size() != picture.size())
    fail(ErrorCode::invalid_argument, "the frame has ", frame.width, "x", frame.height, " pixels, its mask ",
         mask.moving.width, "x", mask.moving.height);
  for (int y = 0; y < frame.height; ++y) {
    auto* pixel = static_cast<std::uint8_t*>(picture.row(y));
    for (int x = 0; x < frame.width; ++x, pixel += 3)
      if (mask.moving(x, y)) blend(pixel, {255, 0, 0}, 0.5);
  }
  return picture;
}

}  // namespace parafield
