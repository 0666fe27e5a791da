// SPDX-License-Identifier: MIT
#pragma once
#include "steps/affine/models.hpp"

namespace parafield {

/// Fits a model to the matches around each seed with a match, and stores the seeds' colors. A match is
/// weighted by distance, by color and, in a second round, by its deviation from the first model. Seeds
/// without a match, or whose flow or color is not finite, get no model. On the CPU, each thread needs
/// `fit_scratch` bytes of scratch memory.
template <class Backend>
void fit_models(Backend& backend, const Matches& matches, const Colors& colors, const AffineModels& models);

constexpr int fit_reach = 4;  ///< number of seeds on each side whose matches are used
constexpr int fit_rounds = 2;
constexpr float fit_color = 36;    ///< sum of the channels' differences that halves a weight
constexpr float fit_error = 3;     ///< px; deviation from the model that reduces a weight to a quarter
constexpr float fit_ridge = 0.5f;  ///< seeds^2; added to position variances: few matches give their mean
static_assert(fit_reach <= AffineModels::margin);

/// Gaussian of the distance along one axis, with sigma 2.5 seeds.
PF_HD float fit_gaussian(int distance) {
  constexpr float weights[fit_reach + 1] = {1, 0.923116346f, 0.726149037f, 0.486752256f, 0.278037300f};
  return weights[distance < 0 ? -distance : distance];
}

/// Contribution of a seed to the fits.
struct FitSeed {
  float weight;  ///< 1 with a match, otherwise 0
  float u, v;
  Color color;
};
PF_HD FitSeed fit_seed(bool valid, float u, float v, const Color& color) {
  const bool visible = is_finite(color.red) & is_finite(color.green) & is_finite(color.blue);
  const bool matched = valid & visible & is_finite(u) & is_finite(v);
  const float none = 0;
  return {matched ? 1.0f : none,
          matched ? u : none,
          matched ? v : none,
          {visible ? color.red : none, visible ? color.green : none, visible ? color.blue : none, 0}};
}

/// Weight of a match with that color distance and squared deviation.
PF_HD float fit_weight(float prior, float color_distance, float error2) {
  constexpr float color2 = fit_color * fit_color, limit2 = fit_error * fit_error;
  const float robust = limit2 + error2;
  return prior * (color2 * limit2 * limit2) /
         (fma(color_distance, color_distance, color2) * (robust * robust));
}

/// Squared deviation of a match from a model, px^2. (row_u, row_v): the model's flow in the match's row.
PF_HD float fit_error2(float u, float v, float row_u, float row_v, float ux, float vx, float dx) {
  const float error_u = u - fma(ux, dx, row_u), error_v = v - fma(vx, dx, row_v);
  return fma(error_u, error_u, error_v * error_v);
}

/// Weighted sums over a row of neighbors: of 1, positions, squared positions, and flows relative to the
/// seed's flow.
struct FitRow {
  float one = 0, x = 0, xx = 0, u = 0, ux = 0, v = 0, vx = 0;

  PF_HD void add(float weight, float dx, float du, float dv) {
    const float weight_x = weight * dx;
    one += weight;
    x += weight_x;
    xx = fma(weight_x, dx, xx);
    u = fma(weight, du, u);
    ux = fma(weight_x, du, ux);
    v = fma(weight, dv, v);
    vx = fma(weight_x, dv, vx);
  }
};

/// Sums over all neighbors.
struct FitSums {
  static constexpr int count = 12;
  float one = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0, u = 0, ux = 0, uy = 0, v = 0, vx = 0, vy = 0;

  PF_HD void add(const FitRow& row, float dy) {
    one += row.one;
    x += row.x;
    y = fma(row.one, dy, y);
    xx += row.xx;
    xy = fma(row.x, dy, xy);
    yy = fma(row.one, dy * dy, yy);
    u += row.u;
    ux += row.ux;
    uy = fma(row.u, dy, uy);
    v += row.v;
    vx += row.vx;
    vy = fma(row.v, dy, vy);
  }

  /// The model of a seed with flow (seed_u, seed_v): linear regression around the mean position.
  PF_HD AffineModel fitted(float seed_u, float seed_v) const {
    const float per_weight = 1 / larger_number(one, 1e-30f), mean_x = x * per_weight, mean_y = y * per_weight;
    const float a = fma(-mean_x, x, xx) + fit_ridge, b = fma(-mean_x, y, xy),
                c = fma(-mean_y, y, yy) + fit_ridge;
    const float scale = 1 / fma(a, c, -(b * b));
    const float right_u = fma(-mean_x, u, ux), down_u = fma(-mean_y, u, uy);
    const float right_v = fma(-mean_x, v, vx), down_v = fma(-mean_y, v, vy);
    const float slope_ux = fma(right_u, c, -(down_u * b)) * scale,
                slope_uy = fma(down_u, a, -(right_u * b)) * scale,
                slope_vx = fma(right_v, c, -(down_v * b)) * scale,
                slope_vy = fma(down_v, a, -(right_v * b)) * scale;
    return {seed_u + fma(-slope_uy, mean_y, fma(-slope_ux, mean_x, u * per_weight)),
            seed_v + fma(-slope_vy, mean_y, fma(-slope_vx, mean_x, v * per_weight)),
            slope_ux,
            slope_uy,
            slope_vx,
            slope_vy};
  }
};

/// Bytes for one row of sums.
inline std::size_t fit_scratch(const SeedGrid& grid) {
  return sizeof(float) * FitSums::count * std::size_t((grid.columns + 15) / 16 * 16);
}

}  // namespace parafield
