// SPDX-License-Identifier: MIT
#pragma once
#include "core/unknown_bars.hpp"
#include "core/workspace.hpp"
#include "parafield/fields.hpp"
#include "steps/error_bars/models.hpp"
#include "steps/error_bars/products.hpp"
#include "steps/warp/warp.hpp"

/// Error bars of flow, from the frames and the final flow f:
///   1. Warp the second frame by f (bicubic). From the mean of both frames comes the gradient g, from their
///      difference the temporal derivative gt: derivatives (-1 0 1) / 2, smoothed across with (0.19, 0.62,
///      0.19). Each pixel has the weight w = 1 / (|g|^2 + 20 + (gt / 1.5)^2), or none outside the frame.
///   2. G and T are the means of w g g' and w gt^2 over 7x7 pixels. The error of a least-squares solution has
///      the covariance T (G + 0.001 I)^-1, up to a factor.
///   3. S is the mean of d d' over 5x5 pixels, where d is the flow's difference to the pixel's own: it is
///      large at boundaries.
///   4. r is the distance at which the flow back ends, if there is one.
///   5. D is the mean deviation around: of sqrt(trace(residual T (G + 0.001 I)^-1 + spread S)), at most 4 px,
///      over every other pixel and row of 17x17 pixels. Errors are correlated over such distances.
///   6. A is the same mean over 17x17 samples, 8 px apart: the centers of cells of 8x8 pixels. Where it is
///      large, the motion is difficult, and all outliers are more likely.
/// The covariance is (floor + back r^2 + outside |f|^2 + wide D^2) I + residual T (G + 0.001 I)^-1 + spread S,
/// with the constants of a model; the term of `outside` counts only where f leaves the frame. The probability
/// of an error is o / (1 + o). The odds o are A + 0.01 px times a sum of the covariance's trace without D, D^2,
/// means of r^2 over 9x9 pixels, |f| T, and whether the pixel is not valid. Windows repeat the border pixel.
/// Pixels that are not finite have no weight.
namespace parafield {

/// Inputs of flow's error bars.
struct FlowEvidence {
  View<const float> luma0, luma1;  ///< 0..255
  FlowPlanes flow, back;           ///< `back`: flow of the second frame, or empty
  View<const std::uint8_t> valid;
};

/// Error bars of flow: all planes.
struct FlowErrorBars {
  Covariance<View<float>> covariance;
  View<float> outlier, outlier3;
  View<std::uint8_t> cause;
};

/// Computes the error bars without D and A, with the sum of the odds' terms instead of probabilities, and the
/// plane that D and A average.
template <class Backend>
void local_error_bars(Backend& backend, const FlowEvidence& evidence, const FlowErrorModel& model,
                      const FlowErrorBars& out, View<float> deviation);
/// Adds D and A to the result of local_error_bars, and computes the probabilities.
template <class Backend>
void widen_error_bars(Backend& backend, View<const float> deviation, const FlowErrorModel& model,
                      const FlowErrorBars& out);

/// Computes the error bars. `model`: one with `back` if and only if there is a flow back. `deviation`: a
/// plane that is overwritten.
template <class Backend>
void flow_error_bars(Backend& backend, const FlowEvidence& evidence, const FlowErrorModel& model,
                     const FlowErrorBars& out, View<float> deviation) {
  local_error_bars(backend, evidence, model, out, deviation);
  widen_error_bars(backend, deviation, model, out);
}

/// Scratch memory of a CPU thread: rows of floats, with a margin on both sides. A ring keeps the rows that
/// windows still need.
struct FlowBarsRows {
  static constexpr int ring = 8, miss_ring = 16;  ///< powers of two above the rows of the largest windows
  static constexpr int mean = 0, difference = mean + ring;  ///< of both frames
  static constexpr int u = difference + ring, v = u + ring;
  static constexpr int products = v + ring;         ///< four products
  static constexpr int miss = products + 4 * ring;  ///< squared distance at which the flow back ends
  static constexpr int sums = miss + miss_ring;     ///< sums over columns: products, then two misses
  static constexpr int cause = sums + 6, count = cause + 1;
};
inline std::size_t flow_bars_scratch(int width) {
  return sizeof(float) * std::size_t(bars_pitch(width)) * FlowBarsRows::count;
}

// Both backends compute these.

constexpr int miss_reach = 4, around_reach = 2;           ///< px: windows of 9x9 and 5x5
constexpr float near_miss = 4, far_miss = 36;             ///< px^2: limits of the means
constexpr int wide_step = 2, wide_reach = 4 * wide_step;  ///< px: nine pixels of 17
constexpr int bars_cell = 8, cells_around = 8;            ///< px; cells on each side

/// The squared distance at which the flow back ends, px^2. It is 0 where it is unknown: where the match is
/// outside, or the flow back is NaN.
PF_HD float known_miss(float miss, bool inside) {
  const float number = miss == miss ? smaller(miss, 1e12f) : 0.0f;
  return inside ? number : 0.0f;
}

/// Sums of the products of differences of flow over 5x5 pixels.
struct AroundSums {
  float xx = 0, xy = 0, yy = 0;

