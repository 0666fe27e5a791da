// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

namespace parafield {

/// An octave of random structure over the plane: a cubic B-spline over a lattice of independent random
/// numbers in -1..1, which is a smooth function of real coordinates. The B-spline's spectrum is sinc^4: the
/// amplitude is low at a wavelength of twice the spacing, and zero at the spacing itself. An Octave caches
/// the lattice values around the last point that was read, which is why each thread must use its own copy.
class Octave {
 public:
  Octave() = default;
  Octave(double spacing, std::uint64_t key);

  double spacing() const { return spacing_; }
  double operator()(double x, double y);

 private:
  double spacing_ = 1;
  double shift_x_ = 0, shift_y_ = 0;  ///< shift of the lattice, in its units; different for each octave
  std::uint64_t key_ = 0;
  std::int64_t column_ = INT64_MIN, row_ = INT64_MIN;
  double values_[4][4] = {};
};

/// Smooth step: 0 up to `low`, 1 from `high`.
inline double smooth_step(double low, double high, double value) {
  const double t = (value - low) / (high - low);
  return t <= 0 ? 0 : t >= 1 ? 1 : t * t * (3 - 2 * t);
}

}  // namespace parafield
