// SPDX-License-Identifier: MIT
#pragma once
#include "guided/features/tracking.hpp"

/// Propagation of flow to dropped features (Barnes et al.: PatchMatch, 2009). A small object with a large
/// motion vanishes at the coarse levels, but its few tracked features provide starts for its other features.
namespace parafield {

constexpr int directions = 8;        ///< directions in which a cell searches for starts
constexpr int start_reach = 8;       ///< cells that it searches in each direction
constexpr float start_spacing2 = 1;  ///< px^2; starts closer together lead to the same result
constexpr float largest_error2 = 2;  ///< px^2; features that match worse are dropped

/// Parameters of a retry, tuned on KITTI and Middlebury: only level 0 and fewer iterations, because a start
/// is either close or wrong. The check there and back is stricter, because one of many starts may pass it by
/// chance.
inline TrackingParameters again(TrackingParameters p) {
  p.levels = 1;
  p.iterations = smaller(p.iterations, 15);
  p.check2 *= 0.5f;
  return p;
}

PF_HD bool has_flow(const Track& track) { return track.u == track.u; }

PF_HD bool is_dropped(const Track& track) { return (track.x == track.x) & !has_flow(track); }

/// Flow of the nearest track in a direction (left, right, up, down, then the diagonals). NaN if no track is
/// near, or if the nearest one was already there in the previous round and has therefore been tried.
PF_HD Motion start_of(const Track* before, const Track* tracks, const FeatureGrid& grid, int column, int row,
                      int direction) {
  const int side = direction % 2 ? 1 : -1;
  const int dx = direction == 2 || direction == 3 ? 0 : side;
  const int dy = direction < 2 ? 0 : direction < 4 ? side : direction < 6 ? -1 : 1;
  for (int i = 1; i <= start_reach; ++i) {
    const int x = column + i * dx, y = row + i * dy;
    if ((x < 0) | (x >= grid.columns) | (y < 0) | (y >= grid.rows)) break;
    const int cell = y * grid.columns + x;
    if (!has_flow(tracks[cell])) continue;
    if (before && has_flow(before[cell])) break;
    return {tracks[cell].u, tracks[cell].v};
  }
  return no_track();
}

/// Whether two starts are so close that one can stand for both; false if either is NaN.
PF_HD bool are_alike(const Motion& a, const Motion& b) {
  const float u = a.u - b.u, v = a.v - b.v;
  return fma(u, u, v * v) < start_spacing2;
}

/// Takes a start's track if it passes the check there and back and its squared error is below `least2`, which
/// is then set to that error. track(back, x, y, start, error2) returns the flow one way, or NaN if the
/// feature is lost, and sets its squared error.
template <class TrackOneWay>
PF_HD void try_start(const Motion& start, float check2, TrackOneWay track, float& least2, Track& feature) {
  float error2 = 0, unused = 0;
  const Motion flow = track(false, feature.x, feature.y, start, error2);
  if (!(flow.u == flow.u && error2 < least2)) return;
  if (check2 > 0) {
    const Motion back = track(true, feature.x + flow.u, feature.y + flow.v, {-start.u, -start.v}, unused);
    if (!comes_back(flow, back, check2)) return;
  }
  least2 = error2;
  feature.u = flow.u;
  feature.v = flow.v;
}

/// Squared error of a match, px^2. The differences between the window's pixels and their matches are
/// expressed as a distance along the gradient: sum e^2 / sum |grad I|^2 over the pixels that count.
PF_HD float match_error2(float squares, const WindowTensor& sum) { return squares / (sum.xx + sum.yy); }

}  // namespace parafield
