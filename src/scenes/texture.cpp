#include "scenes/texture.hpp"

#include "scenes/random.hpp"

namespace parafield {
namespace {

constexpr double mean_gray = 127.5;

/// Largest deviation of an octave from the mean, in gray values, for each kind of texture. The sum has a
/// standard deviation of about 37 and rarely leaves 0..255. Fine octaves are weaker, as in natural images,
/// but every small window has structure.
struct Contrast {
  double spacing, fine, smooth, fine_coarse, smooth_coarse;
};
constexpr Contrast contrasts[] = {{1.5, 45, 0, 30, 0},  {3, 60, 0, 40, 0},    {6, 65, 0, 45, 0},
                                  {12, 65, 95, 50, 55}, {24, 65, 95, 50, 65}, {48, 0, 0, 55, 65},
                                  {96, 0, 0, 60, 65}};

}  // namespace

Texture::Texture(std::uint64_t seed, Grain grain) {
  for (std::size_t i = 0; i < bands_.size(); ++i) {
    const Contrast& band = contrasts[i];
    bands_[i] = {Octave::random(band.spacing, random_bits(seed, i)),
                 grain.coarse ? (grain.fine ? band.fine_coarse : band.smooth_coarse)
                              : (grain.fine ? band.fine : band.smooth)};
  }
}

double Texture::Reader::operator()(double x, double y) {
  double gray = mean_gray;
  for (std::size_t i = 0; i < octaves_.size(); ++i) {
    const Band& band = texture_->bands_[i];
    if (band.contrast != 0) gray += band.contrast * octaves_[i](band.octave, x, y);
  }
  return gray;
}

}  // namespace parafield
