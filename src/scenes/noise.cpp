// SPDX-License-Identifier: MIT
#include "scenes/noise.hpp"

namespace parafield {
namespace {

/// Weights of the four lattice values around a point, of columns and of rows: the uniform cubic B-spline.
struct Weights {
  Pair of[4];
};

Weights spline_weights(Pair t) {
  const Pair s = 1 - t;
  return {{s * s * s / 6, (4 - 3 * t * t * (2 - t)) / 6, (4 - 3 * s * s * (2 - s)) / 6, t * t * t / 6}};
}

/// As std::floor, which is a call where the compiler may not use SSE4.1.
std::int64_t rounded_down(double value) {
  const auto whole = std::int64_t(value);
  return whole - (double(whole) > value);
}

}  // namespace

Octave::Octave(double spacing, std::uint64_t key)
    : spacing_(spacing),
      shift_{to_unit(random_bits(key, 0)), to_unit(random_bits(key, 1))},
      key_(random_bits(key, 2)) {}

double Octave::operator()(double x, double y) {
  const Pair at = Pair{x, y} / spacing_ + shift_;
  const std::int64_t column = rounded_down(at[0]), row = rounded_down(at[1]);
  if (column != column_ || row != row_) {
    column_ = column;
    row_ = row;
    for (int j = 0; j < 4; ++j) {
      const std::uint64_t row_key = random_bits(key_, std::uint64_t(row + j));
      for (int k = 0; k < 4; ++k)
        values_[k][j / 2][j % 2] = 2 * to_unit(random_bits(row_key, std::uint64_t(column + k))) - 1;
    }
  }

  const Weights weights = spline_weights(at - Pair{double(column), double(row)});
  const auto rows = [&](int half) {  // two of the four
    return weights.of[0][0] * values_[0][half] + weights.of[1][0] * values_[1][half] +
           weights.of[2][0] * values_[2][half] + weights.of[3][0] * values_[3][half];
  };
  const Pair upper = rows(0), lower = rows(1);
  return weights.of[0][1] * upper[0] + weights.of[1][1] * upper[1] + weights.of[2][1] * lower[0] +
         weights.of[3][1] * lower[1];
}

}  // namespace parafield
