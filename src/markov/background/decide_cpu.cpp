// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "markov/background/chunks.hpp"
#include "markov/background/decide.hpp"
#include "markov/background/shift.hpp"

namespace parafield {
namespace {

/// Least differences at which a site without flicker takes label 1, by its last label and the number of its
/// neighbors with label 1. A site's threshold is the number of cuts that its difference is below.
struct Cuts {
  std::uint8_t at[2][never];
};
Cuts cuts_of(const BackgroundModel& model, bool has_last, int neighbors) {
  Cuts cuts;
  for (int last = 0; last < 2; ++last)
    for (int ones = 0; ones < never; ++ones) {
      int low = 0, high = top_difference + 1;
      while (low < high) {
        const int middle = (low + high) / 2;
        const ChangeCosts cost = background_cost(model, true, middle, 0, has_last, last);
        if (binary_label(cost.still, cost.moving, ones, neighbors, model.pair))
          high = middle;
        else
          low = middle + 1;
      }
      cuts.at[last][ones] = std::uint8_t(low);
    }
  return cuts;
}

/// Sums of the differences in the squares around a chunk's pixels.
inline void sum_squares(const Background& background, int x0, int y, int count, std::uint16_t* sums) {
  const int width = background.size.width, height = background.size.height;
  std::uint16_t column[background_chunk + 2 * smooth_reach] = {};
  const int left = smaller(smooth_reach, x0), right = smaller(smooth_reach, width - x0 - count);
  for (int from = larger(y - smooth_reach, 0); from <= smaller(y + smooth_reach, height - 1); ++from) {
    const std::uint8_t* const difference = background.row(from).difference() + x0;
    for (int i = -left; i < count + right; ++i)
      column[i + smooth_reach] = std::uint16_t(column[i + smooth_reach] + difference[i]);
  }
  for (int i = 0; i < count; ++i)
    sums[i] = std::uint16_t(column[i] + column[i + 1] + column[i + 2] + column[i + 3] + column[i + 4]);
}

}  // namespace

template <class Backend>
void decide_background(Backend& cpu, const Background& background, const BackgroundModel& model,
                       const BinaryRoom& room) {
  const int width = background.size.width, height = background.size.height;
  const bool has_last = background.number(has_mask);
  const int edge_neighbors = neighbor_count(1, 0, 3, height), inner_neighbors = neighbor_count(1, 1, 3, 3);
  const Cuts edge_cuts = cuts_of(model, has_last, edge_neighbors),
             inner_cuts = cuts_of(model, has_last, inner_neighbors);
  int least_moving = 0;  // least difference that seems to be motion
  while (least_moving <= top_difference && !byte_seems_moving(model, least_moving)) ++least_moving;
  cpu.rows(height, [=](int y) {
    const BackgroundModel own = model;
    const bool at_edge = y == 0 || y == height - 1;
    const Cuts& cuts = at_edge ? edge_cuts : inner_cuts;
    const int neighbors = at_edge ? edge_neighbors : inner_neighbors;
    const auto without_luma = std::uint8_t(threshold_of(0, 0, neighbors, model.pair));
    const BackgroundRow row = background.row(y);
    std::uint8_t *const labels = room.begin_row(y), *const thresholds = room.thresholds.row(y);
    for_chunks(width, [&]<int Count>(int x0, int some) {
      const int count = Count ? Count : some;
      const std::uint8_t *const luma = row.luma() + x0, *const flicker = row.flicker() + x0,
                                *const before = row.before() + x0, *const difference = row.difference() + x0;
      std::uint8_t smooth[background_chunk], label[background_chunk], threshold[background_chunk] = {};
      store_chunk(smooth, difference, count);
      if (any_from(flicker, count, dynamic_flicker)) {
        std::uint16_t sums[background_chunk];
        sum_squares(background, x0, y, count, sums);
        for (int i = 0; i < count; ++i)
          smooth[i] = std::uint8_t(smooth_difference(difference[i], flicker[i], sums[i]));
      }
      for (int i = 0; i < count; ++i) label[i] = (smooth[i] >= least_moving) & (luma[i] != no_luma);
      if (any_from(flicker, count, free_flicker + 1)) {
        for (int i = 0; i < count; ++i) {
          const ChangeCosts cost =
              background_cost(own, true, smooth[i], flicker[i], has_last, before[i] & was_moving);
          threshold[i] = std::uint8_t(threshold_of(cost.still, cost.moving, neighbors, own.pair));
        }
      } else {
        for (int k = 0; k < never; ++k) {
          const std::uint8_t still_cut = cuts.at[0][k], moved_cut = cuts.at[1][k];
          for (int i = 0; i < count; ++i)
            threshold[i] =
                std::uint8_t(threshold[i] + (smooth[i] < (before[i] & was_moving ? moved_cut : still_cut)));
        }
      }
      for (int i = 0; i < count; ++i) threshold[i] = luma[i] == no_luma ? without_luma : threshold[i];
      store_chunk(row.smooth() + x0, smooth, count);
      store_chunk(labels + x0, label, count);
      store_chunk(thresholds + x0, threshold, count);
    });
    for (const int x : {0, width - 1}) {
      const ChangeCosts cost = background_cost(model, row, x, has_last);
      thresholds[x] = std::uint8_t(
          threshold_of(cost.still, cost.moving, neighbor_count(x, y, width, height), model.pair));
    }
  });
}

template <class Backend>
void background_costs(Backend& cpu, const Background& background, const BackgroundModel& model, Volume costs,
                      View<Label> labels) {
  cpu.rows(labels.height, [=](int y) {
    for (int x = 0; x < labels.width; ++x) store_background_costs(background, model, costs, labels, x, y);
  });
}

template <class Backend>
void background_mask(Backend& cpu, const Background& background, const BackgroundModel& model,
                     const BinaryLabels& labels, View<std::uint8_t> moving, Trust trust) {
  const int width = background.size.width, height = background.size.height;
  const bool has_last = background.number(has_mask);
  const Place2 shift = shift_of(background).whole();
  BackgroundModel without_last = model;
  without_last.temporal = 0;
  cpu.rows(height, [=](int frame_y) {
    const BackgroundModel own = has_last ? model : without_last;
    const int y = clamp(frame_y - shift.y, 0, height - 1);  // of the background
    const std::uint8_t is_row_inside = y == frame_y - shift.y;
    const BackgroundRow row = background.row(y);
    const int inner = neighbor_count(1, y, 3, height);
    float* const confidences = trust.confidence.row(frame_y);
    std::uint8_t *const valids = trust.valid.row(frame_y), *const masks = moving.row(frame_y);
    for_chunks(width, [&]<int Count>(int x0, int some) {
      const int count = Count ? Count : some;
      const std::uint8_t *const above = labels.row(y - 1) + x0, *const label = labels.row(y) + x0,
                                *const below = labels.row(y + 1) + x0, *const luma = row.luma() + x0,
                                *const smooth = row.smooth() + x0, *const flicker = row.flicker() + x0,
                                *const before = row.before() + x0;
      std::uint8_t ones[background_chunk], known[background_chunk], valid[background_chunk];
      float still[background_chunk], moves[background_chunk], confidence[background_chunk];
      for (int i = 0; i < count; ++i)
        ones[i] = std::uint8_t(above[i - 1] + above[i] + above[i + 1] + label[i - 1] + label[i + 1] +
                               below[i - 1] + below[i] + below[i + 1]);
      for (int i = 0; i < count; ++i) known[i] = luma[i] != no_luma;
      for (int i = 0; i < count; ++i) {
        const ChangeCosts cost =
            background_cost(own, true, smooth[i], flicker[i], true, before[i] & was_moving);
        still[i] = cost.still;
        moves[i] = cost.moving;
      }
      for (int i = 0; i < count; ++i) still[i] = known[i] ? still[i] : 0;
      for (int i = 0; i < count; ++i) moves[i] = known[i] ? moves[i] : 0;
      for (int i = 0; i < count; ++i)
        confidence[i] = mask_confidence(label[i], still[i], moves[i], ones[i], inner, own.pair);
      for (const int i : {0, count - 1})  // these may be at the image's border
        confidence[i] = mask_confidence(label[i], still[i], moves[i], ones[i],
                                        neighbor_count(x0 + i, y, width, height), own.pair);
      for (int i = 0; i < count; ++i) valid[i] = known[i] & is_row_inside;
      const int first = clamp(-(x0 + shift.x), 0, count), last = clamp(width - (x0 + shift.x), 0, count);
      if (first >= last) return;
      store_chunk(confidences + x0 + shift.x + first, confidence + first, last - first);
      store_chunk(valids + x0 + shift.x + first, valid + first, last - first);
      store_chunk(masks + x0 + shift.x + first, label + first, last - first);
    });
    for (int x = 0; x < shift.x; ++x) {
      confidences[x] = confidences[shift.x];
      masks[x] = masks[shift.x];
      valids[x] = 0;
    }
    for (int x = width + shift.x; x < width; ++x) {
      confidences[x] = confidences[width + shift.x - 1];
      masks[x] = masks[width + shift.x - 1];
      valids[x] = 0;
    }
  });
}

PF_STEP(decide_background<Cpu>);
PF_STEP(background_costs<Cpu>);
PF_STEP(background_mask<Cpu>);

}  // namespace parafield
