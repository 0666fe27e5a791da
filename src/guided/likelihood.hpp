#pragma once
#include "core/arithmetic.hpp"
#include "core/workspace.hpp"

/// The likelihood between a pixel and a feature (Kim, eqs. 1 to 3), as an exponent to base 2.
namespace parafield {

/// A pixel's channels, 0..255; as large as one load of CUDA brings.
struct alignas(16) Color {
  float red, green, blue, none;
};

/// A frame's channels.
struct Colors {
  View<float> plane[3];  ///< on the CPU; all of one pitch
  View<Color> pixels;   ///< on CUDA
};

/// What positions and colors are multiplied by, so that their squared distance is the exponent.
struct LikelihoodScale {
  float position, color;
};
inline LikelihoodScale likelihood_scale(float sigma_position, float sigma_color) {
  constexpr double root = 0.8493218002880191;  // sqrt(log2(e) / 2)
  return {float(root / sigma_position), float(root / sigma_color)};
}

/// Features as likelihoods see them. One that is not to be used lies `nowhere`, as do those behind the last up to the end of
/// its chunk.
struct Guides {
  float *x, *y, *red, *green, *blue;  ///< times LikelihoodScale
  float *u, *v;                       ///< flow, px
  float* records;                     ///< on CUDA: x, y, red, green, blue, u, v, 0 of each
  float* bounds;                      ///< of the chunks' boxes, 10 rows: the low sides, then the high ones
  int* count;
  int capacity, chunks;  ///< room; chunks that it is
};
constexpr int chunk_guides = 32;
constexpr float nowhere = 1e15f;
/// Exponents are below it, but for features that are nowhere.
constexpr float no_feature = 1e29f;

/// A place in the five dimensions, scaled.
struct Place {
  float x, y, red, green, blue;
};

PF_HD float square_sum(float x, float y, float red, float green, float blue) {
  return fma(blue, blue, fma(green, green, fma(red, red, fma(y, y, x * x))));
}

/// The likelihood is 2^-exponent.
PF_HD float exponent(const Place& pixel, const Place& feature) {
  return square_sum(pixel.x - feature.x, pixel.y - feature.y, pixel.red - feature.red,
                    pixel.green - feature.green, pixel.blue - feature.blue);
}

/// A likelihood under 2^-cutoff of the pixel's best counts as none: so features can be left out that are too far for a
/// whole tile of pixels, and no bit changes. What they would add to a mean of n features is at most n 2^-cutoff of their
/// range. Precision::fast leaves out more: less than 1/256 each.
constexpr float cutoff = 24, fast_cutoff = 8;
PF_HD constexpr float cutoff_of(bool fast) { return fast ? fast_cutoff : cutoff; }

PF_HD float relative_likelihood(float exponent, float best, float cutoff) {
  const float below = exponent - best;
  return below <= cutoff ? exponential2(-below) : 0.0f;
}

/// What a tile's pixels lie within.
struct Box {
  Place low, high;
};

PF_HD float beyond(float low, float high, float value) {
  return larger_number(larger_number(low - value, value - high), 0.0f);
}

/// The least exponent that a feature can have for a pixel of the box.
PF_HD float least_exponent(const Box& box, const Place& feature) {
  return square_sum(beyond(box.low.x, box.high.x, feature.x), beyond(box.low.y, box.high.y, feature.y),
                    beyond(box.low.red, box.high.red, feature.red),
                    beyond(box.low.green, box.high.green, feature.green),
                    beyond(box.low.blue, box.high.blue, feature.blue));
}

/// The same of any feature that lies in another box.
PF_HD float least_exponent(const Box& box, const Box& of) {
  const auto apart = [](float low, float high, float other_low, float other_high) {
    return larger_number(larger_number(other_low - high, low - other_high), 0.0f);
  };
  return square_sum(apart(box.low.x, box.high.x, of.low.x, of.high.x),
                    apart(box.low.y, box.high.y, of.low.y, of.high.y),
                    apart(box.low.red, box.high.red, of.low.red, of.high.red),
                    apart(box.low.green, box.high.green, of.low.green, of.high.green),
                    apart(box.low.blue, box.high.blue, of.low.blue, of.high.blue));
}

/// The box of a chunk of guides; one without any has its sides the wrong way round, and infinite exponents.
PF_HD Box chunk_box(const Guides& guides, int chunk) {
  const auto side = [&](int i) { return guides.bounds[i * guides.chunks + chunk]; };
  return {{side(0), side(1), side(2), side(3), side(4)}, {side(5), side(6), side(7), side(8), side(9)}};
}
constexpr float no_bound = 3e38f;

/// Where every pixel of a box has an exponent of at most `most`, features of a least exponent above the first cannot lower one,
/// and those above the second count as none: with more room than rounding takes.
PF_HD float reach_of(float most) { return fma(most, 1.00001f, 0.001f); }
PF_HD float limit_of(float most, float cutoff) { return fma(most, 1.00001f, cutoff + 0.001f); }
/// The nearest features are looked at first: of least exponents up to so much above the lowest.
constexpr float first_reach = 2;

/// A channel as likelihoods take it: what is no number becomes 0, and nothing is so far that exponents reach no_feature.
PF_HD float scaled_color(float value, float scale) {
  return is_finite(value) ? clamp(value, -1e12f, 1e12f) * scale : 0.0f;
}

}  // namespace parafield
