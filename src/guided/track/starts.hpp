#pragma once
#include "guided/track/track.hpp"

/// Propagation: Barnes et al.: PatchMatch, 2009. What moves far and is small has vanished on the coarse levels: most of its
/// features are dropped there, but those that were found tell the others where to look.
namespace parafield {

constexpr int directions = 8;        ///< of a cell, in which starts are looked for
constexpr int start_reach = 8;       ///< cells, at most
constexpr float start_spacing2 = 1;  ///< px^2: starts nearer to each other end alike

constexpr float largest_error2 = 2;  ///< px^2: what matches worse is no track

/// How a dropped feature is tracked again: in level 0 alone, with fewer solutions, as its start is near or wrong; and as many
/// starts may come back by chance, they have to come back nearer. By measurement: KITTI and Middlebury.
inline FeatureTracker again(FeatureTracker tracker) {
  tracker.levels = 1;
  tracker.iterations = smaller(tracker.iterations, 15);
  tracker.check2 *= 0.5f;
  return tracker;
}

PF_HD bool has_flow(const Track& track) { return track.u == track.u; }

PF_HD bool is_dropped(const Track& track) { return (track.x == track.x) & !has_flow(track); }

/// Flow of the nearest track in a direction: left, right, up, down, and diagonally; NaN where none is near, or its flow was
/// tried a round before. (Tracks stay: what was the nearest one then, is it now, or is behind a new one.)
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

/// Whether one of the starts can stand for the other; false where one is NaN.
PF_HD bool are_alike(const Motion& a, const Motion& b) {
  const float u = a.u - b.u, v = a.v - b.v;
  return fma(u, u, v * v) < start_spacing2;
}

/// Takes a start's track where it matches better than `least2`, which then is its error, and comes back.
/// track(back, x, y, start, error2) gives the flow one way, NaN where it is lost, and how well it matches.
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

/// px^2: by how much the window's pixels differ from their matches, in steps of its gradient: sum e^2 / sum |grad I|^2 of
/// those that count.
PF_HD float match_error2(float squares, const WindowTensor& sum) { return squares / (sum.xx + sum.yy); }

}  // namespace parafield
