// SPDX-License-Identifier: MIT
#include <cmath>
#include <numbers>
#include <vector>

#include "color/picture.hpp"

namespace parafield {
namespace {

using Triple = std::array<double, 3>;

/// Converts Oklab (Ottosson 2020) to linear RGB. Distances in Oklab are roughly proportional to perceived
/// differences.
Triple to_linear_rgb(const Triple& lab) {
  const auto [lightness, a, b] = lab;
  const auto cube = [](double x) { return x * x * x; };
  const double l = cube(lightness + 0.3963377774 * a + 0.2158037573 * b),
               m = cube(lightness - 0.1055613458 * a - 0.0638541728 * b),
               s = cube(lightness - 0.0894841775 * a - 1.2914855480 * b);
  return {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
          -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
          -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
}

/// Converts a linear value to a level with sRGB's transfer curve (IEC 61966-2-1).
std::uint8_t to_level(double linear) {
  const double x = std::clamp(linear, 0.0, 1.0);
  return std::uint8_t(std::lround(255 * (x <= 0.0031308 ? 12.92 * x : 1.055 * std::pow(x, 1 / 2.4) - 0.055)));
}

Triple lab_of(double lightness, double chroma, double hue) {
  return {lightness, chroma * std::cos(hue), chroma * std::sin(hue)};
}

/// Path through Oklab, t = 0..1, from a dark violet blue through green and yellow to a dark red. The
/// lightness rises up to yellow and falls after it. The chroma is 95 % of the largest that RGB can show, but
/// at most 0.2.
Triple path(double t) {
  const double hue = (285 - 257 * t) * std::numbers::pi / 180;
  constexpr double brightest = 0.62;
  const double away = t < brightest ? (brightest - t) / brightest : (t - brightest) / (1 - brightest);
  const double lightness = 0.88 - (t < brightest ? 0.50 : 0.40) * away * away;
  double low = 0, high = 0.4;
  for (int i = 0; i < 30; ++i) {
    const double middle = (low + high) / 2;
    const Triple rgb = to_linear_rgb(lab_of(lightness, middle, hue));
    const bool shown = std::all_of(rgb.begin(), rgb.end(), [](double x) { return x >= 0 && x <= 1; });
    (shown ? low : high) = middle;
  }
  return lab_of(lightness, std::min(0.95 * low, 0.2), hue);
}

/// Colors at equal distances along the path.
std::array<Color, 256> make_map() {
  constexpr int samples = 4096;
  std::vector<Triple> points;
  std::vector<double> distance;
  for (int i = 0; i < samples; ++i) {
    points.push_back(path(double(i) / (samples - 1)));
    const Triple& last = points[std::max(i - 1, 0)];
    double square = 0;
    for (int k = 0; k < 3; ++k) square += (points[i][k] - last[k]) * (points[i][k] - last[k]);
    distance.push_back((i ? distance.back() : 0) + std::sqrt(square));
  }
  std::array<Color, 256> map;
  for (int i = 0, at = 0; i < 256; ++i) {
    while (at < samples - 1 && distance[at] < distance.back() * i / 255) ++at;
    const Triple rgb = to_linear_rgb(points[at]);
    std::transform(rgb.begin(), rgb.end(), map[i].begin(), to_level);
  }
  return map;
}

}  // namespace

const std::array<Color, 256>& color_map() {
  static const std::array<Color, 256> map = make_map();
  return map;
}

}  // namespace parafield
