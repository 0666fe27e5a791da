// SPDX-License-Identifier: MIT
#pragma once
#include <span>
#include <utility>

/// How well a confidence ranks errors, by the sparsification curve: the mean error of the pixels that are kept,
/// over how many are kept, those of highest confidence first.
namespace parafield {

struct RankedError {
  float confidence;  ///< NaN is the lowest
  double error;
};

/// The area under the curve: the mean over k = 1..n of the mean error of the k first pixels. The first area is
/// in the order of the confidence, where pixels of equal confidence share their mean error; the second in the
/// order of the errors, which no confidence can beat. Sorts `pixels`, whose order does not matter. NaN without
/// pixels.
std::pair<double, double> areas_under_curves(std::span<RankedError> pixels);

}  // namespace parafield
