#pragma once
#include "parafield/method.hpp"

namespace parafield {

/// Flow by the 3-D gradient tensor of five frames, at the middle one (Bodily: An optical flow implementation comparison
/// study, chapter 3, after Wei et al. 2007). Derivatives by (1 -8 0 8 -1) / 12 in x, y and time are weighted by
/// (3 5 7 8 7 5 3) / 38 along rows and columns; their products, smoothed over 3 x 3 pixels, are the tensor that eqs. 3.1
/// and 3.2 solve. The frames are weighted instead of the derivatives, which changes nothing but the 6 px beside the border:
/// there the nearest pixel stands in, for frames and for each stage's results. Intensities are 0 to 255.
struct GradientTensor {
  static constexpr std::string_view name = "gradient-tensor";
  static constexpr std::string_view source = "Bodily 2009, chapter 3, eqs. 3.1, 3.2";
  static constexpr int frames = 5;

  float min_determinant = 1e-6f;
};

template <class Method, class Visitor>
requires std::is_same_v<std::remove_const_t<Method>, GradientTensor>
void describe(Method& method, Visitor&& visit) {
  visit(method.min_determinant,
        Parameter<float>{
            "min_determinant", 0, 1e9f, "",
            "flow is valid where the determinant of the spatial tensor, t1 t2 - t4^2, is above that; "
            "elsewhere it is 0. Intensities 0 to 255 a px, to the fourth"});
}

inline std::array<Preset<GradientTensor>, 1> presets(const GradientTensor&) {
  return {{{"paper", GradientTensor{}, "the thesis's"}}};
}

}  // namespace parafield
