#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "parafield/image.hpp"
#include "scenes/noise.hpp"

namespace parafield {

/// A color: how far red and blue are above the gray value at middle gray, -`limit`..`limit`. Green makes up for
/// both, so that the color's luma (BT.601) is the gray value; towards black and white the color fades.
struct Tint {
  static constexpr double limit = 63;  ///< up to there no channel leaves 0..255
  double red = 0, blue = 0;

  Tint operator+(Tint other) const { return {red + other.red, blue + other.blue}; }
  Tint operator*(double factor) const { return {factor * red, factor * blue}; }
  /// This one at 0, `other` at 1.
  Tint mixed(Tint other, double share) const { return *this * (1 - share) + other * share; }
};

/// What colors a surface: the tint that is its own, and slow changes of it over the plane.
class Dye {
 public:
  Dye(std::uint64_t seed, Tint mean, double change);

  /// For object `index` of a scene, neighbors in the order being of clearly different hue.
  static Dye object(std::uint64_t seed, std::size_t index);
  /// For what is behind all objects: paler, but with more change.
  static Dye ground(std::uint64_t seed, std::size_t index);

  /// Reads along a path.
  class Reader {
   public:
    explicit Reader(const Dye& dye) : dye_(&dye) {}
    Tint operator()(double x, double y);

   private:
    const Dye* dye_;
    std::array<Octave::Reader, 4> octaves_;
  };

 private:
  Tint mean_;
  double change_;
  std::array<Octave, 4> octaves_;  ///< red and blue, coarse; red and blue, finer
};

inline std::uint8_t to_u8(double value) {
  return std::uint8_t(value < 0 ? 0 : value > 255 ? 255 : std::floor(value + 0.5));
}

/// A row of a frame, gray_u8 or rgb_u8.
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
