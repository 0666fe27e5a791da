// SPDX-License-Identifier: MIT
#pragma once
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "core/views.hpp"
#include "parafield/evaluation.hpp"

/// Code that the scores of all tasks share.
namespace parafield {

inline constexpr double no_score = std::numeric_limits<double>::quiet_NaN();

/// part / whole; NaN if whole is 0.
inline double share(double part, std::int64_t whole) { return whole ? part / double(whole) : no_score; }
inline double share(std::int64_t part, std::int64_t whole) { return share(double(part), whole); }

/// Running mean and deviation (Welford 1962), NaN without values. The mean of equal values is exactly that
/// value, and their deviation is 0.
struct Moments {
  double mean = 0, squares = 0;
  std::int64_t count = 0;

  void add(double value) {
    const double difference = value - mean;
    mean += difference / double(++count);
    squares += difference * (value - mean);
  }
  double average() const { return count ? mean : no_score; }
  double deviation() const { return std::sqrt(share(squares, count)); }
};

/// Throws Error(invalid_argument) for an estimate or a mask that differs in size from the truth, and for a
/// mask whose rows overlap. `what` and `truth` name the fields; `truth` ends in "has".
inline void check_sizes(const char* what, Size size, const char* truth, Size true_size,
                        const EvaluationOptions& options) {
  check_same_size(what, size, truth, true_size);
  if (options.mask) check_same_size("the mask", options.mask.size(), truth, true_size);
  check_pitch(options.mask, "the mask");
}

/// Error of a pixel and its confidence. NaN is the lowest confidence.
struct RankedError {
  float confidence;
  double error;
};

/// How well a confidence ranks errors, by the sparsification curve: the mean error of the most confident
/// pixels as a function of how many of them are kept. Returns two areas under the curve: the mean over k =
/// 1..n of the mean error of the first k pixels. The first area orders pixels by confidence, and pixels of
/// equal confidence share their mean error. The second orders them by error, which no confidence can beat.
/// Sorts `pixels`, whose initial order does not matter. NaN without pixels.
std::pair<double, double> areas_under_curves(std::span<RankedError> pixels);

}  // namespace parafield
