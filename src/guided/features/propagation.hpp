// SPDX-License-Identifier: MIT
#pragma once
#include "guided/features/tracking.hpp"

/// Propagation of flow to dropped features (Barnes et al.: PatchMatch, 2009). A small thing that moves far
/// vanishes at the coarse levels; its few features that were found tell the others where to look.
namespace parafield {

constexpr int directions = 8;        ///< directions in which a cell looks for starts
constexpr int start_reach = 8;       ///< cells that it looks at in a direction
constexpr float start_spacing2 = 1;  ///< starts nearer to each other end alike, px^2
constexpr float largest_error2 = 2;  ///< a feature that matches worse is dropped, px^2

/// Parameters of another try, measured on KITTI and Middlebury: only level 0 and fewer solutions, since a
/// start is near or wrong. A feature has to come back nearer, since one of many starts may do so by chance.
inline TrackingParameters again(TrackingParameters p) {
  p.levels = 1;
  p.iterations = smaller(p.iterations, 15);
  p.check2 *= 0.5f;
  return p;
}

PF_HD bool has_flow(const Track& track) { return track.u == track.u; }

PF_HD bool is_dropped(const Track& track) { return (track.x == track.x) & !has_flow(track); }

/// Flow of the nearest track in a direction (left, right, up, down, then the diagonals); NaN where none is
/// near, or where it was tried the round before: tracks stay, and new ones lie before old ones.
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

/// Whether two starts are so near that one stands for both; false where one is NaN.
PF_HD bool are_alike(const Motion& a, const Motion& b) {
  const float u = a.u - b.u, v = a.v - b.v;
  return fma(u, u, v * v) < start_spacing2;
}

/// Takes a start's track if it comes back and its squared error is below `least2`, which becomes that error.
/// track(back, x, y, start, error2) gives the flow one way, NaN where it is lost, and its squared error.
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

/// Squared error of a match, px^2: by how much the window's pixels differ from their matches, as a distance
/// along the gradient: sum e^2 / sum |grad I|^2 over the pixels that count.
PF_HD float match_error2(float squares, const WindowTensor& sum) { return squares / (sum.xx + sum.yy); }

}  // namespace parafield
