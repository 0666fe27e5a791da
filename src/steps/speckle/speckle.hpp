// SPDX-License-Identifier: MIT
#pragma once
#include "steps/components/components.hpp"

namespace parafield {

/// Removes speckles: clears `valid` in components of at most `max_pixels` pixels. A component consists of
/// valid pixels; horizontal and vertical neighbors are linked if their values differ by at most
/// `max_difference` in each of the one or two planes. `labels` and `counts`: scratch planes of the same size
/// as `valid`, both with the same pitch.
template <class Backend>
void remove_speckles(Backend& backend, const View<float>* planes, int count, float max_difference,
                     int max_pixels, View<std::uint8_t> valid, View<std::int32_t> labels,
                     View<std::int32_t> counts);

// Both backends keep a forest in `labels`: see steps/components.

/// A plane or two, and which neighbors are linked.
struct Links {
  static constexpr bool corners = false;

  View<const float> plane0, plane1;  ///< the same plane twice if there is only one
  float max_difference;
  View<const std::uint8_t> valid;

  /// Whether two neighbors are linked. Both must be inside the image.
  PF_HD bool operator()(int x0, int y0, int x1, int y1) const {
    return (valid(x0, y0) != 0) & (valid(x1, y1) != 0) &
           (magnitude(plane0(x0, y0) - plane0(x1, y1)) <= max_difference) &
           (magnitude(plane1(x0, y0) - plane1(x1, y1)) <= max_difference);
  }
};

}  // namespace parafield
