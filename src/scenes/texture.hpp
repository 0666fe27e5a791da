#pragma once
#include <array>
#include <cstdint>
#include <span>

namespace parafield {

/// A random gray texture over the whole plane, a smooth function of real coordinates (px): its frames are
/// evaluated, never resampled. A sum of octaves; each is a cubic B-spline over a lattice of independent
/// random numbers. The B-spline's spectrum, sinc^4, makes an octave of spacing s fade out at wavelengths near
/// 2 s and vanish at s, so that the finest, s = 1.5 px, keeps detail down to about 3 px and next to nothing
/// beyond what pixels can carry.
class Texture {
 public:
  /// `fine` = all octaves, otherwise only those with wavelengths above about 20 px.
  Texture(std::uint64_t seed, bool fine);

  /// Reads along a path: remembers for each octave the lattice values around the last point.
  class Reader {
   public:
    explicit Reader(const Texture& texture) : texture_(&texture) {}
    /// Gray value at a point of the plane, 0..255 but for rare excess.
    double operator()(double x, double y);

   private:
    struct Cell {
      std::int64_t column = INT64_MIN, row = INT64_MIN;
      double values[4][4];
    };
    const Texture* texture_;
    std::array<Cell, 5> cells_;
  };

 private:
  struct Octave {
    double spacing = 0, contrast = 0;
    double shift_x = 0, shift_y = 0;  ///< in lattice units; lattices of two octaves never fall together
    std::uint64_t key = 0;
  };
  std::array<Octave, 5> octaves_;
};

}  // namespace parafield
