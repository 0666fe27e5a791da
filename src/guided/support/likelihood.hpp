// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"

/// Likelihood of a pixel and a feature (Kim, eqs. 1 to 3), as an exponent to base 2.
namespace parafield {

/// Factors of positions and colors that turn their squared distance into the exponent.
struct LikelihoodScale {
  float position, color;
};
inline LikelihoodScale likelihood_scale(float sigma_position, float sigma_color) {
  constexpr double root = 0.8493218002880191;  // sqrt(log2(e) / 2)
  return {float(root / sigma_position), float(root / sigma_color)};
}

/// Position and color of a pixel or a feature, scaled.
struct ColoredPlace {
  float x, y, red, green, blue;
};

/// Many places, with one plane per dimension.
struct Places {
  const float *x, *y, *red, *green, *blue;

  PF_HD ColoredPlace operator[](int i) const { return {x[i], y[i], red[i], green[i], blue[i]}; }
};

PF_HD float square_sum(float x, float y, float red, float green, float blue) {
  return fma(blue, blue, fma(green, green, fma(red, red, fma(y, y, x * x))));
}

/// The likelihood is 2^-exponent.
PF_HD float exponent(const ColoredPlace& pixel, const ColoredPlace& feature) {
  return square_sum(pixel.x - feature.x, pixel.y - feature.y, pixel.red - feature.red,
                    pixel.green - feature.green, pixel.blue - feature.blue);
}

/// Upper bound of all exponents, except for features without a place.
constexpr float no_feature = 1e29f;

/// A likelihood below 2^-cutoff of the pixel's best counts as 0, so features that are too far from a whole
/// tile can be skipped without changing a bit. The cutoff changes a mean of n flows by at most n 2^-cutoff of
/// their range. With fast_cutoff, the likelihoods that count as 0 are below 1/256.
constexpr float cutoff = 24, fast_cutoff = 8;
PF_HD constexpr float cutoff_of(bool fast) { return fast ? fast_cutoff : cutoff; }

/// Likelihood relative to the pixel's best.
PF_HD float relative_likelihood(float exponent, float best, float cutoff) {
  const float below = exponent - best;
  return below <= cutoff ? exponential2(-below) : 0.0f;
}

/// Bounds of the places of several pixels or features.
struct PlaceBox {
  ColoredPlace low, high;
};

/// Distance of a value from an interval.
PF_HD float beyond(float low, float high, float value) {
  return larger_number(larger_number(low - value, value - high), 0.0f);
}

/// Smallest exponent that a feature can have for any pixel of the box.
PF_HD float least_exponent(const PlaceBox& box, const ColoredPlace& feature) {
  return square_sum(beyond(box.low.x, box.high.x, feature.x), beyond(box.low.y, box.high.y, feature.y),
                    beyond(box.low.red, box.high.red, feature.red),
                    beyond(box.low.green, box.high.green, feature.green),
                    beyond(box.low.blue, box.high.blue, feature.blue));
}

/// Smallest exponent that any feature of another box can have for any pixel of the box.
PF_HD float least_exponent(const PlaceBox& box, const PlaceBox& features) {
  const auto apart = [](float low, float high, float other_low, float other_high) {
    return larger_number(larger_number(other_low - high, low - other_high), 0.0f);
  };
  return square_sum(apart(box.low.x, box.high.x, features.low.x, features.high.x),
                    apart(box.low.y, box.high.y, features.low.y, features.high.y),
                    apart(box.low.red, box.high.red, features.low.red, features.high.red),
                    apart(box.low.green, box.high.green, features.low.green, features.high.green),
                    apart(box.low.blue, box.high.blue, features.low.blue, features.high.blue));
}

/// Limits of least exponents for a box whose pixels have best exponents up to `most`, with a margin for
/// rounding. A feature above reach_of(most) does not lower any pixel's best exponent; a feature above
/// limit_of(most, cutoff) has weight 0.
PF_HD float reach_of(float most) { return fma(most, 1.00001f, 0.001f); }
PF_HD float limit_of(float most, float cutoff) { return fma(most, 1.00001f, cutoff + 0.001f); }
/// The nearest features are compared first: their least exponents are at most this far above the lowest.
constexpr float first_reach = 2;

/// A channel, scaled; 0 if it is not finite. Other values are clamped to keep exponents below no_feature.
PF_HD float scaled_color(float value, float scale) {
  return is_finite(value) ? clamp(value, -1e12f, 1e12f) * scale : 0.0f;
}

}  // namespace parafield
