#pragma once
#include "core/arithmetic.hpp"
#include "core/workspace.hpp"

namespace parafield {

/// The exact median of the side x side pixels around each pixel, of both components apart; side 3 or 5;
/// beyond the border the nearest pixel stands in. No NaN. `in` and `out` do not overlap.
template <class Backend>
void median(Backend& backend, FlowPlanes in, int side, FlowPlanes out);

PF_HD void order(float& a, float& b) {
  const float low = smaller(a, b), high = a < b ? b : a;
  a = low;
  b = high;
}

/// Median of an odd number of values by forgetting: of the first N / 2 + 2 values neither the smallest nor
/// the largest can be the median, so both are dropped and the next value comes in, until one is left.
/// Overwrites `values`; straight code without branches when unrolled.
template <int Count>
PF_HD float median_of(float (&values)[Count]) {
  PF_UNROLL
  for (int first = 0; first < Count / 2; ++first) {
    const int held = Count / 2 + 2 - first, last = first + held - 1;  // values[first .. last] are held
    PF_UNROLL
    for (int i = 0; i < held / 2; ++i) order(values[first + i], values[last - i]);
    // The smallest is now in the lower half, the largest in the upper; an odd one in the middle is in both.
    PF_UNROLL
    for (int i = 1; i < (held + 1) / 2; ++i) order(values[first], values[first + i]);
    PF_UNROLL
    for (int i = 1; i < (held + 1) / 2; ++i) order(values[last - i], values[last]);
    // Forget values[first] by moving on, values[last] by writing the next one over it.
    if (last + 1 + first < Count) values[last] = values[last + 1 + first];
  }
  return values[Count / 2];
}

}  // namespace parafield
