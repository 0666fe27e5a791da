// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <utility>

/// How well a confidence ranks errors, measured by the sparsification curve: the mean error of the most
/// confident pixels as a function of how many of them are kept.
namespace parafield {

struct RankedError {
  float confidence;  ///< NaN is the lowest
  double error;
};

/// Returns two areas under the curve: the mean over k = 1..n of the mean error of the first k pixels. The
/// first area orders pixels by confidence, and pixels of equal confidence share their mean error. The second
/// orders them by error, which no confidence can beat. Sorts `pixels`, whose initial order does not matter.
/// NaN without pixels.
std::pair<double, double> areas_under_curves(std::span<RankedError> pixels);

}  // namespace parafield
