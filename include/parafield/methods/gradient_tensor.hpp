// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/method.hpp"
#include "parafield/methods/refinement.hpp"

namespace parafield {

/// Flow of the middle of five frames by the 3-D gradient tensor (Bodily: An optical flow implementation
/// comparison study, chapter 3, after Wei et al. 2007). The filter (1 -8 0 8 -1) / 12 gives the derivatives
/// in x, y and time. They are weighted by (3 5 7 8 7 5 3) / 38 along rows and columns. Their products,
/// smoothed over 3x3 pixels, are the tensor that eqs. 3.1 and 3.2 solve. This implementation weights the
/// frames instead of the derivatives, which changes only the 6 px at the border. Beyond the border, the
/// nearest pixel is used, for frames and for each stage's results. Intensities are 0 to 255.
struct GradientTensor {
  static constexpr std::string_view name = "gradient-tensor";
  static constexpr std::string_view help = "Least squares over space and time, for motions of about a pixel.";
  static constexpr std::string_view source = "Bodily 2009, chapter 3, eqs. 3.1, 3.2";
  static constexpr int frames = 5;

  PF_PARAMETER(float, min_determinant, 1e-6f, range(0, 1e9),
               "Texture that valid flow needs. Flow is valid where the determinant of the spatial tensor, t1 "
               "t2 - t4^2, is above this. Elsewhere the flow is 0. The determinant is in (intensity / px)^4, "
               "with intensities from 0 to 255.");
  PF_PARAMETERS_OF(VariationalRefinement, refinement);
};

inline std::array<Preset<GradientTensor>, 2> presets(const GradientTensor&) {
  return {{{"paper", GradientTensor{}, "The thesis's parameters."},
           {"accurate", GradientTensor{}, "Same parameters: no better ones are known."}}};
}

}  // namespace parafield
