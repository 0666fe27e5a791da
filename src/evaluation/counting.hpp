// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <limits>

#include "core/views.hpp"
#include "parafield/evaluation.hpp"

/// Shared by the scores of all tasks.
namespace parafield {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// part / whole; NaN if whole is 0.
inline double share(std::int64_t part, std::int64_t whole) {
  return whole ? double(part) / double(whole) : nan;
}

/// Throws Error(invalid_argument) for an estimate or a mask that has not the truth's size. `what` and
/// `truth` name the fields.
inline void check_sizes(const char* what, Size size, const char* truth, Size true_size,
                        const EvaluationOptions& options) {
  const auto check = [&](const char* name, Size other) {
    if (other != true_size)
      fail(ErrorCode::invalid_argument, name, " has ", other.width, "x", other.height, " pixels, ", truth,
           " has ", true_size.width, "x", true_size.height);
  };
  check(what, size);
  if (options.mask) check("the mask", options.mask.size());
}

/// Calls score(x, y) for each pixel that counts, row by row, and sets pixels, unknown, missing and density.
/// has_value(field, x, y) says whether the field is known at a pixel.
template <class Scores, class Field, class HasValue, class Score>
void score_pixels(Scores& scores, const Field& estimate, const Field& truth, const EvaluationOptions& options,
                  HasValue has_value, Score score) {
  std::int64_t known = 0, trusted = 0;
  for (int y = 0; y < truth.size().height; ++y)
    for (int x = 0; x < truth.size().width; ++x) {
      if (!is_set(options.mask, x, y)) continue;
      if (!is_set(truth.valid, x, y) || !has_value(truth, x, y)) {
        ++scores.unknown;
        continue;
      }
      ++known;
      if (!has_value(estimate, x, y)) {
        ++scores.missing;
        continue;
      }
      const bool valid = is_set(estimate.valid, x, y);
      trusted += valid;
      if (options.valid_only && !valid) continue;
      ++scores.pixels;
      score(x, y);
    }
  scores.density = share(trusted, known);
}

}  // namespace parafield
