// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <array>

#include "parafield/image.hpp"
#include "scenes/affine.hpp"
#include "scenes/noise.hpp"

/// Gray values and colors of surfaces, and frames that are painted with them.
namespace parafield {

inline constexpr double mean_gray = 127.5;

/// Wavelengths of a texture.
struct Grain {
  bool fine = true;     ///< details down to about 3 px; otherwise only wavelengths above about 20 px
  bool coarse = false;  ///< also wavelengths up to about 200 px, which help find large motion
};

/// Random gray texture over the plane: a sum of octaves. As a smooth function of real coordinates, px, it can
/// be evaluated for each frame without resampling. The finest octave, with a spacing of 1.5 px, has detail
/// down to about 3 px and almost none that is too fine for pixels. Each thread must use its own copy.
class Texture {
 public:
  Texture(std::uint64_t seed, Grain grain);

  /// Gray value at a point of the plane, 0..255 with rare exceptions.
  double operator()(double x, double y);

 private:
  struct Band {
    Octave octave;
    double contrast = 0;
  };
  std::array<Band, 7> bands_;
};

/// Gray value of a facade: a wall with faint texture and dark windows that are taller than wide. `windows` is
/// the distance between windows, px.
double facade_gray(double texture, Point p, double windows);

/// Gray value of a facade of level slats, `slats` px apart, with windows that differ.
double slats_gray(double texture, Point p, double slats);

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

/// Gray value of a pixel, and its color if the frame is colored.
struct Seen {
  double gray;
  Tint tint;
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

/// A gray_u8 or rgb_u8 frame to paint.
class Canvas {
 public:
  explicit Canvas(FrameBuffer& frame);

  bool colored() const { return colored_; }
  void put(int x, int y, double gray, Tint tint) const;

 private:
  View<std::uint8_t> values_;
  bool colored_;
};

}  // namespace parafield
