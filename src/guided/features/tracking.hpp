// SPDX-License-Identifier: MIT
#pragma once
#include "guided/features/grid.hpp"
#include "steps/gradient/gradient.hpp"
#include "steps/pyramid/pyramid.hpp"
#include "steps/reduce/reduce.hpp"
#include "steps/warp/warp.hpp"

/// Lucas-Kanade tracking of single features (Lucas, Kanade 1981; Bouguet: Pyramidal implementation of the
/// affine Lucas Kanade feature tracker, 2000). W is the window around a feature, I and J are levels of the
/// two frames, and pixels have weight 1 or 0:
///   G = sum_W grad I grad I^T,  b = sum_W grad I (I(p) - J(p + flow))
///   flow <- flow + G^-1 b
namespace parafield {

/// Parameters in the units of the arithmetic.
struct TrackingParameters {
  int window;       ///< side, px; odd
  int levels;       ///< largest number of levels, counted from the finest
  int iterations;   ///< largest number of iterations on each level
  float check2;     ///< limit of the squared error there and back, px^2; 0 = do not track back
  float least_sum;  ///< lower limit of the smaller eigenvalue of G
};

/// Lower limit of the smaller eigenvalue of G, as a mean over the window, for intensities 0..255.
constexpr float least_texture = 0.05f;

inline TrackingParameters tracking_parameters(const FeatureTracking& tracking) {
  return {tracking.track_window, tracking.track_levels, tracking.track_iterations,
          tracking.track_check * tracking.track_check,
          least_texture * float(tracking.track_window * tracking.track_window)};
}

/// Tracks each cell's feature from one frame to the other, coarse to fine, starting without flow, and then
/// back from where it ends. A level is finished when a step is shorter than 0.01 px or G cannot be solved. A
/// feature is dropped (u = v = NaN) if it does not come back, or if, in either direction, G cannot be solved
/// at level 0 or the feature starts or ends outside a frame or at a pixel that is not finite. Pixels of the
/// window have weight 0 outside I, where their match is outside J, and where a value is not finite. Null
/// `features`: features are at the cell centers.
///
/// Sums over a window are in the fixed order of steps/reduce: pixels are numbered in row order; lane j of 32
/// adds pixels j, j + 32 and so on; then lane j adds lane j + 16 for all j < 16, then lane j + 8 and so on.
template <class Backend>
void track_features(Backend& backend, const Pyramid& from, const Pyramid& to, const FeatureGrid& grid,
                    const Feature* features, const TrackingParameters& p, Track* tracks);

/// One round of propagation. Each dropped feature tries the flows of surrounding tracks (propagation.hpp) as
/// starts at the finest level and takes the best track that comes back. Other tracks are copied. `kept` must
/// not overlap `tracks`. `before`: tracks of the previous round, whose flows have already been tried; null =
/// none.
template <class Backend>
void retry_features(Backend& backend, const Pyramid& from, const Pyramid& to, const FeatureGrid& grid,
                    const TrackingParameters& p, const Track* before, const Track* tracks, Track* kept);

constexpr int lanes_of_window = sum_lanes;
/// Squared length of a step below which a level is finished, px^2.
constexpr float least_step2 = 1e-4f;
constexpr int derivative_reach = 2;
constexpr int max_window = 21, max_patch = max_window + 2 * derivative_reach;

/// A level of a pyramid.
struct Level {
  const float* pixels;
  int stride, width, height;
};
PF_HD Level level_of(const Pyramid& pyramid, int level) {
  const View<float> view = pyramid.level[level];
  return {view.data, int(view.stride()), view.width, view.height};
}

/// Center of a window: the pixel to its upper left, and the interpolation shares of the next pixels, which
/// are the same for all pixels of the window.
struct WindowPlace {
  int x, y;
  float share_x, share_y;
};

/// The place of (x, y). A position far outside is moved closer, but not so close that its window touches the
/// level. NaN counts as outside.
PF_HD WindowPlace place_at(float x, float y, const Level& level) {
  constexpr float beyond = 2 * max_patch;
  x = clamp(x, -beyond, float(level.width) + beyond);
  y = clamp(y, -beyond, float(level.height) + beyond);
  int column = int(x), row = int(y);
  column -= x < float(column);
  row -= y < float(row);
  return {column, row, x - float(column), y - float(row)};
}

/// Whether the window pixel at offset (dx, dy) from the center is inside the level.
PF_HD bool is_inside(const Level& level, const WindowPlace& place, int dx, int dy) {
  const int x = place.x + dx, y = place.y + dy;
  return (x >= 0) & (x + (place.share_x > 0) < level.width) & (y >= 0) &
         (y + (place.share_y > 0) < level.height);
}

/// Bilinear value of the window pixel at offset (dx, dy) from the center. Beyond the border, the nearest
/// pixel is used.
PF_HD float value_at(const Level& level, const WindowPlace& place, int dx, int dy) {
  const int right = level.width - 1, bottom = level.height - 1;
  const int x = place.x + dx, y = place.y + dy;
  const int x0 = clamp(x, 0, right), x1 = clamp(x + 1, 0, right);
  const int top = clamp(y, 0, bottom) * level.stride, down = clamp(y + 1, 0, bottom) * level.stride;
  const float* const pixels = level.pixels;
  return interpolate(interpolate(pixels[top + x0], pixels[top + x1], place.share_x),
                     interpolate(pixels[down + x0], pixels[down + x1], place.share_x), place.share_y);
}

/// A pixel of the window: I and its gradient, or NaN and 0 if the pixel has weight 0.
struct WindowPixel {
  float value, gx, gy;
};

/// `patch`: values of I in rows of `side`. `at`: index of the pixel.
PF_HD WindowPixel window_pixel(const float* patch, int at, int side, bool inside) {
  const float value = patch[at];
  const float gx = derivative(patch[at - 2], patch[at - 1], patch[at + 1], patch[at + 2]);
  const float gy = derivative(patch[at - 2 * side], patch[at - side], patch[at + side], patch[at + 2 * side]);
  const bool counts = inside & is_finite(value) & is_finite(gx) & is_finite(gy);
  return {counts ? value : __builtin_nanf(""), counts ? gx : 0.0f, counts ? gy : 0.0f};
}

/// Difference between a pixel of the window and its match; 0 if the match does not count.
struct Residual {
  float e;
  int counts;  ///< 0 or 1: loops over a bool do not vectorize
};
PF_HD Residual residual(float value, float match, bool inside) {
  const float e = value - match;
  const bool counts = inside & is_finite(e);
  return {counts ? e : 0.0f, counts};
}

/// G, or a lane's part of it.
struct WindowTensor {
  float xx, xy, yy;

