#pragma once
#include "parafield/method.hpp"

namespace parafield {

/// Flow by ridge regression over seven frames, at the middle one (Bodily: An optical flow implementation comparison study,
/// chapter 4, after Wei et al. 2007). Derivatives by (1 -8 0 8 -1) / 12 in x, y and time are smoothed by (2 4 2) / 8 in
/// time and (3 3 4 3 3) / 16 along rows and columns; their products are smoothed by (5 6 5) / 16 and solved for the flow,
/// which is smoothed by (1 1 1 2 1 1 1) / 8. Where the normal equations are nearly singular, k is added to their diagonal.
/// The thesis has no formula for k; here it is that of Hoerl, Kennard and Baldwin 1975, of the pixel's own flow with
/// k = 0. The frames are smoothed first, which changes nothing but the 8 px beside the border: there the nearest pixel
/// stands in, for frames and for each stage's results. Every kernel has the sum 1, intensities are 0 to 255.
struct RidgeRegression {
  static constexpr std::string_view name = "ridge-regression";
  static constexpr std::string_view source = "Bodily 2009, chapter 4; Hoerl, Kennard, Baldwin 1975";
  static constexpr int frames = 7;

  float ridge_determinant = 0.05f;
  float min_determinant = 1e-6f;
};

template <class Method, class Visitor>
requires std::is_same_v<std::remove_const_t<Method>, RidgeRegression>
void describe(Method& method, Visitor&& visit) {
  visit(method.ridge_determinant,
        Parameter<float>{"ridge_determinant", 0, 1e9f, "",
                         "where the determinant of the spatial tensor is below that, k is added to its "
                         "diagonal; intensities 0 to 255 a px, to the fourth; 0 = nowhere"});
  visit(method.min_determinant,
        Parameter<float>{"min_determinant", 0, 1e9f, "",
                         "flow is valid where the determinant is above that; elsewhere it is 0 before the "
                         "last smoothing"});
}

inline std::array<Preset<RidgeRegression>, 1> presets(const RidgeRegression&) {
  return {{{"paper", RidgeRegression{}, "the thesis's"}}};
}

}  // namespace parafield
