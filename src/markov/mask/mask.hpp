// SPDX-License-Identifier: MIT
#pragma once
#include "core/workspace.hpp"
#include "markov/sweep/sweep.hpp"

/// Steps of motion detection: data costs of the labels static (0) and moving (1), and masks.
namespace parafield {

/// Parameters of the data costs.
struct ChangeModel {
  float mean = 0, weight = 0;  // m_p and 1 / sigma^2 (Jodoin eq. 4)
  float temporal = 0;          // weight of the last mask
  float rise = 0;              // 1 / m_p if the last mask counts less where little changes, else 0
};

/// Two frames to compare.
struct Change : ChangeModel {
  View<const float> frame0[3], frame1[3];
  int channels = 1;        // 1 or 3
  View<const Label> last;  // labels of the last mask; empty if there is none
};

/// Stores the data costs of both labels (Jodoin eq. 4, section 3.1), and the labels to start from. These are
/// the winners without the temporal prior, which would keep masks alive. `known`: 1 where all channels are
/// finite; elsewhere 0, and both labels cost 0.
template <class Backend>
void change_costs(Backend& backend, const Change& change, Volume costs, View<Label> winners,
                  View<std::uint8_t> known);

/// Labels to convert into a mask.
struct MaskLabels {
  View<const Label> labels;
  Volume costs;
  PairCost pair;
  View<const std::uint8_t> known;
};

/// Stores a mask: 1 where something moves, otherwise 0. Confidence: see mask_confidence. Valid: known pixels.
template <class Backend>
void mask_of(Backend& backend, const MaskLabels& from, View<std::uint8_t> moving, Trust trust);

/// Stores label 1 where a mask is not 0.
template <class Backend>
void labels_of_mask(Backend& backend, View<const std::uint8_t> mask, View<Label> labels);

/// Stores `value` where a region is 0.
template <class Backend, class T>
void clear_outside(Backend& backend, View<const std::uint8_t> region, View<T> plane, T value);

// Shared by both backends.

/// Temporal prior: cost that the label `last` of the last mask adds to label 0 and subtracts from label 1.
PF_HD float temporal_cost(const ChangeModel& change, int last, float difference) {
  const float share = change.rise > 0 ? smaller(change.rise * difference, 1.0f) : 1.0f;
  return last ? change.temporal * share : -change.temporal;
}

struct ChangeCosts {
  float still, moving;
};
/// Data costs of a pixel's labels. `difference`: |frame1 - frame0|.
PF_HD ChangeCosts change_cost(const ChangeModel& change, float difference, float temporal) {
  const bool finite = is_finite(difference);
  const float off = difference - change.mean;
  return {finite ? fma(change.weight, difference * difference, temporal) : 0.0f,
          finite ? fma(change.weight, off * off, -temporal) : 0.0f};
}

/// Whether label 1 costs less without the temporal prior.
PF_HD bool seems_moving(const ChangeModel& change, float difference) {
  const float off = difference - change.mean;
  return off * off < difference * difference;
}

/// Energy that the other label would add, at least 0. `ones` of `all` neighbors have label 1.
PF_HD float mask_confidence(int label, float still, float moving, int ones, int all, float pair) {
  const int agree = label ? ones : all - ones;
  return larger(fma(pair, float(2 * agree - all), label ? still - moving : moving - still), 0.0f);
}

}  // namespace parafield
