// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>

#include "core/workspace.hpp"
#include "steps/gradient/gradient.hpp"
#include "steps/pyramid/pyramid.hpp"

/// Descriptors of pixels: the amount of gradient around them in each of eight directions, relative to the
/// surrounding texture. For equal bits on all devices, values are integers, or floats computed in a fixed
/// order.
namespace parafield {

/// Descriptors of an image: 8 bytes per pixel, one for each direction. The image is extended by `margin` px
/// on each side, where pixels repeat the nearest pixel. Each row stores every fourth pixel together: first
/// all with x % 4 = 0, then 1, 2, 3. This makes the points of a patch's row contiguous in memory.
struct Descriptors {
  static constexpr int directions = 8, margin = 8, phases = 4;
  View<std::uint64_t> rows;
  int width = 0, height = 0;  ///< of the image, px

  /// Number of pixels in each of the four parts of a row.
  PF_HD static int part(int width) { return (width + 2 * margin + phases - 1) / phases; }
  PF_HD std::uint64_t* at(int x, int y) const {
    const int padded = x + margin;
    return rows.row(y + margin) + padded % phases * part(width) + padded / phases;
  }
};

inline Descriptors make_descriptors(Workspace& workspace, Size size) {
  const int margins = 2 * Descriptors::margin;
  return {workspace.image<std::uint64_t>(
              {Descriptors::phases * Descriptors::part(size.width), size.height + margins}),
          size.width, size.height};
}

/// Intermediate memory of `describe` for all pixels of a frame's levels; used on CUDA only.
struct DescriptorScratch {
  std::uint64_t* channels;  ///< two words per pixel: eight pooled gradients of 16 bits
  float* energy;
};

/// Describes all levels of one or two pyramids of the same size. `descriptors`: the levels of the first
/// pyramid, then the levels of the second. Gradients that are not finite count as 0. On the CPU, each thread
/// needs `descriptor_scratch` bytes of scratch memory.
template <class Backend>
void describe(Backend& backend, const Pyramid* pyramids, int count, const Descriptors* descriptors,
              const DescriptorScratch* scratch);

constexpr int pool_reach = 3;          ///< radius of the triangle filter that pools gradients, px
constexpr int energy_reach = 6;        ///< radius of the window that measures texture, px
constexpr float gradient_unit = 16;    ///< pooled gradients are in sixteenths of a gray value per px
constexpr float most_gradient = 4080;  ///< in that unit: sixteen of them fit in 16 bits
/// Texture below about this is noise, and the bytes become smaller with it. 0.72 gray values^2.
constexpr float least_energy = 0.72f * gradient_unit * gradient_unit;

/// Half the difference of a pixel's two neighbors: one component of its gradient. 0 if not finite.
PF_HD float half_difference(float before, float after) {
  const float difference = 0.5f * (after - before);
  return is_finite(difference) ? clamp(difference, -most_gradient, most_gradient) : 0.0f;
}

/// Scale for the cube in `directed`: gradient_unit / |g|^2.
PF_HD float sharpening(float gx, float gy) { return gradient_unit / (fma(gx, gx, gy * gy) + 1e-6f); }

/// Unit vector in direction k * 45 degrees.
PF_HD Motion direction(int k) {
  constexpr float diagonal = 0.70710678f;
  const float x = k == 2 || k == 6 ? 0.0f
                  : k % 2          ? diagonal
                                   : 1.0f,
              y = k == 0 || k == 4 ? 0.0f
                  : k % 2          ? diagonal
                                   : 1.0f;
  return {k > 2 && k < 6 ? -x : x, k > 4 ? -y : y};
}

/// A gradient's component in direction d: (g . d)^3 / |g|^2 if g . d is positive, otherwise 0. The cube makes
/// the directions more selective.
PF_HD std::uint16_t directed(float gx, float gy, float scale, const Motion& d) {
  const float share = larger_number(fma(gx, d.u, gy * d.v), 0.0f);
  return std::uint16_t(int(smaller_number(fma(share * share, share * scale, 0.5f), most_gradient)));
}

/// Triangle filter (1 2 3 4 3 2 1) / 16 of integers, rounded.
PF_HD std::uint16_t pooled(int a, int b, int c, int d, int e, int f, int g) {
  return std::uint16_t((4 * d + 3 * (c + e) + 2 * (b + f) + (a + g) + 8) >> 4);
}

/// Weight of the energy of pixels k px away.
PF_HD float energy_weight(int k) {
  constexpr float weights[energy_reach + 1] = {0.12f, 0.115f, 0.105f, 0.09f, 0.07f, 0.04f, 0.02f};
  return weights[k];
}

/// Scale that turns a pooled gradient into a byte, from the energy around it.
PF_HD float normalization(float energy) { return 128 / __builtin_sqrtf(energy + least_energy); }

PF_HD std::uint8_t descriptor_byte(std::uint16_t channel, float scale) {
  return std::uint8_t(int(smaller_number(float(channel) * scale, 255.0f)));
}

/// Bytes of a thread's row buffers, for images of that width.
inline std::size_t descriptor_scratch(int width) {
  const auto columns = std::size_t((width + 2 * energy_reach + 31) / 32 * 32);
  constexpr std::size_t channels = Descriptors::directions * sizeof(std::uint16_t);
  // Raw and pooled rows, a filtered direction, energies, four rows of floats, and descriptors as bytes and as
  // words.
  return columns *
         ((8 + 16) * channels + sizeof(std::uint16_t) + (16 + 4) * sizeof(float) + 2 * sizeof(std::uint64_t));
}

}  // namespace parafield
