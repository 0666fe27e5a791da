#pragma once
#include <cstdint>

namespace parafield {

/// Octave of random structure over the plane: a cubic B-spline over a lattice of independent random numbers
/// in -1..1, a smooth function of real coordinates. By the B-spline's spectrum, sinc^4, it is weak at
/// wavelengths near twice the spacing and 0 at the spacing.
struct Octave {
  double spacing = 1;
  double shift_x = 0, shift_y = 0;  ///< of the lattice, in its units; lattices of two octaves never coincide
  std::uint64_t key = 0;

  static Octave random(double spacing, std::uint64_t key);

  /// Reads along a path. It keeps the lattice values around the last point.
  class Reader {
   public:
    double operator()(const Octave& octave, double x, double y);

   private:
    std::int64_t column_ = INT64_MIN, row_ = INT64_MIN;
    double values_[4][4];
  };
};

/// Smooth step: 0 up to `low`, 1 from `high`.
inline double smooth_step(double low, double high, double value) {
  const double t = (value - low) / (high - low);
  return t <= 0 ? 0 : t >= 1 ? 1 : t * t * (3 - 2 * t);
}

}  // namespace parafield
