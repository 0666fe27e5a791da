#pragma once
#include <array>
#include <cstdint>

#include "scenes/noise.hpp"

namespace parafield {

/// What a texture is made of.
struct Grain {
  bool fine = true;     ///< details down to about 3 px, otherwise only wavelengths above about 20 px
  bool coarse = false;  ///< also wavelengths up to some 200 px, by which large motion can be found
};

/// A random gray texture over the whole plane, a smooth function of real coordinates (px): its frames are
/// evaluated, never resampled. A sum of octaves; the finest, of a spacing of 1.5 px, keeps detail down to about
/// 3 px and next to nothing beyond what pixels can carry.
class Texture {
 public:
  Texture(std::uint64_t seed, Grain grain);

  /// Reads along a path.
  class Reader {
   public:
    explicit Reader(const Texture& texture) : texture_(&texture) {}
    /// Gray value at a point of the plane, 0..255 but for rare excess.
    double operator()(double x, double y);

   private:
    const Texture* texture_;
    std::array<Octave::Reader, 7> octaves_;
  };

 private:
  struct Band {
    Octave octave;
    double contrast = 0;
  };
  std::array<Band, 7> bands_;
};

}  // namespace parafield
