#pragma once
#include "steps/gradient/gradient.hpp"
#include "steps/pyramid/pyramid.hpp"
#include "steps/reduce/reduce.hpp"
#include "steps/warp/warp.hpp"
#include "guided/feature_grid.hpp"

/// Lucas-Kanade of single features: Lucas, Kanade 1981; Bouguet: Pyramidal implementation of the affine Lucas Kanade feature
/// tracker, 2000. For a window W around the feature, I and J levels of the two frames, each pixel of weight 1 or 0:
///   G = sum_W grad I grad I^T,  b = sum_W grad I (I(p) - J(p + flow))
///   flow <- flow + G^-1 b
namespace parafield {

/// The method's parameters as the arithmetic needs them.
struct FeatureTracker {
  int window;       ///< px, odd
  int levels;       ///< of the pyramids, from the finest on, at most
  int iterations;   ///< on each level, at most
  float check2;     ///< px^2 between a feature and where it comes back to; 0 = not tracked back
  float least_sum;  ///< smaller eigenvalue that G has at least, of a window's sum
};

/// A window's G, for each pixel of the window, has a smaller eigenvalue of at least this; otherwise it cannot be solved. Of
/// intensities 0..255.
constexpr float least_texture = 0.05f;

inline FeatureTracker feature_tracker(const FeatureTracking& tracking) {
  return {tracking.track_window, tracking.track_levels, tracking.track_iterations,
          tracking.track_check * tracking.track_check,
          least_texture * float(tracking.track_window * tracking.track_window)};
}

/// Tracks each cell's feature from one frame to the other, coarse to fine from no flow, and back from where it ends. On each
/// level solutions end where one moves by less than 0.01 px, or G cannot be solved. u = v = NaN where the feature is dropped:
/// G cannot be solved at level 0, it starts or ends outside a frame or at a pixel that is no number, there or back, or it does
/// not come back. Pixels of the window have no weight outside I, or where their match is outside J, or where one of the values
/// is no number.
/// `features`: one for each cell; null = the cells' centers.
///
/// Sums over a window have a fixed order, as those of steps/reduce: its pixels are numbered by rows, lane j of 32 adds pixels
/// j, j + 32, ... one after the other; then lane j adds lane j + 16 for all j < 16, j + 8 for all j < 8, and so on.
template <class Backend>
void track_features(Backend& backend, const Pyramid& from, const Pyramid& to, const FeatureGrid& grid,
                    const Feature* features, const FeatureTracker& tracker, Track* tracks);

/// A round of propagation: each dropped feature tries the flows of tracks around (starts.hpp) as starts on the finest levels;
/// of those that come back as above, the one that matches best is its track. Tracks are copied. All read the tracks as they
/// came in: `kept` is other memory. `before`: those that the round before began with, whose flows have been tried; null = none.
template <class Backend>
void retry_features(Backend& backend, const Pyramid& from, const Pyramid& to, const FeatureGrid& grid,
                    const FeatureTracker& tracker, const Track* before, const Track* tracks, Track* kept);

constexpr int lanes_of_window = sum_lanes;
constexpr float least_step2 = 1e-4f;  ///< px^2: a solution that moves by less is the last one of its level
constexpr int derivative_reach = 2;
constexpr int max_window = 21, max_patch = max_window + 2 * derivative_reach;

/// A level of a pyramid; pitch in floats.
struct Level {
  const float* pixels;
  int pitch, width, height;
};
PF_HD Level level_of(const Pyramid& pyramid, int level) {
  const View<float> view = pyramid.level[level];
  return {view.data, int(view.pitch / std::ptrdiff_t(sizeof(float))), view.width, view.height};
}

/// Where the middle of a window is, between the pixels: the one to its upper left and the shares of the next ones. All of a
/// window's pixels have the same shares.
struct WindowPlace {
  int x, y;
  float share_x, share_y;
};

/// Kept so near the level that no window beyond that touches it; NaN is outside.
PF_HD WindowPlace place_at(float x, float y, const Level& level) {
  constexpr float beyond = 2 * max_patch;
  x = clamp(x, -beyond, float(level.width) + beyond);
  y = clamp(y, -beyond, float(level.height) + beyond);
  int column = int(x), row = int(y);
  column -= x < float(column);
  row -= y < float(row);
  return {column, row, x - float(column), y - float(row)};
}

/// Whether the window's pixel (dx, dy) off its middle lies within the level.
PF_HD bool is_inside(const Level& level, const WindowPlace& place, int dx, int dy) {
  const int x = place.x + dx, y = place.y + dy;
  return (x >= 0) & (x + (place.share_x > 0) < level.width) & (y >= 0) &
         (y + (place.share_y > 0) < level.height);
}

/// The bilinear value there; beyond the border the nearest pixel stands in.
PF_HD float value_at(const Level& level, const WindowPlace& place, int dx, int dy) {
  const int right = level.width - 1, bottom = level.height - 1;
  const int x = place.x + dx, y = place.y + dy;
  const int x0 = clamp(x, 0, right), x1 = clamp(x + 1, 0, right);
  const int top = clamp(y, 0, bottom) * level.pitch, down = clamp(y + 1, 0, bottom) * level.pitch;
  const float* const pixels = level.pixels;
  return interpolate(interpolate(pixels[top + x0], pixels[top + x1], place.share_x),
                     interpolate(pixels[down + x0], pixels[down + x1], place.share_x), place.share_y);
}

/// A pixel of the window: I and its gradient; NaN and a gradient of 0 where it has no weight.
struct WindowPixel {
  float value, gx, gy;
};

/// `patch`: values of I around it, `side` of them a row.
PF_HD WindowPixel window_pixel(const float* patch, int at, int side, bool inside) {
  const float value = patch[at];
  const float gx = derivative(patch[at - 2], patch[at - 1], patch[at + 1], patch[at + 2]);
  const float gy = derivative(patch[at - 2 * side], patch[at - side], patch[at + side], patch[at + 2 * side]);
  const bool counts = inside & is_finite(value) & is_finite(gx) & is_finite(gy);
  return {counts ? value : __builtin_nanf(""), counts ? gx : 0.0f, counts ? gy : 0.0f};
}

/// G, or a lane's share of it.
struct WindowTensor {
  float xx, xy, yy;

