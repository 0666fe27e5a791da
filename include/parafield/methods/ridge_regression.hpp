// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/method.hpp"
#include "parafield/methods/refinement.hpp"

namespace parafield {

/// Flow of the middle of seven frames by ridge regression (Bodily: An optical flow implementation comparison
/// study, chapter 4, after Wei et al. 2007). The filter (1 -8 0 8 -1) / 12 gives the derivatives in x, y and
/// time. They are smoothed by (2 4 2) / 8 in time and by (3 3 4 3 3) / 16 along rows and columns. Their
/// products are smoothed by (5 6 5) / 16 and solved for the flow, which is smoothed by (1 1 1 2 1 1 1) / 8.
/// Where the normal equations are nearly singular, k is added to their diagonal. The thesis has no formula
/// for k. Here it comes from Hoerl, Kennard and Baldwin 1975, computed from the pixel's flow with k = 0. This
/// implementation smooths the frames instead of the derivatives, which changes only the 8 px at the border.
/// Beyond the border, the nearest pixel is used, for frames and for each stage's results. Every kernel sums
/// to 1. Intensities are 0 to 255.
struct RidgeRegression {
  static constexpr std::string_view name = "ridge-regression";
  static constexpr std::string_view help =
      "Ridge regression over space and time, for motions of about a pixel.";
  static constexpr std::string_view source = "Bodily 2009, chapter 4; Hoerl, Kennard, Baldwin 1975";
  static constexpr int frames = 7;

  PF_PARAMETER(float, ridge_determinant, 0.05f, range(0, 1e9),
               "Texture below which flow shrinks, 0 = nowhere. Where the determinant of the spatial tensor "
               "is below this, k is added to the diagonal. The determinant is in (intensity / px)^4, with "
               "intensities from 0 to 255.");
  PF_PARAMETER(float, min_determinant, 1e-6f, range(0, 1e9),
               "Texture that valid flow needs. Flow is valid where the determinant of the spatial tensor is "
               "above this. Elsewhere the flow is 0 before the last smoothing. The determinant is in "
               "(intensity / px)^4, with intensities from 0 to 255.");
  PF_PARAMETERS_OF(VariationalRefinement, refinement);
};

inline std::array<Preset<RidgeRegression>, 2> presets(const RidgeRegression&) {
  return {{{"paper", RidgeRegression{}, "The thesis's parameters."},
           {"accurate",
            {.ridge_determinant = 0.25f},
            "A larger ridge: errors change by 1 % or less, mostly for the better."}}};
}

}  // namespace parafield
