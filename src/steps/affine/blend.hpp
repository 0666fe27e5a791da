// SPDX-License-Identifier: MIT
#pragma once
#include "steps/affine/models.hpp"

namespace parafield {

/// Flow of each pixel: the mean of the models of the surrounding seeds, weighted by distance, by color and by
/// the seeds' own weights. Flow is NaN if no surrounding seed has a model. `confidence`: sum of the weights,
/// 1 if all surrounding seeds are matches of the pixel's color; null data = not requested. On the CPU, each
/// thread needs `blend_scratch` bytes of scratch memory.
template <class Backend>
void blend_models(Backend& backend, const AffineModels& models, const Colors& colors, FlowPlanes flow,
                  View<float> confidence);

constexpr int blend_reach = 2;  ///< number of seeds used on each side; 3 would give the same error
constexpr int blend_side = 2 * blend_reach + 1;
/// log2(e) / (2 sigma^2) with sigma = 0.75 seeds; exponents are to base 2.
constexpr float blend_position = 1.28239559f;
/// Scale of colors that makes their squared distance the exponent: sqrt(log2(e) / (2 * 3 * 12^2)).
constexpr float blend_color = 0.0408630f;
/// Largest color exponent. Beyond it, and for colors that are not finite, only positions count.
constexpr float blend_cutoff = 58;
/// 1 / (2 pi sigma^2): factor that makes the weights of all seeds add up to 1.
constexpr float blend_share = 0.282942121f;

/// Position of a pixel relative to its seed along one axis, in seeds. `x`: column or row.
PF_HD float seed_phase(int x, int stride) { return float(x % stride - stride / 2) / float(stride); }

/// Exponent of a distance along one axis, in seeds.
PF_HD float position_exponent(float distance) { return distance * (distance * -blend_position); }

/// Weight of a seed from its exponent along x and from the color differences times blend_color.
PF_HD float blend_weight(float exponent, float red, float green, float blue) {
  const float distance2 = fma(red, red, fma(green, green, blue * blue));
  return exponential2(exponent - smaller_number(distance2, blend_cutoff));
}

/// Weighted sums of one pixel.
struct BlendSums {
  float weight = 0, u = 0, v = 0;

  PF_HD void add(float w, float seed_u, float seed_v) {
    weight += w;
    u = fma(w, seed_u, u);
    v = fma(w, seed_v, v);
  }
  /// Adds the sums of a row of seeds whose weight along y is `w`.
  PF_HD void add(float w, const BlendSums& row) {
    weight = fma(w, row.weight, weight);
    u = fma(w, row.u, u);
    v = fma(w, row.v, v);
  }
  PF_HD Motion motion() const {
    const float none = __builtin_nanf("");
    return {weight > 0 ? u / weight : none, weight > 0 ? v / weight : none};
  }
  PF_HD float confidence() const { return smaller_number(weight * blend_share, 1.0f); }
};

constexpr int blend_chunk = 256;  ///< largest number of columns that the CPU processes together

/// Number of floats in a row of seeds that is expanded to the pixels of a chunk.
PF_HD int blend_columns(int stride) { return (blend_chunk + 2 * blend_reach * stride + 15) / 16 * 16; }
constexpr int blend_planes = 12;
inline std::size_t blend_scratch(const SeedGrid& grid) {
  return sizeof(float) * (blend_planes * std::size_t(blend_columns(grid.stride)) +
                          blend_chunk * (1 + 3 * std::size_t(grid.stride)));
}

}  // namespace parafield
