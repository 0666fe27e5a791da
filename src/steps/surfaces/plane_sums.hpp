// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"
#include "parafield/image.hpp"

/// Least squares of a plane through the disparities in a window, with the same bits on every device: the sums
/// of each row are computed first, then the sums over the rows.
namespace parafield {

/// Distance of a sample from the center of its window, along the axis where it is larger.
PF_HD constexpr int window_distance(int dx, int dy) {
  const int x = dx < 0 ? -dx : dx, y = dy < 0 ? -dy : dy;
  return x > y ? x : y;
}

/// A plane around a sample: the disparity at the sample, and its slopes per position.
struct Surface {
  float d, slope_x, slope_y;
};

/// Weighted sums over the samples of a row of the window.
struct RowSums {
  float one = 0, x = 0, xx = 0, d = 0, xd = 0;

  /// Adds a sample in column dx whose disparity differs by `difference` from the center's.
  PF_HD void add(float dx, float difference, float weight) {
    one += weight;
    x = fma(weight, dx, x);
    xx = fma(weight, dx * dx, xx);
    d = fma(weight, difference, d);
    xd = fma(weight * dx, difference, xd);
  }
};

/// Weighted sums over the samples of a window.
struct WindowSums {
  float one = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0, d = 0, xd = 0, yd = 0;

  PF_HD void add(const RowSums& row, float dy) {
    one += row.one, x += row.x, xx += row.xx, d += row.d, xd += row.xd;
    y = fma(row.one, dy, y);
    xy = fma(row.x, dy, xy);
    yy = fma(row.one, dy * dy, yy);
    yd = fma(row.d, dy, yd);
  }
  /// The plane of least squares. `center`: the center's disparity. The stiffness is added to the sums of
  /// squares of positions, which keeps slopes finite and draws them to 0.
  PF_HD Surface fitted(float center, float stiffness) const {
    const float share = 1 / one, mean_x = x * share, mean_y = y * share, mean_d = d * share;
    const float cxx = fma(-x, mean_x, xx) + stiffness, cyy = fma(-y, mean_y, yy) + stiffness,
                cxy = fma(-x, mean_y, xy), cxd = fma(-x, mean_d, xd), cyd = fma(-y, mean_d, yd);
    const float scale = 1 / fma(cxx, cyy, -(cxy * cxy));
    const float a = fma(cxd, cyy, -(cyd * cxy)) * scale, b = fma(cyd, cxx, -(cxd * cxy)) * scale;
    return {center + (mean_d - fma(a, mean_x, b * mean_y)), a, b};
  }
};

/// Sums over the windows of a row of samples, for loops that vectorize.
template <int Count>
struct ChunkSums {
  float one[Count], x[Count], y[Count], xx[Count], xy[Count], yy[Count], d[Count], xd[Count], yd[Count];

  PF_HD WindowSums at(int i) const { return {one[i], x[i], y[i], xx[i], xy[i], yy[i], d[i], xd[i], yd[i]}; }
  PF_HD void set(int i, const WindowSums& sums) {
    one[i] = sums.one, x[i] = sums.x, y[i] = sums.y, xx[i] = sums.xx, xy[i] = sums.xy, yy[i] = sums.yy;
    d[i] = sums.d, xd[i] = sums.xd, yd[i] = sums.yd;
  }
};

}  // namespace parafield
