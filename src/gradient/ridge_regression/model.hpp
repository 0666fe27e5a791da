// SPDX-License-Identifier: MIT
#pragma once
#include "gradient/temporal/tensor.hpp"
#include "parafield/methods/ridge_regression.hpp"
#include "steps/smooth/smooth.hpp"

namespace parafield {

/// Ridge regression (Bodily, chapter 4). Smoothing in time by (1 2 1) / 4 commutes with differentiation, so
/// the derivatives in x and y come from a blend of three frames, and the derivative in time has seven
/// weights.
struct RidgeRegressionModel {
  using Method = RidgeRegression;
  static constexpr int frames = Method::frames, products = 6, frame_radius = 2;
  static constexpr bool blends_frames = true, smooths_flow = true;

  float min_determinant;    ///< flow is valid above this determinant
  float ridge_determinant;  ///< k is added below this determinant

  explicit RidgeRegressionModel(const Method& method)
      : min_determinant(method.min_determinant), ridge_determinant(method.ridge_determinant) {}

  /// Smoothing of the frames: (3 3 4 3 3) / 16.
  static Taps frame_taps() { return {frame_radius, {4 / 16.0f, 3 / 16.0f, 3 / 16.0f}}; }
  /// Smoothing of the flow: (1 1 1 2 1 1 1) / 8.
  static Taps flow_taps() { return {3, {2 / 8.0f, 1 / 8.0f, 1 / 8.0f, 1 / 8.0f}}; }

  /// The image that is differentiated in x and y: the three middle frames blended by (1 2 1) / 4.
  PF_HD static float blended(float before, float middle, float after) {
    return fma(2, middle, before + after) * 0.25f;
  }

  /// Derivative by (1 -6 -15 0 15 6 -1) / 48, which is (1 -8 0 8 -1) / 12 convolved with (1 2 1) / 4.
  /// `change`: plus1 - minus1.
  PF_HD static float time_derivative(float minus3, float minus2, float change, float plus2, float plus3) {
    return fma(15, change, fma(6, plus2 - minus2, minus3 - plus3)) * (1.0f / 48);
  }

  /// Smoothing of the products: (5 6 5) / 16.
  PF_HD static float mean(float before, float middle, float after) {
    return fma(6, middle, 5 * (before + after)) * (1.0f / 16);
  }

  /// The flow for k = 0, or, where the tensor is nearly singular, the flow for the k computed from that first
  /// flow.
  PF_HD TensorFlow flow_of(const Tensor& t) const {
    const float determinant = determinant_of(t);
    const Motion least = solution(t, determinant);
    const float k = ridge_constant(t, least);
    const Tensor ridged{t.xx + k, t.yy + k, t.xy, t.xt, t.yt, t.tt};
    const Motion shrunk = solution(ridged, determinant_of(ridged));
    const bool ridge = determinant < ridge_determinant;
    return where_valid({ridge ? shrunk.u : least.u, ridge ? shrunk.v : least.v},
                       determinant > min_determinant);
  }

  /// k = p s^2 / |b|^2 (Hoerl, Kennard, Baldwin 1975), with p = 2 coefficients b and the variance s^2 = E /
  /// (n - p) of the residuals of n = 9 pixels.
  PF_HD static float ridge_constant(const Tensor& t, const Motion& b) {
    const float across = fma(b.u, fma(b.u, t.xx, 2 * fma(b.v, t.xy, t.xt)), b.v * fma(b.v, t.yy, 2 * t.yt));
    const float residual = larger(t.tt + across, 0.0f), length2 = fma(b.u, b.u, b.v * b.v);
    const float k = 2 * residual / (7 * length2);
    return length2 > 0 ? smaller(k, 1e9f) : 0.0f;
  }
};

}  // namespace parafield
