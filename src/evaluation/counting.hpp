// SPDX-License-Identifier: MIT
#pragma once
#include <cstdint>
#include <limits>

#include "core/views.hpp"
#include "parafield/evaluation.hpp"

/// Code that the scores of all tasks share.
namespace parafield {

inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// part / whole; NaN if whole is 0.
inline double share(double part, std::int64_t whole) { return whole ? part / double(whole) : nan; }
inline double share(std::int64_t part, std::int64_t whole) { return share(double(part), whole); }

/// Throws Error(invalid_argument) for an estimate or a mask that differs in size from the truth, and for a
/// mask whose rows overlap. `what` and `truth` name the fields.
inline void check_sizes(const char* what, Size size, const char* truth, Size true_size,
                        const EvaluationOptions& options) {
  const auto check = [&](const char* name, Size other) {
    if (other != true_size) fail_value(name, " has ", other.size(), " pixels, ", truth, " has ", true_size);
  };
  check(what, size);
  if (options.mask) check("the mask", options.mask.size());
  check_pitch(options.mask, "the mask");
}

inline bool is_known(const FlowView& field, int x, int y) { return has_value(field.u(x, y), field.v(x, y)); }
inline bool is_known(const DisparityView& field, int x, int y) { return has_value(field.d(x, y)); }

/// Throws Error(invalid_argument) if the options ask to score the confidence and the estimate has none.
inline void check_confidence(const char* what, View<const float> confidence,
                             const EvaluationOptions& options) {
  if (options.confidence && !confidence)
    fail_value(what, " has no confidence to score; results of estimators have one, fields from files do not");
}

/// Calls score(x, y) for each pixel that counts, row by row, and sets pixels, unknown, missing and density.
template <class Scores, class Field, class Score>
void score_pixels(Scores& scores, const Field& estimate, const Field& truth, const EvaluationOptions& options,
                  Score score) {
  std::int64_t known = 0, trusted = 0;
  for (int y = 0; y < truth.size().height; ++y)
    for (int x = 0; x < truth.size().width; ++x) {
      if (!is_set(options.mask, x, y)) continue;
      if (!is_set(truth.valid, x, y) || !is_known(truth, x, y)) {
        ++scores.unknown;
        continue;
      }
      ++known;
      if (!is_known(estimate, x, y)) {
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