  PF_HD void add(float gx, float gy) {
    xx = fma(gx, gx, xx);
    xy = fma(gx, gy, xy);
    yy = fma(gy, gy, yy);
  }
};

/// Whether both eigenvalues of G are at least `least`. (a - e) (c - e) = b^2 for an eigenvalue e of (a b; b c).
PF_HD bool is_solvable(const WindowTensor& sum, float least) {
  const float a = sum.xx - least, c = sum.yy - least;
  return (a >= 0) & (c >= 0) & (fma(a, c, -(sum.xy * sum.xy)) >= 0);
}

/// G^-1 b.
PF_HD Motion solution(const WindowTensor& sum, float bx, float by) {
  const float inverse = 1 / fma(sum.xx, sum.yy, -(sum.xy * sum.xy));
  return {fma(sum.yy, bx, -(sum.xy * by)) * inverse, fma(sum.xx, by, -(sum.xy * bx)) * inverse};
}

PF_HD bool is_last(const Motion& step) {
  return !(fma(step.u, step.u, step.v * step.v) >= least_step2);  // NaN: nothing follows
}

/// Whether a feature can start or end there: inside the frame, at a number.
PF_HD bool is_seen(const Level& frame, float x, float y) {
  const Match match = locate(x, y, frame.width, frame.height);
  return match.inside & is_finite(sample(frame.pixels, frame.pitch, frame.width, frame.height, match));
}

/// Whether a feature that moves there and then back ends where it was.
PF_HD bool comes_back(const Motion& there, const Motion& back, float check2) {
  const float u = there.u + back.u, v = there.v + back.v;
  return fma(u, u, v * v) < check2;
}

/// `flow` in a level where 2^levels px are one.
PF_HD Motion reduced(const Motion& flow, int levels) {
  const float scale = 1 / float(1 << levels);
  return {flow.u * scale, flow.v * scale};
}

PF_HD Motion no_track() { return {__builtin_nanf(""), __builtin_nanf("")}; }

PF_HD Feature feature_of(const FeatureGrid& grid, const Feature* features, int cell) {
  if (features) return features[cell];
  const int row = cell / grid.columns;
  return {grid.center_x(cell - row * grid.columns), grid.center_y(row)};
}

/// Tracks a feature there and back; track(from, to, x, y) gives its flow one way, NaN where it is lost.
template <class TrackOneWay>
PF_HD Track there_and_back(const Feature& feature, float check2, TrackOneWay track) {
  Motion flow = track(false, feature.x, feature.y);
  if (check2 > 0 && flow.u == flow.u) {
    const Motion back = track(true, feature.x + flow.u, feature.y + flow.v);
    if (!comes_back(flow, back, check2)) flow = no_track();
  }
  return {feature.x, feature.y, flow.u, flow.v};
}

}  // namespace parafield
