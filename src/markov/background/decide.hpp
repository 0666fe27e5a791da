// SPDX-License-Identifier: MIT
#pragma once
#include "markov/background/compare.hpp"
#include "markov/binary/binary.hpp"

/// Data costs of both labels. Where the background flickers, as leaves and water do, a pixel's difference is
/// limited to the mean of the 5x5 pixels around it, and moving costs more. The solver then finds the labels:
/// by counts of neighbors (binary.hpp) or from stored costs.
namespace parafield {

/// Stores the smooth differences, labels without the temporal prior, and thresholds with it.
template <class Backend>
void decide_background(Backend& backend, const Background& background, const BackgroundModel& model,
                       const BinaryRoom& room);

/// Stores the data costs that those thresholds follow from, and the same labels.
template <class Backend>
void background_costs(Backend& backend, const Background& background, const BackgroundModel& model,
                      Volume costs, View<Label> labels);

/// Stores the mask of a frame's labels, as mask_of does, at the frame's places. Where the camera's shift
/// leaves no background, a pixel has the label of the nearest one and is not valid.
template <class Backend>
void background_mask(Backend& backend, const Background& background, const BackgroundModel& model,
                     const BinaryLabels& labels, View<std::uint8_t> moving, Trust trust);

// Shared by both backends.

constexpr int smooth_reach = 2;                     // the square of the mean has 5x5 pixels
constexpr int free_flicker = 192;                   // more flicker makes moving cost more
constexpr float flicker_cost = 5.5f / (255 - 192);  // per unit of flicker above that

/// The difference of a dynamic pixel, given the sum of the differences of 5x5 pixels. Pixels outside the
/// image count as 0.
PF_HD int smooth_difference(int difference, int flicker, int sum) {
  constexpr int all = (2 * smooth_reach + 1) * (2 * smooth_reach + 1);
  const int mean = (sum + all / 2) / all;
  return ((flicker >= dynamic_flicker) & (mean < difference)) ? mean : difference;
}

/// Data costs of a pixel. `moved`: whether it moved in the last mask.
PF_HD ChangeCosts background_cost(const BackgroundModel& model, bool known, int difference, int flicker,
                                  bool has_last, int moved) {
  const float y = float(difference) * model.step;
  const float temporal = has_last ? temporal_cost(model, moved, y) : 0.0f;
  const ChangeCosts costs = change_cost(model, y, temporal);
  const float field = flicker_cost * float(larger(flicker - free_flicker, 0));
  return {known ? costs.still : 0.0f, known ? costs.moving + field : 0.0f};
}
PF_HD ChangeCosts background_cost(const BackgroundModel& model, const BackgroundRow& row, int x,
                                  bool has_last) {
  return background_cost(model, row.luma()[x] != no_luma, row.smooth()[x], row.flicker()[x], has_last,
                         row.before()[x] & was_moving);
}

/// What background_costs stores for a pixel.
PF_HD void store_background_costs(const Background& background, const BackgroundModel& model,
                                  const Volume& costs, const View<Label>& labels, int x, int y) {
  const BackgroundRow row = background.row(y);
  const ChangeCosts cost = background_cost(model, row, x, background.number(has_mask) != 0);
  costs.row(y, 0)[x] = cost.still;
  costs.row(y, 1)[x] = cost.moving;
  labels(x, y) = row.luma()[x] != no_luma && byte_seems_moving(model, row.smooth()[x]);
}

}  // namespace parafield
