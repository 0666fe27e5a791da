// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <string>

#include "color/picture.hpp"
#include "core/views.hpp"
#include "parafield/color.hpp"

namespace parafield {
namespace {

struct Segment {
  double x0, y0, x1, y1;
};

/// Draws a line with round ends. The coverage of a pixel is computed from the distance of its center to the
/// line.
void draw(FrameBuffer& picture, const Segment& line, double radius, const std::array<double, 3>& color) {
  const Size size = picture.size();
  const double dx = line.x1 - line.x0, dy = line.y1 - line.y0, square = dx * dx + dy * dy, reach = radius + 1;
  const int top = int(std::clamp(std::min(line.y0, line.y1) - reach, 0.0, double(size.height))),
            bottom = int(std::clamp(std::max(line.y0, line.y1) + reach + 1, 0.0, double(size.height)));
  for (int y = top; y < bottom; ++y) {
    // The part of the line that affects this row.
    double first = 0, last = 1;
    if (std::abs(dy) > 1e-9) {
      first = (y - line.y0 - std::copysign(reach, dy)) / dy;
      last = (y - line.y0 + std::copysign(reach, dy)) / dy;
    }
    const double x_first = line.x0 + std::clamp(first, 0.0, 1.0) * dx,
                 x_last = line.x0 + std::clamp(last, 0.0, 1.0) * dx;
    const int left = int(std::clamp(std::min(x_first, x_last) - reach, 0.0, double(size.width))),
              right = int(std::clamp(std::max(x_first, x_last) + reach + 1, 0.0, double(size.width)));
    auto* row = static_cast<std::uint8_t*>(picture.row(y));
    for (int x = left; x < right; ++x) {
      const double along =
          square > 0 ? std::clamp(((x - line.x0) * dx + (y - line.y0) * dy) / square, 0.0, 1.0) : 0;
      const double away_x = x - line.x0 - along * dx, away_y = y - line.y0 - along * dy;
      blend(row + 3 * x, color, radius + 0.5 - std::sqrt(away_x * away_x + away_y * away_y));
    }
  }
}

constexpr std::array<double, 3> yellow{255, 225, 0}, dark{20, 20, 20};

/// Draws an arrow from (x, y) to (x + u, y + v), px. An arrow shorter than 1 px becomes a dot.
void draw_arrow(FrameBuffer& picture, double x, double y, double u, double v) {
  const double length = std::sqrt(u * u + v * v), tip_x = x + u, tip_y = y + v;
  // The shaft, then the two sides of the head, 27 degrees (slope 1/2) off the shaft.
  Segment parts[3] = {{x, y, tip_x, tip_y}};
  int count = 1;
  if (length < 1) {
    parts[0] = {x, y, x, y};
  } else {
    const double head = std::clamp(0.3 * length, 1.5, 6.0) / length;
    for (const double side : {-0.5, 0.5})
      parts[count++] = {tip_x, tip_y, tip_x - head * (u - side * v), tip_y - head * (v + side * u)};
  }
  for (int i = 0; i < count; ++i) draw(picture, parts[i], 1.7, dark);
  for (int i = 0; i < count; ++i) draw(picture, parts[i], 0.7, yellow);
}

void check_step(int step) {
  if (step < 1) fail_value("step cannot be ", step, "; arrows are at least 1 px apart");
}

/// Calls f(x, y) for each pixel that has an arrow.
template <class F>
void for_arrows(const FlowView& flow, int step, F f) {
  const auto first = [&](int side) { return std::min(step, side) / 2; };
  for (int y = first(flow.u.height); y < flow.u.height; y += step)
    for (int x = first(flow.u.width); x < flow.u.width; x += step)
      if (has_value(flow.u(x, y), flow.v(x, y)) && is_set(flow.valid, x, y)) f(x, y);
}

}  // namespace

float arrow_scale(const In<FlowView>& flow, int step) {
  check_flow(flow, "the flow field");
  check_step(step);
  double longest = 0;
  for_arrows(flow, step, [&](int x, int y) {
    longest = std::max(longest, std::hypot(double(flow.u(x, y)), double(flow.v(x, y))));
  });
  const float scale = float(step / longest);
  return longest > 0 && std::isfinite(scale) ? scale : 1;
}

FrameBuffer draw_arrows(const In<Frame>& frame, const In<FlowView>& flow, const ArrowOptions& options) {
  check_flow(flow, "the flow field");
  check_step(options.step);
  if (!(options.scale >= 0 && std::isfinite(options.scale)))
    fail_value("scale cannot be ", options.scale,
               "; it is the length of an arrow divided by that of its flow, or 0 to choose it");
  FrameBuffer picture = to_rgb(frame, "the frame");
  check_same_size("the frame", frame.size(), "its flow", flow.size());
  const double scale = options.scale > 0 ? options.scale : arrow_scale(flow, options.step);
  for_arrows(flow, options.step,
             [&](int x, int y) { draw_arrow(picture, x, y, scale * flow.u(x, y), scale * flow.v(x, y)); });
  return picture;
}

FrameBuffer with_scale_arrow(const In<Frame>& picture, float length, std::string_view label) {
  if (!(length > 0 && std::isfinite(length)))
    fail_value("length cannot be ", length, "; it must be above 0 px");
  if (std::ranges::any_of(label, [](char letter) { return letter < ' ' || letter > 'z'; }))
    fail_value("label cannot be ", std::string(label), "; it must be ASCII from the space to z");
  FrameBuffer drawn = to_rgb(picture, "the picture");
  const Size size = drawn.size();
  const int letter = std::max(std::min(size.width, size.height) / 250, 1), margin = 6 * letter;
  const int arrow = int(std::ceil(length)), text = text_width(label, letter);
  const int height = 11 * letter, top = size.height - margin - height, left = margin;
  const int width = arrow + 3 * margin + text;
  if (left + width > size.width || top < 0) return drawn;
  for (int y = top; y < top + height; ++y)
    for (int x = left; x < left + width; ++x)
      blend(static_cast<std::uint8_t*>(drawn.row(y)) + 3 * x, {255, 255, 255}, 0.75);
  draw_arrow(drawn, left + margin, top + height / 2.0 - 0.5, length, 0);
  write_text(drawn, label, left + 2 * margin + arrow, top + 2 * letter, letter);
  return drawn;
}

}  // namespace parafield
