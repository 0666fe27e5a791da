// SPDX-License-Identifier: MIT
#pragma once
#include "steps/affine/models.hpp"

namespace parafield {

/// Flow of each pixel: the mean of the models of the seeds around, weighted by distance, by color and by the
/// seeds' weights. Flow is NaN where no seed around has a model. `confidence`: the sum of the weights, 1
/// where all seeds around are matches of the pixel's color; no image = not asked for. On the CPU each thread
/// needs `blend_scratch` bytes.
template <class Backend>
void blend_models(Backend& backend, const AffineModels& models, const Colors& colors, FlowPlanes flow,
                  View<float> confidence);

constexpr int blend_reach = 2;  ///< seeds that count, on each side; with 3 the error is the same
constexpr int blend_side = 2 * blend_reach + 1;
/// log2(e) / (2 sigma^2) with sigma = 0.75 seeds: exponents are those of 2.
constexpr float blend_position = 1.28239559f;
/// Colors times this have the square of their distance as exponent: the root of log2(e) / (2 * 3 * 12^2).
constexpr float blend_color = 0.0408630f;
/// Largest exponent by color. Beyond it, also for colors that are not finite, positions decide.
constexpr float blend_cutoff = 58;
/// 1 / (2 pi sigma^2): by how much the weights of all seeds have to be multiplied to sum up to 1.
constexpr float blend_share = 0.282942121f;

/// Position of a pixel relative to the seed of its column or row, in seeds. `x`: column or row.
PF_HD float seed_phase(int x, int stride) { return float(x % stride - stride / 2) / float(stride); }

/// Exponent by the distance along one side, in seeds.
PF_HD float position_exponent(float distance) { return distance * (distance * -blend_position); }

/// Weight of a seed by exponents of distance along x, and by differences of colors times blend_color.
PF_HD float blend_weight(float exponent, float red, float green, float blue) {
  const float distance2 = fma(red, red, fma(green, green, blue * blue));
  return exponential2(exponent - smaller_number(distance2, blend_cutoff));
}

/// A pixel's weighted sums.
struct BlendSums {
  float weight = 0, u = 0, v = 0;

  PF_HD void add(float w, float seed_u, float seed_v) {
    weight += w;
    u = fma(w, seed_u, u);
    v = fma(w, seed_v, v);
  }
  /// Adds the sums of a row of seeds, whose weight by distance is `w`.
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

constexpr int blend_chunk = 256;  ///< columns that the CPU takes together, at most

/// Number of floats of a chunk's row of seeds, drawn out to pixels.
PF_HD int blend_columns(int stride) { return (blend_chunk + 2 * blend_reach * stride + 15) / 16 * 16; }
constexpr int blend_planes = 12;
inline std::size_t blend_scratch(const SeedGrid& grid) {
  return sizeof(float) * (blend_planes * std::size_t(blend_columns(grid.stride)) +
                          blend_chunk * (1 + 3 * std::size_t(grid.stride)));
}

}  // namespace parafield
