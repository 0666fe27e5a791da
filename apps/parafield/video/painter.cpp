// SPDX-License-Identifier: MIT
#include "video/painter.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace parafield::command {
namespace {

// Colors come from a lookup table with color_flow's colors for a grid of vectors, in units of the full
// length. The grid extends a little beyond full length, where colors get darker; longer vectors use the
// border's colors.
constexpr int reach = 255, side = 2 * reach + 1;
constexpr float grid_end = 1.0625f;
constexpr int overlay_share = 180;  // opacity, of 255, of full motion's color over a frame

FrameBuffer colors_of_grid() {
  FlowField grid({side, side});
  for (int y = 0; y < side; ++y)
    for (int x = 0; x < side; ++x) {
      grid.u(x, y) = float(x - reach) / reach * grid_end;
      grid.v(x, y) = float(y - reach) / reach * grid_end;
    }
  return color_flow(grid, {.max_motion = 1});
}

/// Finds the index of the grid vector nearest to each vector of a row, times `gain`. Unknown flow gets the
/// index after the last vector.
void find_nearest(const float* __restrict u, const float* __restrict v, int count, float gain,
                  int* __restrict numbers) {
  constexpr float most = reach, center = reach + 0.5f;
  for (int i = 0; i < count; ++i) {
    const float x = u[i] * gain, y = v[i] * gain, ax = std::abs(x), ay = std::abs(y);
    const float longer = ax > ay ? ax : ay, shrink = longer > most ? most / longer : 1;
    const bool known = std::abs(u[i]) <= 1e9f && std::abs(v[i]) <= 1e9f;
    const float column = known ? x * shrink : 0, row = known ? y * shrink : 0;
    const int number = int(row + center) * side + int(column + center);
    numbers[i] = known ? number : side * side;
  }
}

/// Converts a row of a frame to rgb_u8.
void rgb_row(const Frame& frame, int y, std::uint8_t* out) {
  const char* const row = static_cast<const char*>(frame.data) + y * frame.pitch;
  const int count = channels(frame.format), values = frame.width * count;
  const bool deep = bytes_per_pixel(frame.format) / count == 2;
  if (!deep && count == 3) {
    std::memcpy(out, row, std::size_t(values));
    return;
  }
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(row);
  const auto* words = reinterpret_cast<const std::uint16_t*>(row);
  const int copies = 3 / count;
  for (int i = 0; i < values; ++i)
    for (int k = 0; k < copies; ++k) *out++ = deep ? std::uint8_t(words[i] >> 8) : bytes[i];
}

}  // namespace

float SteadyScale::next(const FlowView& flow) {
  if (given_ > 0) return given_;
  // Every eighth row is enough.
  constexpr int rows = 8;
  const auto thinned = [](View<const float> plane) {
    return View<const float>{plane.data, plane.width, (plane.height + rows - 1) / rows, plane.pitch * rows};
  };
  const float wanted = std::max(color_scale(FlowView{thinned(flow.u), thinned(flow.v)}), 2.0f);
  constexpr float most = 1.02f;
  now_ = now_ == 0 ? wanted : std::clamp(wanted, now_ / most, now_ * most);
  return now_;
}

FlowPainter::FlowPainter(const std::string& view, float max_motion, int step)
    : view_(view), step_(step), scale_(max_motion) {
  if (view_ == "arrows") return;
  const FrameBuffer grid = colors_of_grid();
  colors_.reserve(std::size_t(side) * side);
  for (int y = 0; y < side; ++y) {
    const auto* row = static_cast<const std::uint8_t*>(grid.row(y));
    for (int x = 0; x < side; ++x, row += 3) {
      // An overlay adds the saturated part of a color, and keeps the frame to the degree that the color is
      // white.
      const int white = view_ == "overlay" ? std::min({row[0], row[1], row[2]}) : 0;
      const int share = view_ == "overlay" ? overlay_share : 255;
      const auto part = [&](int value) { return std::uint8_t((value - white) * share / 255); };
      colors_.push_back({part(row[0]), part(row[1]), part(row[2]), std::uint8_t(255 - part(255))});
    }
  }
  colors_.push_back({0, 0, 0, view_ == "overlay" ? std::uint8_t(255) : std::uint8_t(0)});  // unknown flow
}

Size FlowPainter::size(Size frame) const {
  return view_ == "side-by-side" ? Size{2 * frame.width, frame.height} : frame;
}

void FlowPainter::color_row(std::uint8_t* out) const {
  for (const int number : numbers_) {
    const Color color = colors_[std::size_t(number)];
    out[0] = color[0];
    out[1] = color[1];
    out[2] = color[2];
    out += 3;
  }
}

void FlowPainter::overlay_row(std::uint8_t* out) const {
  for (const int number : numbers_) {
    const Color color = colors_[std::size_t(number)];
    for (const std::size_t i : {0u, 1u, 2u})
      out[i] = std::uint8_t(color[i] + ((out[i] * (color[3] + 1)) >> 8));
    out += 3;
  }
}

const FrameBuffer& FlowPainter::draw(const Frame& frame, const FlowView& flow) {
  const float longest = scale_.next(flow);
  FrameBuffer& picture = pictures_[count_++ % 2];
  if (view_ == "arrows")  // full length is two steps, whatever the picture
    return picture = draw_arrows(frame, flow, {step_, 2 * float(step_) / longest});
  const Size all = size(flow.size());
  if (picture.size() != all) picture = FrameBuffer(all, PixelFormat::rgb_u8);
  numbers_.resize(std::size_t(flow.u.width));
  const float gain = float(reach) / (grid_end * longest);
  for (int y = 0; y < all.height; ++y) {
    auto* const out = static_cast<std::uint8_t*>(picture.row(y));
    if (view_ != "color") rgb_row(frame, y, out);
    find_nearest(flow.u.row(y), flow.v.row(y), flow.u.width, gain, numbers_.data());
    if (view_ == "overlay")
      overlay_row(out);
    else
      color_row(out + (view_ == "side-by-side" ? 3 * flow.u.width : 0));
  }
  return picture;
}

}  // namespace parafield::command
