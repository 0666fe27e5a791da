// SPDX-License-Identifier: MIT
#include "parafield/color.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

#include "color/picture.hpp"
#include "core/cpu/parallel.hpp"
#include "core/views.hpp"

namespace parafield {
namespace {

constexpr int wheel_hues = 55;

/// The color wheel of Baker et al. 2011. From each of the six pure hues to the next, one channel rises or
/// falls in equal steps. The number of steps is larger where the eye sees larger differences.
constexpr std::array<Color, wheel_hues> make_wheel() {
  struct Arc {
    int hues, channel;
    bool rises;
  };
  constexpr Arc arcs[] = {
      {15, 1, true},   // red to yellow
      {6, 0, false},   // yellow to green
      {4, 2, true},    // green to cyan
      {11, 1, false},  // cyan to blue
      {13, 0, true},   // blue to magenta
      {6, 2, false},   // magenta to red
  };
  std::array<Color, wheel_hues> wheel{};
  Color hue{255, 0, 0};
  int next = 0;
  for (const Arc& arc : arcs) {
    for (int i = 0; i < arc.hues; ++i) {
      const int step = 255 * i / arc.hues;
      hue[arc.channel] = std::uint8_t(arc.rises ? step : 255 - step);
      wheel[next++] = hue;
    }
    hue[arc.channel] = arc.rises ? 255 : 0;
  }
  return wheel;
}

/// Color of a vector in Middlebury's scheme. `length` 0 = white, 1 = full color; longer vectors are darker.
/// As in the color code of the Middlebury benchmark, a whole turn takes 54 steps, from the first hue to the
/// last, and levels are truncated, not rounded, so that pictures match other programs' pictures.
Color middlebury(double u, double v, double length) {
  static constexpr std::array<Color, wheel_hues> wheel = make_wheel();
  // In turns, clockwise on the screen from "to the right". v = 0 is handled separately because atan2 would
  // give different hues for 0 and -0.
  const double angle = v == 0 ? (u < 0 ? 0.5 : 0) : std::atan2(-v, -u) / (2 * std::numbers::pi) + 0.5;
  const double position = angle * (wheel_hues - 1);
  const int first = std::min(int(position), wheel_hues - 2);
  const double part = position - first;
  Color color;
  for (int channel = 0; channel < 3; ++channel) {
    const double hue = ((1 - part) * wheel[first][channel] + part * wheel[first + 1][channel]) / 255;
    color[channel] = std::uint8_t(255 * (length <= 1 ? 1 - length * (1 - hue) : 0.75 * hue));
  }
  return color;
}

/// Color of a vector in Marzat's scheme: HSV with the angle as hue, full saturation, and the length as value.
Color marzat(double u, double v, double length) {
  const double angle = std::atan2(v, u) / (2 * std::numbers::pi);
  const double value = 255 * std::min(length, 1.0);
  Color color;
  for (int channel = 0; channel < 3; ++channel) {
    // A channel is full up to a sixth of a turn from its own hue, and falls to 0 within the next sixth.
    const double turn = angle - channel / 3.0;
    const double away = std::abs(turn - std::round(turn));
    color[channel] = std::uint8_t(std::lround(value * std::clamp(2 - 6 * away, 0.0, 1.0)));
  }
  return color;
}

double length_of(double u, double v) { return std::sqrt(u * u + v * v); }

}  // namespace

float color_scale(const In<FlowView>& flow) {
  check_flow(flow, "the flow field");
  std::vector<float> lengths;
  for_each_pixel(flow.u.size(), [&](int x, int y) {
    if (has_value(flow.u(x, y), flow.v(x, y)))
      lengths.push_back(float(length_of(flow.u(x, y), flow.v(x, y))));
  });
  if (lengths.empty()) return 0;
  const auto at = lengths.begin() + std::ptrdiff_t(std::ceil(0.995 * double(lengths.size()))) - 1;
  std::ranges::nth_element(lengths, at);
  const float longest = *std::ranges::max_element(at, lengths.end());
  return *at > 0 ? std::min(longest, 1.2f * *at) : longest;
}

FrameBuffer color_flow(const In<FlowView>& flow, const ColorOptions& options) {
  check_flow(flow, "the flow field");
  if (!(options.max_motion >= 0 && std::isfinite(options.max_motion)))
    fail_value("max_motion cannot be ", options.max_motion,
               "; it is a length in px, or 0 for one that suits the field");
  const auto colored = options.scheme == ColorScheme::middlebury ? middlebury : marzat;
  const Color unknown = options.scheme == ColorScheme::middlebury ? Color{0, 0, 0} : Color{128, 128, 128};
  const double max_motion = options.max_motion > 0 ? options.max_motion : color_scale(flow);

  FrameBuffer picture(flow.size(), PixelFormat::rgb_u8);
  const View<std::uint8_t> values = values_of<std::uint8_t>(picture);
  parallel_rows(flow.u.height, [&](int y) {
    for (int x = 0; x < flow.u.width; ++x) {
      const float u = flow.u(x, y), v = flow.v(x, y);
      const double length = max_motion > 0 ? length_of(u, v) / max_motion : 0;
      std::ranges::copy(has_value(u, v) ? colored(u, v, length) : unknown, &values(3 * x, y));
    }
  });
  return picture;
}

FrameBuffer color_wheel(int diameter, ColorScheme scheme) {
  if (diameter < 1) fail_value("diameter cannot be ", diameter, "; a color wheel is at least 1 px wide");
  const float radius = float(diameter) / 2, center = float(diameter - 1) / 2;
  FlowField flow({diameter, diameter});
  for_each_pixel(flow.size(), [&](int x, int y) {
    flow.u(x, y) = float(x) - center;
    flow.v(x, y) = float(y) - center;
  });
  FrameBuffer wheel = color_flow(flow, {.scheme = scheme, .max_motion = radius});
  const View<std::uint8_t> values = values_of<std::uint8_t>(wheel);
  const double still = scheme == ColorScheme::middlebury ? 255 : 0;
  for_each_pixel(flow.size(), [&](int x, int y) {
    blend(&values(3 * x, y), {still, still, still}, length_of(flow.u(x, y), flow.v(x, y)) - radius + 1);
  });
  return wheel;
}

FrameBuffer with_legend(const In<Frame>& picture, ColorScheme scheme, float max_motion) {
  if (!(max_motion >= 0 && std::isfinite(max_motion)))
    fail_value("max_motion cannot be ", max_motion, "; it is a length in px, or 0");
  FrameBuffer drawn = to_rgb(picture, "the picture");
  const Size size = drawn.size();
  const int diameter = std::max(std::min(size.width, size.height) / 4, 1), margin = diameter / 12;
  const FrameBuffer wheel = color_wheel(diameter, scheme);
  const int left = size.width - diameter - margin, top = size.height - diameter - margin;
  const double center = (diameter - 1) / 2.0, radius = diameter / 2.0;
  for_each_pixel(wheel.size(), [&](int x, int y) {
    auto* out = static_cast<std::uint8_t*>(drawn.row(top + y)) + 3 * (left + x);
    const auto* color = static_cast<const std::uint8_t*>(wheel.row(y)) + 3 * x;
    const double from_rim = radius - length_of(x - center, y - center);
    blend(out, {double(color[0]), double(color[1]), double(color[2])}, from_rim);
    // A thin ring separates the wheel from any background.
    blend(out, {96, 96, 96}, std::min(from_rim, 2 - from_rim));
  });
  if (max_motion > 0) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g px", double(max_motion));
    const int letter = std::max(diameter / 50, 1), x = left - margin - text_width(text, letter);
    if (x > letter && diameter >= 9 * letter)
      write_text(drawn, text, x, top + (diameter - 7 * letter) / 2, letter);
  }
  return drawn;
}

}  // namespace parafield
