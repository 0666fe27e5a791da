// SPDX-License-Identifier: MIT
#pragma once
#include "steps/affine/models.hpp"

namespace parafield {

/// A seed's nearest match as one number: the distance to it in the high bits, and the number of its seed in
/// the low bits. The smallest number therefore is the nearest match, and among equally near ones the first.
/// Because every step costs more than 0, exactly one assignment of numbers is stable, whatever the order in
/// which seeds ask their neighbors.
using Nearest = std::uint64_t;

constexpr int nearest_bits = 29;  ///< for the seed's number: there are at most 2^29 pixels
/// No match reaches the seed. A path of 2^34 units or more counts as none; that is over 5 million steps.
constexpr Nearest no_match = Nearest(1) << 63;

PF_HD int seed_of(Nearest nearest) { return int(nearest & ((Nearest(1) << nearest_bits) - 1)); }
PF_HD bool is_match(Nearest nearest) { return nearest >> nearest_bits == 0; }

constexpr int step_length = 60;  ///< units of a step between neighbors of the same color
constexpr float most_distance = 765;

/// Length of a step between neighbors: 1 + (color difference) / 15, in units. `distance`: color_distance.
PF_HD int step_between(float distance) {
  return step_length + int(fma(smaller_number(distance, most_distance), step_length / 15, 0.5f));
}

/// A neighbor's nearest match, at its distance from this seed. The result may exceed no_match.
PF_HD Nearest behind_step(Nearest neighbor, int length) {
  return neighbor + (Nearest(unsigned(length)) << nearest_bits);
}

}  // namespace parafield
