// SPDX-License-Identifier: MIT
#pragma once
#include "markov/background/background.hpp"

/// The camera's shift: one translation of the whole frame against the mean background, by the method of Lucas
/// and Kanade (1981) at pixels with a strong gradient that did not move in the last frame. At most five steps
/// start from the last frame's shift. A constant change of brightness is left out. The result counts only if it explains the frame clearly better than no
/// shift does. The frame is then read at the shifted places, and the mask is moved back by whole pixels.
namespace parafield {

/// A shift in units of 1/16 px. Pixel (x, y) of the background is at (x, y) + shift in the frame.
struct Shift {
  int x, y;

  PF_HD bool is_none() const { return (x | y) == 0; }
  /// The nearest whole pixels.
  PF_HD Place2 whole() const { return {(x + 8) >> 4, (y + 8) >> 4}; }
};
PF_HD Shift shift_of(const Background& background) {
  return {background.number(shift_x), background.number(shift_y)};
}

/// Finds the shift of a frame and stores it in Background::numbers.
template <class Backend>
void find_shift(Backend& backend, View<const std::uint8_t> luma, const Background& background);

// Shared by both backends.

constexpr int shift_steps = 5, shift_sums = 11;           // steps of the search, and sums of each
constexpr int sums_of_errors = shift_steps * shift_sums;  // index of the two sums of errors: with, without
constexpr int sum_count = sums_of_errors + 2;
constexpr int shift_margin = 6;    // px without points
constexpr int most_shift = 5;      // px
constexpr int least_shift = 3;     // in 1/16 px: smaller shifts are none
constexpr int least_slope = 200;   // gradient of a point, in 1/32 luma per px, |x| + |y|
constexpr int most_residual = 30;  // lumas: larger ones are objects

/// The points at which frame and background are compared: a grid.
struct ShiftPoints {
  int spacing, columns, rows;
};
PF_HD ShiftPoints shift_points(Size size) {
  constexpr int most = 320 * 240;
  const int width = size.width - 2 * shift_margin, height = size.height - 2 * shift_margin;
  if (width <= 0 || height <= 0) return {2, 0, 0};
  int spacing = 2;
  while (std::int64_t(width / spacing) * (height / spacing) > most) ++spacing;
  return {spacing, (width - 1) / spacing + 1, (height - 1) / spacing + 1};
}

/// Value of a plane at a place between pixels, by linear interpolation; no_luma if a pixel has none.
PF_HD int moved_byte(const View<const std::uint8_t>& plane, int x, int y, Shift shift) {
  const int fx = shift.x & 15, fy = shift.y & 15;
  const int x0 = clamp(x + (shift.x >> 4), 0, plane.width - 1),
            x1 = clamp(x + (shift.x >> 4) + (fx > 0), 0, plane.width - 1),
            y0 = clamp(y + (shift.y >> 4), 0, plane.height - 1),
            y1 = clamp(y + (shift.y >> 4) + (fy > 0), 0, plane.height - 1);
  const int a = plane(x0, y0), b = plane(x1, y0), c = plane(x0, y1), d = plane(x1, y1);
  const int value = ((a * (16 - fx) + b * fx) * (16 - fy) + (c * (16 - fx) + d * fx) * fy + 128) >> 8;
  const bool known = (a != no_luma) & (b != no_luma) & (c != no_luma) & (d != no_luma);
  return known ? value : no_luma;
}

/// What a point says about a shift.
struct ShiftPoint {
  int slope_x = 0, slope_y = 0;  // 1/32 luma per px
  int now = 0, unmoved = 0;      // luma in the frame minus the background's, with and without shift, 1/256
  bool usable = false;
};
PF_HD ShiftPoint shift_point(const View<const std::uint8_t>& luma, const Background& background, int x, int y,
                             Shift shift) {
  const BackgroundRow row = background.row(y);
  const std::uint16_t *const mean = row.mean(), *const above = background.row(y - 1).mean(),
                             *const below = background.row(y + 1).mean();
  ShiftPoint point;
  point.slope_x = (int(mean[x + 1]) - int(mean[x - 1])) >> 4;
  point.slope_y = (int(below[x]) - int(above[x])) >> 4;
  const int steep = (point.slope_x < 0 ? -point.slope_x : point.slope_x) +
                    (point.slope_y < 0 ? -point.slope_y : point.slope_y);
  if (steep < least_slope || (row.before()[x] & was_moving)) return point;
  const int fx = shift.x & 15, fy = shift.y & 15, x0 = x + (shift.x >> 4), y0 = y + (shift.y >> 4);
  const int a = luma(x0, y0), b = luma(x0 + 1, y0), c = luma(x0, y0 + 1), d = luma(x0 + 1, y0 + 1);
  const int unmoved = luma(x, y);
  point.usable = (a != no_luma) & (b != no_luma) & (c != no_luma) & (d != no_luma) & (unmoved != no_luma);
  point.now = (a * (16 - fx) + b * fx) * (16 - fy) + (c * (16 - fx) + d * fx) * fy - int(mean[x]);
  point.unmoved = unmoved * 256 - int(mean[x]);
  return point;
}

PF_HD bool is_usual(int residual) { return (residual < 0 ? -residual : residual) <= 16 * most_residual; }

/// Adds a point's terms of the normal equations to the sums of a step: of x x, x y, y y, x r, y r, x, y, r and 1,
/// where (x, y) is the slope and r the residual with the guess, in 1/16 luma; then of the residual without a
/// shift, and of 1.
PF_HD void add_to_step(const ShiftPoint& point, long long* sums) {
  if (!point.usable) return;
  const int unmoved = point.unmoved >> 4;
  if (is_usual(unmoved)) {
    sums[9] += unmoved;
    sums[10] += 1;
  }
  const long long x = point.slope_x, y = point.slope_y, residual = point.now >> 4;
  if (!is_usual(int(residual))) return;
  sums[0] += x * x;
  sums[1] += x * y;
  sums[2] += y * y;
  sums[3] += x * residual;
  sums[4] += y * residual;
  sums[5] += x;
  sums[6] += y;
  sums[7] += residual;
  sums[8] += 1;
}

/// A guess of the shift, px, after some steps.
struct ShiftGuess {
  double x, y;
  int steps;
  bool final;

