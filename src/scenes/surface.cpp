// SPDX-License-Identifier: MIT
#include "scenes/surface.hpp"

#include "core/views.hpp"

namespace parafield {
namespace {

/// Largest deviation of an octave from the mean, in gray values, for each kind of texture. The sum has a
/// standard deviation of about 37 and rarely leaves 0..255. Fine octaves are weaker, as in natural images,
/// but every small window has structure.
struct Contrast {
  double spacing, of[2][2];  ///< of[coarse][fine]
};
constexpr Contrast contrasts[] = {
    {1.5, {{0, 45}, {0, 30}}},  {3, {{0, 60}, {0, 40}}},  {6, {{0, 65}, {0, 45}}}, {12, {{95, 65}, {55, 50}}},
    {24, {{95, 65}, {65, 50}}}, {48, {{0, 0}, {65, 55}}}, {96, {{0, 0}, {65, 60}}}};

/// Hue of an object, as a tint of length 1. It turns by the golden angle from one index to the next, which
/// makes the hues of a few objects clearly different.
Tint hue(std::uint64_t seed, std::size_t index) {
  Draw draw(seed);
  Tint tint{draw.between(-1, 1), draw.between(-1, 1)};
  const double length = std::sqrt(tint.red * tint.red + tint.blue * tint.blue) + 1e-6;
  tint = {tint.red / length, tint.blue / length};
  constexpr double cosine = -0.7373688780783197, sine = 0.6754902942615238;
  for (std::size_t i = 0; i < index; ++i)
    tint = {cosine * tint.red - sine * tint.blue, sine * tint.red + cosine * tint.blue};
  return tint;
}

std::uint8_t to_u8(double value) {
  return std::uint8_t(value < 0 ? 0 : value > 255 ? 255 : std::floor(value + 0.5));
}

}  // namespace

Texture::Texture(std::uint64_t seed, Grain grain) {
  for (std::size_t i = 0; i < bands_.size(); ++i) {
    const Contrast& contrast = contrasts[i];
    bands_[i] = {Octave(contrast.spacing, random_bits(seed, i)), contrast.of[grain.coarse][grain.fine]};
  }
}

double Texture::operator()(double x, double y) {
  double gray = mean_gray;
  for (Band& band : bands_)
    if (band.contrast != 0) gray += band.contrast * band.octave(x, y);
  return gray;
}

namespace {

/// Share of a dark stripe at a coordinate, 0 to 1, where stripes are `period` apart and 2 `half` of it wide.
/// The edges are soft enough for linear interpolation to reproduce them.
double stripe(double at, double period, double half) {
  const double from_center = std::abs(at / period - std::floor(at / period) - 0.5) * period;
  return smooth_step(0, 1, (half * period - from_center) / 2 + 0.5);
}

}  // namespace

double facade_gray(double texture, Point p, double windows) {
  constexpr double wall = 150, depth = 70;
  return wall + 0.06 * (texture - mean_gray) -
         depth * stripe(p.x, windows, 0.3) * stripe(p.y, 1.5 * windows, 0.3);
}

double slats_gray(double texture, Point p, double slats) {
  constexpr double wall = 150, depth = 70, pane = 70;
  const double glass = stripe(p.x, 18 * slats, 0.15) * stripe(p.y, 14 * slats, 0.15);
  const double slatted = wall + 0.06 * (texture - mean_gray) - depth * stripe(p.y, slats, 0.25);
  return (1 - glass) * slatted + glass * (pane + 0.4 * (texture - mean_gray));
}

Dye::Dye(std::uint64_t seed, Tint mean, double change) : mean_(mean), change_(change) {
  for (std::size_t i = 0; i < octaves_.size(); ++i)
    octaves_[i] = Octave(i < 2 ? 120 : 40, random_bits(seed, i));
}

Dye Dye::object(std::uint64_t seed, std::size_t index) {
  return {random_bits(seed, 10 + index), hue(seed, index) * 56, 24};
}

Dye Dye::ground(std::uint64_t seed, std::size_t index) {
  return {random_bits(seed, 10 + index), hue(seed, index) * 26, 44};
}

Tint Dye::operator()(double x, double y) {
  const auto noise = [&](std::size_t i) { return octaves_[i](x, y); };
  return mean_ + Tint{noise(0), noise(1)} * change_ + Tint{noise(2), noise(3)} * (0.6 * change_);
}

Canvas::Canvas(FrameBuffer& frame)
    : values_(values_of<std::uint8_t>(frame)), colored_(frame.format() == PixelFormat::rgb_u8) {}

void Canvas::put(int x, int y, double gray, Tint tint) const {
  if (!colored_) {
    values_(x, y) = to_u8(gray);
    return;
  }
  gray = std::clamp(gray, 0.0, 255.0);
  const double strength = 4 * gray * (255 - gray) / (255 * 255);
  const double red = strength * std::clamp(tint.red, -Tint::limit, Tint::limit),
               blue = strength * std::clamp(tint.blue, -Tint::limit, Tint::limit);
  std::uint8_t* const pixel = &values_(3 * x, y);
  pixel[0] = to_u8(gray + red);
  pixel[1] = to_u8(gray - (0.299 * red + 0.114 * blue) / 0.587);
  pixel[2] = to_u8(gray + blue);
}

}  // namespace parafield