  PF_HD void add(float gx, float gy) {
    xx = fma(gx, gx, xx);
    xy = fma(gx, gy, xy);
    yy = fma(gy, gy, yy);
  }
};

/// Whether both eigenvalues of G are at least `least`. An eigenvalue e of (a b; b c) solves (a - e) (c - e) =
/// b^2.
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
  return !(fma(step.u, step.u, step.v * step.v) >= least_step2);  // also true for NaN
}

/// Whether a feature can start or end at (x, y): the position must be inside the frame and its value finite.
PF_HD bool is_seen(const Level& frame, float x, float y) {
  const Match match = locate(x, y, frame.width, frame.height);
  return match.inside & is_finite(sample(frame.pixels, frame.stride, frame.width, frame.height, match));
}

/// Whether a feature that moves there and back ends close to where it started.
PF_HD bool comes_back(const Motion& there, const Motion& back, float check2) {
  const float u = there.u + back.u, v = there.v + back.v;
  return fma(u, u, v * v) < check2;
}

/// Flow in pixels of a level, each of which is 2^levels px.
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

/// Tracks one way from a start. Returns NaN if the feature is lost. `error2`: set to the squared error, px^2;
/// may be null. `window` holds the feature's window at one level: read(level, place) reads it; compare(level,
/// place, b) computes b and returns G of the pixels that count; error2(level, place) returns its squared
/// error.
template <class Window>
PF_HD Motion track_window(const Pyramid& from, const Pyramid& to, const TrackingParameters& p, float x,
                          float y, const Motion& start, float* error2, Window& window) {
  if (!is_seen(level_of(from, 0), x, y)) return no_track();
  const int levels = smaller(p.levels, from.levels);
  Motion flow = reduced(start, levels);
  for (int level = levels - 1; level >= 0; --level) {
    const Level first = level_of(from, level), second = level_of(to, level);
    const float scale = 1 / float(1 << level), at_x = x * scale, at_y = y * scale;
    flow = {2 * flow.u, 2 * flow.v};
    window.read(first, place_at(at_x, at_y, first));
    for (int i = 0; i < p.iterations; ++i) {
      Motion b;
      const WindowTensor sum = window.compare(second, place_at(at_x + flow.u, at_y + flow.v, second), b);
      if (!is_solvable(sum, p.least_sum)) {
        if (level == 0) return no_track();
        break;
      }
      const Motion step = solution(sum, b.u, b.v);
      flow = {flow.u + step.u, flow.v + step.v};
      if (is_last(step)) break;
    }
    if (level == 0 && error2) *error2 = window.error2(second, place_at(at_x + flow.u, at_y + flow.v, second));
  }
  return is_seen(level_of(to, 0), x + flow.u, y + flow.v) ? flow : no_track();
}

/// Tracks a feature there and back. track(back, x, y) returns its flow one way, or NaN if it is lost.
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
