// SPDX-License-Identifier: MIT
#pragma once
#include "gradient/temporal/tensor.hpp"
#include "parafield/methods/gradient_tensor.hpp"
#include "steps/gradient/gradient.hpp"
#include "steps/smooth/smooth.hpp"

namespace parafield {

/// Gradient tensor (Bodily, chapter 3). Operations per pixel: 4 for each derivative, 5 for the products, 30
/// for their means and 30 for the rest.
struct GradientTensorModel {
  using Method = GradientTensor;
  static constexpr int frames = Method::frames, products = 5, frame_radius = 3;
  static constexpr bool blends_frames = false, smooths_flow = false;

  float min_determinant;  ///< flow is valid above this determinant

  explicit GradientTensorModel(const Method& method) : min_determinant(method.min_determinant) {}

  /// Smoothing of the frames: (3 5 7 8 7 5 3) / 38.
  static Taps frame_taps() { return {frame_radius, {8 / 38.0f, 7 / 38.0f, 5 / 38.0f, 3 / 38.0f}}; }

  /// The image that is differentiated in x and y: the middle frame.
  PF_HD static float blended(float, float middle, float) { return middle; }

  PF_HD static float time_derivative(float minus2, float minus1, float, float plus1, float plus2) {
    return derivative(minus2, minus1, plus1, plus2);
  }

  /// Smoothing of the products: (1 1 1) / 3.
  PF_HD static float mean(float before, float middle, float after) {
    return (before + after + middle) * (1.0f / 3);
  }

  PF_HD TensorFlow flow_of(const Tensor& t) const {
    const float determinant = determinant_of(t);
    return where_valid(solution(t, determinant), determinant > min_determinant);
  }
};

}  // namespace parafield
