// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"

/// Per-pixel arithmetic shared by gradient-tensor and ridge-regression. Each method defines a model with its
/// filters and solver; the model is passed to CUDA kernels by value.
namespace parafield {

/// Products of the derivatives in x, y and time, or means of these products around a pixel.
struct Tensor {
  float xx, yy, xy, xt, yt, tt;
};

PF_HD Tensor products(float x, float y, float t) { return {x * x, y * y, x * y, x * t, y * t, t * t}; }

/// Applies f to each product that a model has: all six, or all but tt.
template <class Model, class F>
PF_HD Tensor each_product(F f) {
  Tensor result{f(&Tensor::xx), f(&Tensor::yy), f(&Tensor::xy), f(&Tensor::xt), f(&Tensor::yt), 0};
  if constexpr (Model::products == 6) result.tt = f(&Tensor::tt);
  return result;
}

PF_HD float determinant_of(const Tensor& t) { return fma(t.xx, t.yy, -(t.xy * t.xy)); }

/// Least-squares solution (Bodily, eqs. 3.1 and 3.2).
PF_HD Motion solution(const Tensor& t, float determinant) {
  const float inverse = 1 / determinant;
  return {fma(t.yt, t.xy, -(t.xt * t.yy)) * inverse, fma(t.xt, t.xy, -(t.yt * t.xx)) * inverse};
}

/// Flow of a pixel; 0 where it is invalid.
struct TensorFlow {
  float u, v;
  std::uint8_t valid;  ///< 0 or 1; with a bool g++ 12 does not vectorize the loops
};
PF_HD TensorFlow where_valid(const Motion& motion, bool regular) {
  const bool valid = regular & is_finite(motion.u) & is_finite(motion.v);
  return {valid ? motion.u : 0.0f, valid ? motion.v : 0.0f, valid};
}

/// Whether a pixel that has a solution is valid.
PF_HD std::uint8_t confident(std::uint8_t valid, float confidence, float least) {
  return std::uint8_t(valid & std::uint8_t(confidence >= least));
}

}  // namespace parafield
