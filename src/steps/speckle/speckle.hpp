#pragma once
#include "core/arithmetic.hpp"

namespace parafield {

/// Clears `valid` where it covers speckles: a component are valid pixels, each linked to the next, left, right, above or
/// below, whose values differ by at most `max_difference` in each of the one or two planes; those of at most `max_pixels`
/// pixels go. `labels` and `counts`: scratch of the same size, and both of the same pitch.
template <class Backend>
void remove_speckles(Backend& backend, const View<float>* planes, int count, float max_difference,
                     int max_pixels, View<std::uint8_t> valid, View<std::int32_t> labels,
                     View<std::int32_t> counts);

// Both backends keep a forest in `labels` (Rosenfeld and Pfaltz 1966): a pixel's label is the index of another one of its
// component, never a larger one; the root of a component is its own. An index counts along `labels`' pitch.

/// The pixels and what links them.
struct Links {
  View<const float> plane0, plane1;  // the same where there is one
  float max_difference;
  View<const std::uint8_t> valid;

  /// Whether neighbors belong together; both inside.
  PF_HD bool operator()(int x0, int y0, int x1, int y1) const {
    return (valid(x0, y0) != 0) & (valid(x1, y1) != 0) &
           (magnitude(plane0(x0, y0) - plane0(x1, y1)) <= max_difference) &
           (magnitude(plane1(x0, y0) - plane1(x1, y1)) <= max_difference);
  }
};

/// The root of pixel i's component.
PF_HD int root_of(const volatile int* labels, int i) {
  for (int label = labels[i]; label != i; label = labels[i]) i = label;
  return i;
}

}  // namespace parafield
