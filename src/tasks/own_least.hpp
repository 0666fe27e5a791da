// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/flow.hpp"
#include "parafield/stereo.hpp"

/// The least confidence of valid pixels that each method chooses itself (min_confidence = -1). Each method
/// has a confidence of its own scale. In each of 9 pairs of flow and 6 of stereo with ground truth, each
/// value costs at most 2 % of the pixels that are right within 1 px; docs/accuracy.md has the shares.
namespace parafield {

/// Other methods have none.
template <class Method>
float own_least(const Method&) {
  return 0;
}

inline float own_least(const AdaptiveRidge&) { return 1.8e-5f; }
inline float own_least(const LucasKanade&) { return 0.025f; }
inline float own_least(const GradientTensor&) { return 0.0029f; }
inline float own_least(const RidgeRegression&) { return 0.0029f; }
inline float own_least(const DirectInterpolation&) { return 4e-18f; }
inline float own_least(const MultiHypothesis&) { return 1e-4f; }

/// Label fields. The scale is the data cost's. With costs of absolute differences, right pixels of flow
/// without texture have confidence 0 as well as wrong ones.
template <LabelMethod Method>
float own_least(const Method& method) {
  constexpr bool is_flow = requires { method.energy.max_displacement; };
  constexpr bool propagates = requires { method.block_overlap; };
  constexpr bool anneals = requires { method.t_max; };
  const DataTerm data = method.energy.cost.data;
  const bool usual = data == DataTerm::census || data == DataTerm::mix;
  if constexpr (is_flow) return !usual ? 0 : propagates ? 0.5f : 0.3f;
  if constexpr (!is_flow && propagates) {
    if (!usual) return data == DataTerm::absolute ? 0.1f : 0.0f;
    // A projected right view has no margins of its own: see disparity_confidence.
    const auto& checks = method.energy.checks;
    return checks.lr_check > 0 && checks.right_view == RightView::solved ? 0.5f : 0.024f;
  }
  return anneals ? 0 : 0.018f;
}

/// Least confidence of valid pixels that the options ask for; 0 = none.
template <class Method, class Options>
float least_confidence(const Method& method, const Options& options) {
  return options.min_confidence < 0 ? own_least(method) : options.min_confidence;
}

}  // namespace parafield
