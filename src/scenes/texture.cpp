// SPDX-License-Identifier: MIT
#include "scenes/texture.hpp"

#include "scenes/random.hpp"

namespace parafield {
namespace {

constexpr double mean_gray = 127.5;

/// Largest deviation of an octave from the mean, in gray values, for each kind of texture. The sum has a
/// standard deviation of about 37 and rarely leaves 0..255. Fine octaves are weaker, as in natural images,
/// but every small window has structure.
struct Contrast {
  double spacing, of[2][2];  ///< of[coarse][fine]
};
constexpr Contrast contrasts[] = {
    {1.5, {{0, 45}, {0, 30}}},  {3, {{0, 60}, {0, 40}}},  {6, {{0, 65}, {0, 45}}}, {12, {{95, 65}, {55, 50}}},
    {24, {{95, 65}, {65, 50}}}, {48, {{0, 0}, {65, 55}}}, {96, {{0, 0}, {65, 60}}}};

}  // namespace

Texture::Texture(std::uint64_t seed, Grain grain) {
  for (std::size_t i = 0; i < bands_.size(); ++i) {
    const Contrast& contrast = contrasts[i];
    bands_[i] = {Octave(contrast.spacing, random_bits(seed, i)), contrast.of[grain.coarse][grain.fine]};
  }
}

double Texture::operator()(double x, double y) {
  double gray = mean_gray;
  for (Band& band : bands_)
    if (band.contrast != 0) gray += band.contrast * band.octave(x, y);
  return gray;
}

}  // namespace parafield
