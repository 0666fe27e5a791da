// SPDX-License-Identifier: MIT
#include "scenes/noise.hpp"

#include <array>
#include <cmath>

namespace parafield {
namespace {

/// Weights of the four lattice values around a point in one dimension: the uniform cubic B-spline.
std::array<double, 4> spline_weights(double t) {
  const double s = 1 - t;
  return {s * s * s / 6, (4 - 3 * t * t * (2 - t)) / 6, (4 - 3 * s * s * (2 - s)) / 6, t * t * t / 6};
}

}  // namespace

Octave::Octave(double spacing, std::uint64_t key)
    : spacing_(spacing),
      shift_x_(to_unit(random_bits(key, 0))),
      shift_y_(to_unit(random_bits(key, 1))),
      key_(random_bits(key, 2)) {}

double Octave::operator()(double x, double y) {
  const double across = x / spacing_ + shift_x_, down = y / spacing_ + shift_y_;
  const double column = std::floor(across), row = std::floor(down);
  if (std::int64_t(column) != column_ || std::int64_t(row) != row_) {
    column_ = std::int64_t(column);
    row_ = std::int64_t(row);
    for (int j = 0; j < 4; ++j) {
      const std::uint64_t row_key = random_bits(key_, std::uint64_t(row_ + j));
      for (int k = 0; k < 4; ++k)
        values_[j][k] = 2 * to_unit(random_bits(row_key, std::uint64_t(column_ + k))) - 1;
    }
  }

  const auto horizontal = spline_weights(across - column), vertical = spline_weights(down - row);
  double sum = 0;
  for (int j = 0; j < 4; ++j)
    sum += vertical[j] * (horizontal[0] * values_[j][0] + horizontal[1] * values_[j][1] +
                          horizontal[2] * values_[j][2] + horizontal[3] * values_[j][3]);
  return sum;
}

}  // namespace parafield
