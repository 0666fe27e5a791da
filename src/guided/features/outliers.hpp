// SPDX-License-Identifier: MIT
#pragma once
#include "guided/features/grid.hpp"

namespace parafield {

/// Drops each track (u = v = NaN) whose flow is `outliers` * max(MAD, 0.7 px) or more away from the median
/// flow (the medians of u and of v) of the valid tracks in the 3x3 cells around it, including itself. MAD is
/// the median distance of these tracks from the median flow. The median of an even number of values is the
/// lower of the two in the middle. A track is kept if fewer than 3 are valid. `kept` must not overlap
/// `tracks`, because every track is compared with the input.
template <class Backend>
void drop_outliers(Backend& backend, const Track* tracks, const FeatureGrid& grid, float outliers,
                   Track* kept);

constexpr float least_spread2 = 0.7f * 0.7f;  ///< px^2

/// Values of the surrounding cells; `none` where there is no valid track.
struct Neighbors {
  static constexpr int most = 9;
  static constexpr float none = 3e38f;
  float value[most];

  /// The value of a rank, 0 = smallest.
  PF_HD float ranked(int rank) const {
    float found = none;
    PF_UNROLL
    for (int i = 0; i < most; ++i) {
      int before = 0;
      PF_UNROLL
      for (int j = 0; j < most; ++j) before += (value[j] < value[i]) | ((value[j] == value[i]) & (j < i));
      found = before == rank ? value[i] : found;
    }
    return found;
  }
};

PF_HD bool is_valid(const Track& track) { return is_finite(track.u) & is_finite(track.v); }

/// The track in cell (column, row), dropped if it is an outlier.
PF_HD Track without_outlier(const Track* tracks, const FeatureGrid& grid, int column, int row,
                            float outliers) {
  Track own = tracks[row * grid.columns + column];
  if (!is_valid(own)) return own;
  Neighbors u, v, distance;
  int count = 0;
  PF_UNROLL
  for (int i = 0; i < Neighbors::most; ++i) {
    const int x = column + i % 3 - 1, y = row + i / 3 - 1;
    u.value[i] = v.value[i] = Neighbors::none;
    if ((x < 0) | (x >= grid.columns) | (y < 0) | (y >= grid.rows)) continue;
    const Track near = tracks[y * grid.columns + x];
    if (!is_valid(near)) continue;
    u.value[i] = near.u;
    v.value[i] = near.v;
    ++count;
  }
  if (count < 3) return own;
  const int middle = (count - 1) / 2;
  const float median_u = u.ranked(middle), median_v = v.ranked(middle);
  const auto distance2 = [=](float other_u, float other_v) {
    const float du = other_u - median_u, dv = other_v - median_v;
    return fma(du, du, dv * dv);
  };
  PF_UNROLL
  for (int i = 0; i < Neighbors::most; ++i)
    distance.value[i] = u.value[i] < Neighbors::none ? distance2(u.value[i], v.value[i]) : Neighbors::none;
  const float spread2 = larger(distance.ranked(middle), least_spread2);
  if (distance2(own.u, own.v) >= outliers * outliers * spread2) own.u = own.v = __builtin_nanf("");
  return own;
}

}  // namespace parafield
