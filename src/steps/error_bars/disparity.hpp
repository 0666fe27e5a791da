// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/fields.hpp"
#include "steps/consistency/consistency.hpp"
#include "steps/error_bars/models.hpp"
#include "steps/error_bars/products.hpp"
#include "steps/surfaces/surfaces.hpp"
#include "steps/warp/warp.hpp"

/// Error bars of disparities, from the images, the final disparities d, and the right image's disparities:
///   1. Warp the right image by d (cubic). From the mean of both images comes the gradient g along x, from
///      their difference the derivative gt between them, as for flow. G is the mean of
///      g^2 / (g^2 + 20 + (gt / 1.5)^2) over 7x7 pixels; pixels whose match is outside have g = 0.
///   2. D is the mean, over 9x9 pixels, of the difference between d and the right image's disparity, at most
///      2 px; 2 px outside the image.
///   3. V is the share of pixels that are not valid within 17x17 px. J is the largest step of d within 3x3
///      px, over all places in 15x15 px. L is d minus its mean over 5x5 px.
/// The variance is floor + texture / (G + 0.03) + disagreement D, plus not_valid where d is not valid, with
/// the constants of a model. The probability of an error is o / (1 + o) with odds o, a sum of terms of D,
/// V, J^2 where d is not valid, L^2, and 1 / (confidence + 1)^2. Windows repeat the border pixel.
namespace parafield {

/// Inputs of the error bars of disparities.
struct DisparityBarsInput {
  View<const std::uint32_t> left_colors, right_colors;  ///< words of colors
  View<const float> d, right;                           ///< final disparities; the right image's
  View<const std::uint8_t> valid;
  View<const float> confidence;
};

/// Error bars of disparities. Planes that the caller did not ask for are empty.
struct DisparityErrorBars {
  View<float> sigma, outlier, outlier3;
  View<std::uint8_t> cause;
};

template <class Backend>
void disparity_error_bars(Backend& backend, const DisparityBarsInput& input, const DisparityErrorModel& model,
                          const DisparityErrorBars& out);

/// Scratch memory of a CPU thread, as FlowBarsRows.
struct DisparityBarsRows {
  static constexpr int ring = 8, wide_ring = 16;
  static constexpr int mean = 0, difference = mean + ring;  ///< of both images
  static constexpr int texture = difference + ring;
  static constexpr int apart = texture + ring;     ///< difference to the right image's disparity
  static constexpr int steps = apart + wide_ring;  ///< largest step along the row
  static constexpr int right_luma = steps + wide_ring;
  static constexpr int matched = right_luma + 1;  ///< the right image's disparities at the matches
  static constexpr int columns = matched + 1;     ///< sums and extrema of columns
  static constexpr int unwanted = columns + 6, cause = unwanted + 1, count = cause + 1;
};
inline std::size_t disparity_bars_scratch(int width) {
  return sizeof(float) * std::size_t(bars_pitch(width)) * DisparityBarsRows::count;
}

// Both backends compute these.

/// px: windows of 9x9, 17x17, 15x15 and 5x5 pixels.
constexpr int apart_reach = 4, valid_reach = 8, step_reach = 7, curve_reach = 2;

/// Cubic value at x of a row whose pixel i is luma(i); NaN outside.
template <class Luma>
PF_HD float warped_along(Luma luma, int width, float x) {
  const Match match = locate(x, 0, width, 1);
  const int first = match.x;
  const float value = mixed(cubic_shares(match.share_x), luma(larger(first - 1, 0)), luma(first),
                            luma(smaller(first + 1, width - 1)), luma(smaller(first + 2, width - 1)));
  return match.inside ? value : __builtin_nanf("");
}

/// Step 1 at a pixel: its part of G.
PF_HD float texture_of(float gx, float gt) { return ErrorProducts::make(gx, 0, gt).xx; }

/// Step 2 at a pixel. `right`: the row of the right image's disparities (see difference_to_right).
template <class Row>
PF_HD float apart_of(float d, Row right, int width, int x) {
  return smaller(difference_to_right(d, right, width, x), 2.0f);
}

/// Sum with the order of its terms fixed.
template <class At>
PF_HD float sum_of_5(At at) {
  return ((at(0) + at(4)) + (at(1) + at(3))) + at(2);
}

/// Evidence from which a pixel's error bars are computed.
struct DisparityErrorSums {
  float texture, apart;  ///< sums over the windows
  float not_valid;       ///< number of pixels
  float step;            ///< J, px
  float curve;           ///< sum of d over 5x5 pixels
};

struct DisparityErrors {
  float sigma, outlier, outlier3;
  int cause;
};

/// d: the pixel's disparity; `right`: as for apart_of.
template <class Row>
PF_HD DisparityErrors disparity_errors_of(const DisparityErrorModel& model, const DisparityErrorSums& sums,
                                          float d, Row right, int width, int x, bool valid,
                                          float confidence) {
  constexpr float least_texture = 0.03f, fine = 0.05f, most = 1e12f;
  const float bad = valid ? 0.0f : 1.0f;
  const float of_texture = model.texture * reciprocal(fma(sums.texture, 1.0f / 49, least_texture));
  const float apart = sums.apart * (1.0f / 81), of_apart = model.disagreement * apart;
  const float variance = ((model.floor + of_texture) + of_apart) + model.not_valid * bad;
  const float doubt = reciprocal(smaller(confidence, 1e6f) + 1), step = smaller(sums.step, most) * bad,
              curve = smaller(magnitude(fma(sums.curve, -1.0f / 25, d)), most);
  const float share = sums.not_valid * (1.0f / (17 * 17));
  const auto odds = [=](const DisparityErrorModel::Odds& o) {
    return fma(o.doubt * doubt, doubt,
               fma(o.not_valid, share,
                   fma(o.step * step, step, fma(o.disagreement, apart, o.curvature * curve * curve))));
  };
  const Column column = column_at(x, d, width);
  const bool leads_elsewhere = right[column.x] - d > 1;
  DisparityErrors errors;
  errors.sigma = __builtin_sqrtf(variance);
  errors.outlier = probability_of(odds(model.odds1));
  errors.outlier3 = smaller(probability_of(odds(model.odds3)), errors.outlier);
  int cause = of_apart > of_texture ? int(ErrorCause::boundary) : int(ErrorCause::texture);
  int bad_cause = leads_elsewhere ? int(ErrorCause::hidden) : int(ErrorCause::inconsistent);
  bad_cause = column.inside ? bad_cause : int(ErrorCause::left_frame);
  cause = valid ? cause : bad_cause;
  errors.cause = variance < fine ? int(ErrorCause::fine) : cause;
  return errors;
}

}  // namespace parafield
