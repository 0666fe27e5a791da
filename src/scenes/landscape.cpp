// SPDX-License-Identifier: MIT
#include "scenes/landscape.hpp"

namespace parafield {
namespace {

/// Weight of an octave where a pixel covers `footprint`: 1 for wavelengths above about five pixels, 0 below
/// three pixels.
double visible(const Octave& octave, double footprint) {
  return smooth_step(1.2 * footprint, 2.4 * footprint, octave.spacing());
}

/// Sum of octaves, coarsest first, without structure finer than `footprint`. Each has `fade` times the
/// contrast of the previous one.
double sum_of(std::vector<Octave>& octaves, double x, double y, double footprint, double fade) {
  double sum = 0, contrast = 1;
  for (Octave& octave : octaves) {
    const double weight = visible(octave, footprint);
    if (weight == 0) break;
    sum += weight * contrast * octave(x, y);
    contrast *= fade;
  }
  return sum;
}

std::vector<Octave> octaves(std::uint64_t key, double coarsest, double finest) {
  std::vector<Octave> list;
  for (double spacing = coarsest; spacing >= finest && list.size() < 24; spacing /= 2)
    list.emplace_back(spacing, random_bits(key, list.size()));
  return list;
}

}  // namespace

Landscape::Landscape(std::uint64_t seed, double finest)
    : middle_(Octave(8, random_bits(seed, 0))),
      woods_(Octave(1.5, random_bits(seed, 3))),
      ground_(octaves(random_bits(seed, 1), 1.2, finest)),
      clouds_(octaves(random_bits(seed, 2), 0.5, finest)) {
  const double spacings[] = {5, 2.4, 1.2, 0.6, 0.3};
  for (std::size_t i = 0; i < relief_.size(); ++i)
    relief_[i] = Octave(spacings[i], random_bits(seed, 10 + i));
}

double Landscape::height(double x, double z) {
  const auto noise = [&](std::size_t i) { return relief_[i](x, z); };
  // 0 in the valley, 1 in the mountains. Ridges are where the noise changes sign.
  const double aside = (x - middle(z)) / 2.2, square = aside * aside;
  const double mountains = square / (1 + square);
  const double slope = noise(0) + 0.5 * noise(1);
  const double ridges = 1 - 2 * std::sqrt(slope * slope + 0.002);
  const double rough = noise(2) + 0.55 * noise(3) + 0.3 * noise(4);
  return mountains * mountains * (0.3 + 3.2 * ridges) + (0.12 + 0.8 * mountains) * rough;
}

Landscape::Ground Landscape::ground(double x, double z, double height, double footprint) {
  const double gray = sum_of(ground_, x, z, footprint, 1);
  // Woods below, snow on the peaks. The ground's texture makes the snow line ragged.
  const double snow = smooth_step(1.5, 2.5, height + 0.8 * gray);
  return {100 + (58 - 20 * snow) * gray + 65 * snow, snow};
}

Tint Landscape::bare_ground(double x, double z, double height, double footprint) {
  constexpr Tint woods{-24, -36}, rock{20, -30};
  const double patches = visible(woods_, footprint) * woods_(x, z);
  return woods.mixed(rock, smooth_step(-0.7, 1.3, 0.5 * (height - 0.4) + 1.6 * patches));
}

double Landscape::sky(double x, double up, double footprint) {
  const double clouds = 1.8 * sum_of(clouds_, x / 2, up, footprint, 0.75) - 0.1;
  return 165 + 80 * clouds / std::sqrt(1 + clouds * clouds);
}

}  // namespace parafield