  PF_HD Shift rounded() const { return {int(x * 16 + 4096.5) - 4096, int(y * 16 + 4096.5) - 4096}; }
};
/// The guess after the next step, from its sums. A constant residual is eliminated from the normal equations.
PF_HD ShiftGuess next_guess(const ShiftGuess& guess, const long long* sums) {
  const ShiftGuess unchanged{guess.x, guess.y, guess.steps + 1, true};
  if (sums[8] == 0) return unchanged;
  const double count = double(sums[8]), mean_x = double(sums[5]) / count, mean_y = double(sums[6]) / count,
               mean = double(sums[7]) / count;
  const double a = double(sums[0]) - mean_x * double(sums[5]), b = double(sums[1]) - mean_x * double(sums[6]),
               c = double(sums[2]) - mean_y * double(sums[6]), e = double(sums[3]) - mean * double(sums[5]),
               g = double(sums[4]) - mean * double(sums[6]);
  const double determinant = a * c - b * b;
  if (determinant < 1e6 || a < 1e6 || c < 1e6) return unchanged;
  const double dx = -2 * (c * e - b * g) / determinant, dy = -2 * (a * g - b * e) / determinant;
  const double x = guess.x + dx, y = guess.y + dy;
  if (!(__builtin_fabs(x) <= most_shift && __builtin_fabs(y) <= most_shift))
    return {0, 0, guess.steps + 1, true};
  return {x, y, guess.steps + 1, __builtin_fabs(dx) + __builtin_fabs(dy) < 0.03};
}
/// The guess before step `step`, from the sums of all steps before.
PF_HD ShiftGuess guess_before(const Background& background, int step) {
  const Shift last = shift_of(background);
  ShiftGuess guess{last.x / 16.0, last.y / 16.0, 0, false};
  for (int i = 0; i < step && !guess.final; ++i)
    guess = next_guess(guess, background.sums.data + i * shift_sums);
  return guess;
}

/// The shift that the errors have to confirm, and the mean residuals with and without it, in 1/256 luma.
struct ProposedShift {
  Shift shift;
  int residual, unmoved;
};
PF_HD ProposedShift proposed_shift(const Background& background) {
  const ShiftGuess guess = guess_before(background, shift_steps);
  const Shift shift = guess.rounded();
  const bool small = smaller(shift.x, shift.y) >= -least_shift && larger(shift.x, shift.y) <= least_shift;
  if (small || guess.steps == 0) return {{0, 0}, 0, 0};
  const long long* const sums = background.sums.data + (guess.steps - 1) * shift_sums;
  return {shift, sums[8] ? int(16 * sums[7] / sums[8]) : 0, sums[10] ? int(16 * sums[9] / sums[10]) : 0};
}
/// Adds a point's errors with and without the shift to two sums.
PF_HD void add_errors(const ShiftPoint& point, const ProposedShift& proposed, long long* sums) {
  if (!point.usable) return;
  const int with = point.now - proposed.residual, without = point.unmoved - proposed.unmoved;
  sums[0] += smaller(with < 0 ? -with : with, most_residual * 256);
  sums[1] += smaller(without < 0 ? -without : without, most_residual * 256);
}
/// Stores the shift if its errors are at most eight tenths of the errors without it, otherwise none. Clears
/// the sums.
PF_HD void store_shift(const Background& background) {
  const Shift shift = proposed_shift(background).shift;
  long long* const sums = background.sums.data;
  const bool confirmed = 10 * sums[sums_of_errors] <= 8 * sums[sums_of_errors + 1];
  background.numbers.data[shift_x] = confirmed ? shift.x : 0;
  background.numbers.data[shift_y] = confirmed ? shift.y : 0;
  for (int i = 0; i < sum_count; ++i) sums[i] = 0;
}

}  // namespace parafield
