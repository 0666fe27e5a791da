// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "parafield/image.hpp"
#include "scenes/noise.hpp"

namespace parafield {

/// Color of a pixel in addition to its gray value: how far red and blue are above the gray value at middle
/// gray, -`limit`..`limit`. Green compensates for both, so that the luma (BT.601) equals the gray value. The
/// color fades toward black and white.
struct Tint {
  static constexpr double limit = 63;  ///< above this, a channel could leave 0..255
  double red = 0, blue = 0;

  Tint operator+(Tint other) const { return {red + other.red, blue + other.blue}; }
  Tint operator*(double factor) const { return {factor * red, factor * blue}; }
  /// Mixes two tints: this one at share 0, `other` at share 1.
  Tint mixed(Tint other, double share) const { return *this * (1 - share) + other * share; }
};

/// Colors of a surface: a mean tint that varies slowly over the plane. Each thread must use its own copy.
class Dye {
 public:
  Dye(std::uint64_t seed, Tint mean, double change);

  /// Dye of object `index` of a scene. Neighboring indices have clearly different hues.
  static Dye object(std::uint64_t seed, std::size_t index);
  /// Dye of the background: paler, but with more variation.
  static Dye ground(std::uint64_t seed, std::size_t index);

  /// Tint at a point of the plane.
  Tint operator()(double x, double y);

 private:
  Tint mean_;
  double change_;
  std::array<Octave, 4> octaves_;  ///< red and blue, coarse; then red and blue, finer
};

inline std::uint8_t to_u8(double value) {
  return std::uint8_t(value < 0 ? 0 : value > 255 ? 255 : std::floor(value + 0.5));
}

/// A row of a gray_u8 or rgb_u8 frame to paint.
class Row {
 public:
  Row(FrameBuffer& frame, int y)
      : row_(static_cast<std::uint8_t*>(frame.row(y))), colored_(frame.format() == PixelFormat::rgb_u8) {}

  bool colored() const { return colored_; }
  void put(int x, double gray, Tint tint) {
    if (!colored_) {
      row_[x] = to_u8(gray);
      return;
    }
    gray = std::clamp(gray, 0.0, 255.0);
    const double strength = 4 * gray * (255 - gray) / (255 * 255);
    const double red = strength * std::clamp(tint.red, -Tint::limit, Tint::limit),
                 blue = strength * std::clamp(tint.blue, -Tint::limit, Tint::limit);
    row_[3 * x] = to_u8(gray + red);
    row_[3 * x + 1] = to_u8(gray - (0.299 * red + 0.114 * blue) / 0.587);
    row_[3 * x + 2] = to_u8(gray + blue);
  }

 private:
  std::uint8_t* row_;
  bool colored_;
};

}  // namespace parafield
