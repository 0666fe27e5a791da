// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/method.hpp"
#include "parafield/methods/refinement.hpp"

namespace parafield {

/// Dense pyramidal iterative Lucas-Kanade flow of two frames (Marzat, Dumortier, Ducrot: Real-time dense and
/// accurate parallel optical flow using CUDA, sections 2.1 to 2.4). A pixel's flow minimizes the regularized
/// squared difference in brightness over a window around it (eq. 5). It is solved from the coarsest level of
/// a gaussian pyramid to the finest, several times on each level. Each pixel of the window is linearized at
/// its own flow. The preset `paper` has the paper's parameters, with its best window. The default adds a
/// blur, a robust weight and a median, and has a smaller window and two more iterations.
///
/// `confidence` is approximately the inverse of the flow's variance: the smaller eigenvalue of the window's
/// mean gradient tensor, divided by the squared difference between the pixel and its match plus 1e-5 for
/// noise. Intensities are 0 to 1. The confidence is 0 if the match is outside the frame or not finite.
struct LucasKanade {
  static constexpr std::string_view name = "lucas-kanade";
  static constexpr std::string_view help = "Least squares over a window, from coarse to fine.";
  static constexpr std::string_view source = "Marzat, Dumortier, Ducrot 2009, sections 2.1-2.4, eq. 5";
  static constexpr int frames = 2;

  PF_PARAMETER(int, levels, 4, range(1, 16),
               "Pyramid levels. Levels with a shorter side under 4 px are left out, except the finest.");
  PF_PARAMETER(int, window, 9, range(1, 31, "px"),
               "Side of the square window. An even window reaches one pixel farther to the left and up. "
               "Outside the image, the nearest pixel is used.");
  PF_PARAMETER(int, iterations, 5, range(1, 100),
               "Solutions on each level. Each warps the second frame by the previous flow.");
  PF_PARAMETER(float, alpha, 1e-5f, range(1e-9, 1),
               "Regularization of eq. 5. Intensities are 0 to 1, and sums over the window are means.");
  PF_PARAMETER(float, presmooth, 0.5f, range(0, 5, "px"),
               "Sigma of a gaussian blur, 0 = none. It smooths both frames. A NaN pixel spreads over the "
               "radius of the gaussian, 2.5 sigma.");
  PF_PARAMETER(float, robust, 0.035f, range(0, 1),
               "Difference that halves a weight, 0 = equal weights. A pixel whose brightness differs from "
               "its match by e has the weight 1 / (1 + (e / robust)^2). Intensities are 0 to 1.");
  PF_PARAMETER(int, median, 5, one_of({0, 3, 5}, "px"),
               "Side of a median after a level's last solution, 0 = none.");
  PF_PARAMETER(bool, median_each, false, "Apply the median after each solution. This takes more time.");
  PF_PARAMETER(bool, temporal, true,
               "Start from the flow of the last pair. This applies to pushed frames (section 2.3).");
  PF_PARAMETER(float, min_eigenvalue, 4e-6f, range(0, 1),
               "Texture that valid flow needs. This is the smaller eigenvalue of the window's mean gradient "
               "tensor. The match must also lie inside the second frame. Intensities are 0 to 1.");
  PF_PARAMETER(float, max_residual, 0.1f, range(0, 1),
               "Largest brightness change of valid flow. It is the difference between a pixel and its match. "
               "Intensities are 0 to 1.");
  PF_PARAMETERS_OF(VariationalRefinement, refinement);
};

inline std::array<Preset<LucasKanade>, 3> presets(const LucasKanade&) {
  return {{{"default", LucasKanade{}, "A robust weight and a median, at up to twice the paper's cost."},
           {"accurate",
            {.levels = 5,
             .iterations = 9,
             .robust = 0.03f,
             .median_each = true,
             .refinement = {.refine = 4, .refine_sweeps = 12}},
            "Half the error, at several times the cost."},
           {"paper",
            {.window = 11,
             .iterations = 3,
             .alpha = 1e-6f,
             .presmooth = 0,
             .robust = 0,
             .median = 0,
             .min_eigenvalue = 1e-5f},
            "The paper's parameters."}}};
}

}  // namespace parafield
