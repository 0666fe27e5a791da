// SPDX-License-Identifier: MIT
#pragma once
#include "guided/color_test/color_test.hpp"

namespace parafield {

/// Mean differences over the windows around many pixels on the CPU. Pixel i is at (x_of(i), y_of(i)) and
/// moves by (u[i], v[i]). The inner loop runs over pixels, so that it vectorizes.
template <class X, class Y>
PF_HD void window_differences(const ColorTest& test, int count, X x_of, Y y_of, const float* __restrict u,
                              const float* __restrict v, float* __restrict differences) {
  const ColorPlanes frame0 = planes_of(test.frame0), frame1 = planes_of(test.frame1);
  const int window = test.window, radius = window / 2;
  for (int i = 0; i < count; ++i) differences[i] = 0;
  for (int dy = -radius; dy <= radius; ++dy)
    for (int dx = -radius; dx <= radius; ++dx) {
#pragma GCC ivdep
      for (int i = 0; i < count; ++i)
        differences[i] += moved_difference(frame0, frame1, x_of(i) + dx, y_of(i) + dy, {u[i], v[i]});
    }
  for (int i = 0; i < count; ++i)
    differences[i] = window_mean(frame0, differences[i], window, x_of(i), y_of(i), {u[i], v[i]});
}

}  // namespace parafield
