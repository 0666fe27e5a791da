#include "scenes/texture.hpp"

#include <cmath>

#include "scenes/random.hpp"

namespace parafield {
namespace {

constexpr double mean_gray = 127.5;

/// Largest deviation of each octave from the mean, in gray values. The sum has a standard deviation of about
/// 37 and hardly ever leaves 0..255; fine octaves are weaker, as in natural images, but leave no small window
/// without structure.
struct Band {
  double spacing, fine, smooth;
};
constexpr Band bands[] = {{1.5, 45, 0}, {3, 60, 0}, {6, 65, 0}, {12, 65, 95}, {24, 65, 95}};

/// Weights of the four lattice values around a point: the uniform cubic B-spline.
void spline_weights(double t, double (&weights)[4]) {
  const double s = 1 - t;
  weights[0] = s * s * s / 6;
  weights[1] = (4 - 3 * t * t * (2 - t)) / 6;
  weights[2] = (4 - 3 * s * s * (2 - s)) / 6;
  weights[3] = t * t * t / 6;
}

}  // namespace

Texture::Texture(std::uint64_t seed, bool fine) {
  for (std::size_t i = 0; i < octaves_.size(); ++i) {
    const std::uint64_t key = random_bits(seed, i);
    octaves_[i] = {bands[i].spacing, fine ? bands[i].fine : bands[i].smooth, to_unit(random_bits(key, 0)),
                   to_unit(random_bits(key, 1)), random_bits(key, 2)};
  }
}

double Texture::Reader::operator()(double x, double y) {
  double gray = mean_gray;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const Octave& octave = texture_->octaves_[i];
    if (octave.contrast == 0) continue;
    const double across = x / octave.spacing + octave.shift_x, down = y / octave.spacing + octave.shift_y;
    const double column = std::floor(across), row = std::floor(down);

    Cell& cell = cells_[i];
    if (std::int64_t(column) != cell.column || std::int64_t(row) != cell.row) {
      cell.column = std::int64_t(column);
      cell.row = std::int64_t(row);
      for (int j = 0; j < 4; ++j) {
        const std::uint64_t row_key = random_bits(octave.key, std::uint64_t(cell.row + j));
        for (int k = 0; k < 4; ++k)
          cell.values[j][k] = 2 * to_unit(random_bits(row_key, std::uint64_t(cell.column + k))) - 1;
      }
    }

    double horizontal[4], vertical[4], sum = 0;
    spline_weights(across - column, horizontal);
    spline_weights(down - row, vertical);
    for (int j = 0; j < 4; ++j) {
      const double* values = cell.values[j];
      sum += vertical[j] * (horizontal[0] * values[0] + horizontal[1] * values[1] +
                            horizontal[2] * values[2] + horizontal[3] * values[3]);
    }
    gray += octave.contrast * sum;
  }
  return gray;
}

}  // namespace parafield
