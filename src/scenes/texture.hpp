// SPDX-License-Identifier: MIT
#pragma once
#include <array>
#include <cstdint>

#include "scenes/noise.hpp"

namespace parafield {

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

}  // namespace parafield
