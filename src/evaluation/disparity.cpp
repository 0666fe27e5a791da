// SPDX-License-Identifier: MIT
#include <cmath>

#include "evaluation/counting.hpp"

namespace parafield {

DisparityScores evaluate(const In<DisparityView>& estimate, const In<DisparityView>& truth,
                         const EvaluationOptions& options) {
  check_disparity(truth, "the true disparity");
  check_disparity(estimate, "the estimated disparity");
  check_sizes("the estimated disparity", estimate.size(), "the true disparity", truth.size(), options);

  DisparityScores scores;
  std::int64_t above0_5 = 0, above1 = 0, above2 = 0, above4 = 0, outliers = 0;
  double errors = 0, squares = 0;
  const auto known = [](const DisparityView& field, int x, int y) { return has_value(field.d(x, y)); };
  score_pixels(scores, estimate, truth, options, known, [&](int x, int y) {
    const double true_d = truth.d(x, y), error = std::abs(estimate.d(x, y) - true_d);
    errors += error;
    squares += error * error;
    above0_5 += error > 0.5;
    above1 += error > 1;
    above2 += error > 2;
    above4 += error > 4;
    outliers += error > 3 && error > 0.05 * std::abs(true_d);
  });

  const std::int64_t pixels = scores.pixels;
  scores.bad_0_5 = share(above0_5, pixels);
  scores.bad_1 = share(above1, pixels);
  scores.bad_2 = share(above2, pixels);
  scores.bad_4 = share(above4, pixels);
  scores.average = pixels ? errors / double(pixels) : nan;
  scores.rms = pixels ? std::sqrt(squares / double(pixels)) : nan;
  scores.d1_all = share(outliers, pixels);
  return scores;
}

}  // namespace parafield