  /// Neighbors without flow do not count.
  PF_HD void add(float du, float dv) {
    constexpr float most = 1e12f;
    const bool counts = (magnitude(du) < most) & (magnitude(dv) < most);
    const float u = counts ? du : 0.0f, v = counts ? dv : 0.0f;
    xx = fma(u, u, xx);
    xy = fma(u, v, xy);
    yy = fma(v, v, yy);
  }
};

/// Everything that a pixel's error bars depend on: sums over the windows.
struct FlowErrorSums {
  ErrorProducts products;
  AroundSums around;
  float miss4, miss36;  ///< sums over 9x9
};

/// The pixel that samples column (or row) i of cells, which may be beyond the border.
PF_HD int sample_of_cell(int i, int length) {
  return smaller(clamp(i, 0, (length - 1) / bars_cell) * bars_cell + bars_cell / 2, length - 1);
}

/// Sum with the order of its terms fixed. at(k): of 17 cells.
template <class At>
PF_HD float sum_of_cells(At at) {
  float sum = 0;
  PF_UNROLL
  for (int k = 0; k <= 2 * cells_around; ++k) sum += at(k);
  return sum;
}

/// The error bars of a pixel: after local_error_bars, with the sum of the odds' terms.
struct FlowErrors {
  float xx, xy, yy, outlier, outlier3;
  int cause;
  float deviation;
};

/// u, v: the pixel's flow. `inside`: whether its match is. `miss`: see known_miss; 0 without a flow back.
PF_HD FlowErrors flow_errors(const FlowErrorModel& model, const FlowErrorSums& sums, float u, float v,
                             float miss, bool inside, bool valid) {
  constexpr float hold = 0.001f, most_deviation = 4, certain = 1e30f;
  const bool known = is_finite(u) & is_finite(v);
  const float length2 = smaller(fma(u, u, v * v), 1e30f), out = inside ? 0.0f : length2;
  const float bad = valid ? 0.0f : 1.0f;
  constexpr float share = 1.0f / 49;
  const float a = fma(sums.products.xx, share, hold), b = sums.products.xy * share,
              c = fma(sums.products.yy, share, hold), residual = sums.products.tt * share;
  const float factor = model.residual * residual * reciprocal(fma(a, c, -(b * b)));
  const float spread = model.spread * (1.0f / 25);
  const float of_texture = factor * (a + c), of_boundary = spread * (sums.around.xx + sums.around.yy),
              of_back = 2 * model.back * miss;
  const float equal = fma(model.back, miss, fma(model.outside, out, model.floor));
  FlowErrors errors;
  errors.xx = fma(factor, c, fma(spread, sums.around.xx, equal));
  errors.xy = fma(-factor, b, spread * sums.around.xy);
  errors.yy = fma(factor, a, fma(spread, sums.around.yy, equal));
  const float trace = errors.xx + errors.yy, motion = __builtin_sqrtf(length2) * residual;
  const float back4 = sums.miss4 * (1.0f / 81), back36 = sums.miss36 * (1.0f / 81);
  const auto odds = [=](const FlowErrorModel::Odds& o) {
    return fma(o.trace, trace,
               fma(o.back4, back4,
                   fma(o.back36, back36, fma(o.motion, motion, fma(o.not_valid, bad, o.outside * out)))));
  };
  errors.outlier = odds(model.odds1);
  errors.outlier3 = odds(model.odds3);
  errors.deviation = smaller(__builtin_sqrtf(of_texture + of_boundary), most_deviation);
  const float tolerance = fma(0.05f, __builtin_sqrtf(length2), 0.5f);
  const bool returns = miss <= tolerance * tolerance;
  int cause = of_texture >= of_boundary ? int(ErrorCause::texture) : int(ErrorCause::boundary);
  cause = of_back > larger(of_texture, of_boundary) ? int(ErrorCause::inconsistent) : cause;
  cause = returns ? cause : int(ErrorCause::hidden);
  errors.cause = inside ? cause : int(ErrorCause::left_frame);
  if (!known) {
    errors.xx = errors.yy = unknown_variance;
    errors.xy = 0;
    errors.outlier = errors.outlier3 = certain;
  }
  return errors;
}

/// Adds D and A to a pixel's error bars. `sum`: of the deviations of 81 pixels; `sum_around`: of 17x17 cells.
PF_HD FlowErrors widened(const FlowErrorModel& model, const FlowErrors& local, float sum, float sum_around) {
  constexpr float fine = 0.02f, least_around = 0.01f, cells = (2 * cells_around + 1) * (2 * cells_around + 1);
  const float mean = sum * (1.0f / 81), wide = mean * mean;
  const float around = fma(sum_around, 1 / cells, least_around);
  const auto probability = [=](const FlowErrorModel::Odds& o, float terms) {
    return probability_of(around * fma(o.wide, wide, terms));
  };
  FlowErrors errors = local;
  errors.xx = fma(model.wide, wide, local.xx);
  errors.yy = fma(model.wide, wide, local.yy);
  errors.outlier = probability(model.odds1, local.outlier);
  errors.outlier3 = smaller(probability(model.odds3, local.outlier3), errors.outlier);
  const bool is_fine = (errors.xx + errors.yy < fine) & (local.cause < int(ErrorCause::hidden));
  errors.cause = is_fine ? int(ErrorCause::fine) : local.cause;
  return errors;
}

}  // namespace parafield
