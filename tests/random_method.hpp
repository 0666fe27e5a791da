// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>
#include <cmath>
#include <random>
#include <string>

#include "parafield/method.hpp"
#include "parafield/methods/adaptive_ridge.hpp"
#include "parafield/methods/direct_interpolation.hpp"
#include "parafield/methods/label_solvers.hpp"

/// Random parameters for any method, from their descriptions.
namespace parafield {

// Visitors are compiled once, not for each method.
struct Described {
  std::string text;

  template <class T>
  void operator()(const T& value, const Parameter<T>& parameter) {
    text += " " + std::string(parameter.name) + "=" + detail::text_of(value);
  }
};

template <class Method>
std::string described(const Method& method) {
  Described visitor{std::string(Method::name)};
  describe(method, visitor);
  return visitor.text;
}

/// Reduces parameters that only make a test long, so that the time of any method is bounded.
template <class Method>
Method restrained(Method method) {
  if constexpr (requires { method.iterations; }) method.iterations = std::min(method.iterations, 5);
  if constexpr (requires { method.matches; }) {
    method.matching.match_iterations = std::min(method.matching.match_iterations, 4);
    if (method.frames != 2) method.matches = UseOfMatches::never, method.spacing = 1;
  }
  if constexpr (requires { method.tracking; }) {
    method.tracking.max_features = std::min(method.tracking.max_features, 200);
    method.tracking.matching.match_iterations = std::min(method.tracking.matching.match_iterations, 4);
    method.precision = Precision::exact;  // the other is CUDA's own, of other bits
  }
  if constexpr (requires { method.resampled; }) {
    method.resampled = std::min(method.resampled, 300);
    if (method.model == MotionModel::affine)
      method.resampled = 0, method.tracking.features = FeatureChoice::matches;
  }
  if constexpr (requires { method.ranked; }) {
    if (method.change_softness > 0) method.ranked = 0;
    method.labels = decltype(method.labels)(1);  // a random grid has any number of labels, which is an error
    method.label_step = std::max(method.label_step, 0.25f);
    method.max_labels = method.tracking.max_features;
  }
  if constexpr (LabelMethod<Method>) {
    if constexpr (requires { method.surfaces.slant; })
      if (method.energy.smoothness.smoothness == SmoothnessModel::quadratic)
        method.surfaces.slant = Slant::none;  // an error otherwise
    if constexpr (requires { method.sweeps; }) method.sweeps = std::min(method.sweeps, 5);
    if constexpr (requires { method.t_max; }) method.t_min = std::min(method.t_min, method.t_max);
    if constexpr (requires { method.energy.disparities; })
      method.energy.disparities = std::min(method.energy.disparities, 20);
    if constexpr (requires { method.energy.max_displacement; })
      method.energy.max_displacement = std::min(method.energy.max_displacement, 3);
  }
  return method;
}

/// Adapts parameters that do not fit into images of a size.
template <class Method>
Method fitted(Method method, Size size) {
  if constexpr (requires { method.energy.disparities; }) {
    StereoEnergy& energy = method.energy;
    energy.min_disparity = std::clamp(energy.min_disparity, 1 - size.width, size.width - 1);
    energy.disparities = std::min(energy.disparities, size.width - energy.min_disparity);
  }
  if constexpr (requires { method.blocks; }) {
    const auto fits = [&](int count) {
      if (count == 0) return true;
      for (int rows = 1; rows <= count; ++rows)
        if (count % rows == 0 && count / rows <= size.width && rows <= size.height) return true;
      return false;
    };
    if (method.block_overlap > 0) method.blocks = std::min(method.blocks, 4);  // more take long
    while (!fits(method.blocks)) --method.blocks;
  }
  return method;
}

struct RandomParameters {
  std::mt19937& random;

  template <class T>
  void operator()(T& field, const Parameter<T>& parameter) {
    if (!parameter.choices.empty()) {
      field = parameter.choices[random() % parameter.choices.size()];
    } else if constexpr (std::is_same_v<T, bool>) {
      field = random() % 2;
    } else if constexpr (std::is_enum_v<T>) {
      field = T(int(parameter.min) + int(random() % unsigned(int(parameter.max) - int(parameter.min) + 1)));
    } else if constexpr (std::is_same_v<T, int>) {
      const int least = parameter.min < 0 ? std::max(parameter.min, -20) : parameter.min;
      const unsigned most = parameter.name == "iterations" ? 4 : parameter.name == "sweeps" ? 5 : 40;
      field = least + int(random() % (std::min(unsigned(parameter.max - least), most) + 1));
    } else if (random() % 2) {
      // Weights and limits may be huge, but then one of them decides everything. Mostly they are of the order
      // of the default.
      const float most = random() % 8 ? std::min(parameter.max, 100.0f) : parameter.max;
      field = parameter.min + (most - parameter.min) * std::pow(float(random() % 1000) / 1000, 4.0f);
    }
  }
};

/// A random value for each parameter, within its range and consistent with the others. Parameters that only
/// make a test long stay small.
template <class Method>
Method random_method(std::mt19937& random) {
  Method method;
  RandomParameters visitor{random};
  describe(method, visitor);
  if constexpr (requires { method.block_overlap; }) {
    method.energy.smoothness.neighbors = 4;
    method.memory_limit = 0;
    if (random() % 2) method.blocks = 1;
  }
  return restrained(method);
}

}  // namespace parafield
