// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"
#include "parafield/image.hpp"
#include "steps/surfaces/plane_sums.hpp"

/// Smoothing of refined disparities by planes that are fitted around every other pixel of every other row.
/// Without it, single disparities are too noisy to be much better than whole ones.
namespace parafield {

/// Number of samples of an image, every other pixel of every other row: sample (i, j) is pixel (2 i, 2 j).
PF_HD Size sampled(Size size) { return {(size.width + 1) / 2, (size.height + 1) / 2}; }

/// Samples that planes are fitted to.
struct DisparitySamples {
  View<float> d, trust, luma;  // disparity, its weight, and luma of the image
  View<float> certainty;       // how much more the adjacent disparities cost: see refine_labels
};

/// Planes around the samples: the disparity at the sample, and its slopes in px per px.
struct Surfaces {
  View<float> d, slope_x, slope_y;
};

/// Prepares samples. `samples.d` holds refined disparities, which are replaced by the whole ones where they
/// are not valid or more than half a pixel away from these. `samples.certainty` is read. `colors`: see
/// mix.hpp.
template <class Backend>
void sample_disparities(Backend& backend, View<const float> whole, View<const std::uint8_t> valid,
                        View<const std::uint32_t> colors, const DisparitySamples& samples);

/// Fits a plane to the samples around each sample, with more weight for similar luma.
template <class Backend>
void fit_surfaces(Backend& backend, const DisparitySamples& samples, const Surfaces& surfaces);

/// Stores the disparity of the surfaces around each valid pixel, at most half a pixel from its whole
/// disparity and between the `least` and `most` of the labels. Other pixels keep the whole one.
template <class Backend>
void take_surfaces(Backend& backend, View<const float> whole, View<const std::uint8_t> valid,
                   const Surfaces& surfaces, float least, float most, View<float> out);

// Shared by both backends.

PF_HD float sampled_disparity(float whole, float fine, bool valid) {
  return (valid & (magnitude(fine - whole) <= 0.5f)) ? fine : whole;
}
PF_HD float sample_trust(bool valid, float certainty) {
  return valid ? clamp(0.5f * certainty, 0.2f, 1.0f) : 0.05f;
}
PF_HD float luma_of(std::uint32_t color) {
  return float(int((color & 255) + 2 * (color >> 8 & 255) + (color >> 16 & 255))) * 0.25f;
}

// A plane is fitted to 7 x 7 samples, every other one. Positions in the window are in units of 4 px.
constexpr int fit_radius = 3, fit_stride = 2;
constexpr float fit_unit = 1.0f / 4;  // positions per px

/// Largest difference from the center's disparity within a surface, `distance` positions away.
PF_HD constexpr float surface_step(int distance) { return 0.8f + 0.36f * float(distance); }

/// Weight of a sample. `difference`, `luma`: differences from the center. `step`: see surface_step.
PF_HD float sample_weight(float difference, float luma, float trust, float step) {
  const float similar = larger(fma(magnitude(luma), -1.0f / 30, 1.0f), 0.02f);
  return magnitude(difference) <= step ? trust * similar : 0.0f;
}
/// Weighted sums over the 3 x 3 samples in the middle of a window. On a curved surface, they are off the
/// plane.
struct MiddleSums {
  float one = 0, x = 0, y = 0, d = 0;

  PF_HD static constexpr bool contains(int dx, int dy) { return window_distance(dx, dy) <= 1; }
  PF_HD void add(const RowSums& row, float dy) {
    one += row.one, x += row.x, d += row.d;
    y = fma(row.one, dy, y);
  }
  /// Mean distance of the samples from a plane that is fitted to the window. `center`: the center's
  /// disparity.
  PF_HD float off(const Surface& plane, float center) const {
    const float rise = fma(plane.slope_x, x, plane.slope_y * y);
    return one > 0 ? (d - rise) / one - (plane.d - center) : 0.0f;
  }
};
/// 0 up to `low`, 1 from `high`, and linear in between.
PF_HD float ramp(float value, float low, float high) {
  return clamp((value - low) * (1 / (high - low)), 0.0f, 1.0f);
}
/// The surface around a sample whose disparity is `center`: the plane of least squares, or that plane moved
/// onto the samples in the middle if these are clearly off it, because planes flatten folds. This needs
/// texture, because without it small areas can be off by a whole label. The samples in the middle must have
/// their share of the weights (9/49 of equal ones), unlike next to invalid pixels.
PF_HD Surface fitted_surface(const WindowSums& sums, const MiddleSums& middle, float center,
                             float certainty) {
  const Surface fitted = sums.fitted(center, 0.25f);
  const float off = middle.off(fitted, center);
  const float share = ramp(magnitude(off), 0.2f, 0.35f) * ramp(certainty, 8, 12) * ramp(sums.one, 3, 6) *
                      ramp(middle.one / sums.one, 0.12f, 0.16f);
  return {fma(share, off, fitted.d), fitted.slope_x * fit_unit, fitted.slope_y * fit_unit};
}

/// Sums over the four surfaces around a pixel, relative to its whole disparity.
struct SurfaceSum {
  float whole, weight = 0, sum = 0;

  /// Adds the surface of a sample that is (-dx, -dy) px away, unless it is another one than the pixel's.
  PF_HD void add(const Surface& surface, float dx, float dy, float share) {
    const float offset = fma(surface.slope_y, dy, fma(surface.slope_x, dx, surface.d)) - whole;
    const float used = magnitude(offset) <= 2 ? share : 0.0f;
    weight += used;
    sum = fma(used, used > 0 ? offset : 0.0f, sum);
  }
  /// The mean. Small offsets become 0, so that surfaces that face the camera keep whole disparities.
  PF_HD float disparity() const {
    const float offset = clamp(sum / (weight > 0 ? weight : 1.0f), -0.5f, 0.5f);
    return whole + (magnitude(offset) < 0.06f ? 0.0f : offset);
  }
};

/// Bilinear weights of the samples of a pixel's own block of 2 x 2 px and of the next one, along an axis.
constexpr float own_share = 3, next_share = 1;

/// Refined disparity of a pixel: column x, a valid one, of a row. Rows of surfaces: of the pixel's own block,
/// dy px above the pixel, and of the block next to it. `next`: column of the next block.
PF_HD float surface_disparity(float whole, const Surface& own, const Surface& beside, const Surface& own_next,
                              const Surface& beside_next, float dx, float dx_next, float dy, float dy_next) {
  SurfaceSum sum{whole};
  sum.add(own, dx, dy, own_share * own_share);
  sum.add(beside, dx_next, dy, own_share * next_share);
  sum.add(own_next, dx, dy_next, own_share * next_share);
  sum.add(beside_next, dx_next, dy_next, next_share * next_share);
  return sum.disparity();
}

/// Sample of the next block along an axis of `count` blocks, for the pixel at `position`.
PF_HD int next_sample(int position, int count) {
  return clamp(position / 2 + ((position & 1) ? 1 : -1), 0, count - 1);
}

}  // namespace parafield
