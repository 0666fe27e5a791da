// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "guided/features/propagation.hpp"

// Each thread tracks a row of cells. Loops run over whole rows of a window, or over all its pixels in vectors
// whose lanes are the lanes of the sums. Gathering the pixels instead takes three times as long.
namespace parafield {
namespace {

constexpr int lanes = lanes_of_window;
constexpr int whole(int count) { return (count + lanes - 1) / lanes * lanes; }
constexpr int max_row = 32;  // longest row that a loop over a square may write
constexpr int max_pixels = whole(max_window * max_window), max_patch_pixels = whole(max_patch * max_patch);

/// Pixels of a square, numbered in row order and padded to whole vectors.
struct Square {
  int side, count;
  alignas(64) int dx[max_patch_pixels], dy[max_patch_pixels];  // offset from the center
  alignas(64) int exists[max_patch_pixels];                    // 0 after the last pixel

  explicit Square(int side) : side(side), count(whole(side * side)) {
    for (int i = 0; i < count; ++i) {
      exists[i] = i < side * side;
      dx[i] = exists[i] ? i % side - side / 2 : 0;
      dy[i] = exists[i] ? i / side - side / 2 : 0;
    }
  }
};

/// The squares of every feature: the window, and the patch of values that its gradients need.
struct Squares {
  Square window, patch;

  explicit Squares(const TrackingParameters& p) : window(p.window), patch(p.window + 2 * derivative_reach) {}
};

/// Calls f(row, index of the row's first pixel, column) for all pixels of a square. Rows are extended to
/// whole vectors: the values that a row writes past its end are overwritten by the next row.
template <class F>
PF_HD void for_each_row(int side, F f) {
  if (side <= 16) {
    for (int row = 0; row < side; ++row) {
#pragma GCC ivdep
      for (int column = 0; column < 16; ++column) f(row, row * side, column);
    }
  } else {
    for (int row = 0; row < side; ++row) {
#pragma GCC ivdep
      for (int column = 0; column < 32; ++column) f(row, row * side, column);
    }
  }
}

/// Reads the level's values in a square and fills the rest of the last vector with 0. Returns which of the
/// values are inside the level. `out` must have room for max_row more pixels, which are left undefined.
const int* read_values(const Level& from, const WindowPlace& place, const Square& square,
                       float* __restrict out, int* __restrict inside) {
  const Level level = from;
  const WindowPlace middle = place;
  const int side = square.side, row_end = side <= 16 ? 16 : 32;
  const int left = middle.x - side / 2, top = middle.y - side / 2;
  if (left >= 0 && left + row_end < level.width && top >= 0 && top + side < level.height) {
    const float* const corner = level.pixels + top * level.stride + left;
    const int stride = level.stride;
    for_each_row(
        side, [=](int row, int first, int column) __attribute__((always_inline)) {
          const float *above = corner + row * stride + column, *below = above + stride;
          out[first + column] = interpolate(interpolate(above[0], above[1], middle.share_x),
                                            interpolate(below[0], below[1], middle.share_x), middle.share_y);
        });
    for (int i = side * side; i < square.count; ++i) out[i] = 0;
    return square.exists;
  }
  const int *const dx = square.dx, *const dy = square.dy, *const exists = square.exists;
#pragma GCC ivdep
  for (int i = 0; i < square.count; ++i) {
    out[i] = value_at(level, middle, dx[i], dy[i]);
    inside[i] = is_inside(level, middle, dx[i], dy[i]) ? exists[i] : 0;
  }
  return inside;
}

float add_lanes(float* lane) {
  for (int step = lanes / 2; step > 0; step /= 2)
    for (int j = 0; j < step; ++j) lane[j] += lane[j + step];
  return lane[0];
}

/// A feature's window at one level.
struct Window {
  const Squares& squares;
  alignas(64) float value[max_pixels + max_row], gx[max_pixels + max_row], gy[max_pixels + max_row];
  alignas(64) int counts[max_pixels];  // whether each pixel's match counts
  WindowTensor all;                    // G of all pixels

  explicit Window(const Squares& squares) : squares(squares) {}

  void read(const Level& from, const WindowPlace& place) {
    alignas(64) float patch[max_patch_pixels + 2 * max_row];
    alignas(64) int unused[max_patch_pixels], inside[max_pixels + max_row] = {};
    read_values(from, place, squares.patch, patch, unused);
    const Level level = from;
    const WindowPlace middle = place;
    const int *const dx = squares.window.dx, *const dy = squares.window.dy;
    const int* const exists = squares.window.exists;
    const int count = squares.window.count;
#pragma GCC ivdep
    for (int i = 0; i < count; ++i) inside[i] = is_inside(level, middle, dx[i], dy[i]) ? exists[i] : 0;
    float* __restrict to = value, * __restrict to_gx = gx, * __restrict to_gy = gy;
    const int window = squares.window.side, side = squares.patch.side;
    const float* const first_pixel = patch + derivative_reach * (side + 1);
    for_each_row(
        window, [ =, &inside ](int row, int first, int column) __attribute__((always_inline)) {
          const WindowPixel pixel =
              window_pixel(first_pixel, row * side + column, side, inside[first + column] != 0);
          to[first + column] = pixel.value;
          to_gx[first + column] = pixel.gx;
          to_gy[first + column] = pixel.gy;
        });
    for (int i = window * window; i < count; ++i) to[i] = to_gx[i] = to_gy[i] = 0;
    all = tensor<true>();
  }

  WindowTensor compare(const Level& to, const WindowPlace& place, Motion& b) {
    alignas(64) float bx[lanes] = {}, by[lanes] = {};
    alignas(64) int lost[lanes] = {};  // whether any pixel of weight 1 has a match that does not count
    for_each_residual(
        to, place, [&](const Residual& r, float gx, float gy, int j) __attribute__((always_inline)) {
          bx[j] = fma(gx, r.e, bx[j]);
          by[j] = fma(gy, r.e, by[j]);
          lost[j] |= (r.counts | ((gx == 0) & (gy == 0))) ? 0 : 1;
        });
    int any = 0;
    for (int j = 0; j < lanes; ++j) any |= lost[j];
    b = {add_lanes(bx), add_lanes(by)};
    return any ? tensor<false>() : all;
  }

  float error2(const Level& to, const WindowPlace& place) {
    alignas(64) float sum[lanes] = {};
    for_each_residual(
        to, place, [&](const Residual& r, float, float, int j) __attribute__((always_inline)) {
          sum[j] = fma(r.e, r.e, sum[j]);
        });
    return match_error2(add_lanes(sum), tensor<false>());
  }

 private:
  /// Calls f(residual, gx, gy, lane) for each pixel and its match at a place. Sets `counts`.
  template <class F>
  PF_HD void for_each_residual(const Level& to, const WindowPlace& place, F f) {
    alignas(64) float matches[max_pixels + max_row];
    alignas(64) int outside[max_pixels];
    const int* const inside = read_values(to, place, squares.window, matches, outside);
    const float *const values = value, *const values_gx = gx, *const values_gy = gy;
    int* const matched = counts;
    for (int i = 0; i < squares.window.count; i += lanes) {
#pragma GCC ivdep
      for (int j = 0; j < lanes; ++j) {
        const Residual r = residual(values[i + j], matches[i + j], inside[i + j] != 0);
        f(r, values_gx[i + j], values_gy[i + j], j);
        matched[i + j] = r.counts;
      }
    }
  }

  /// G of all pixels, or only of the pixels whose match counts.
  template <bool All>
  WindowTensor tensor() const {
    alignas(64) float xx[lanes] = {}, xy[lanes] = {}, yy[lanes] = {};
    for (int i = 0; i < squares.window.count; i += lanes)
      for (int j = 0; j < lanes; ++j) {
        WindowTensor sum{xx[j], xy[j], yy[j]};
        const bool is_in = All || counts[i + j];
        sum.add(is_in ? gx[i + j] : 0.0f, is_in ? gy[i + j] : 0.0f);
        xx[j] = sum.xx;
        xy[j] = sum.xy;
        yy[j] = sum.yy;
      }
    return {add_lanes(xx), add_lanes(xy), add_lanes(yy)};
  }
};

Motion track(const Pyramid& from, const Pyramid& to, const Squares& squares, const TrackingParameters& p,
             float x, float y, const Motion& start, float* error2) {
  Window window(squares);
  return track_window(from, to, p, x, y, start, error2, window);
}

}  // namespace

template <class Backend>
void track_features(Backend& cpu, const Pyramid& from, const Pyramid& to, const FeatureGrid& grid,
                    const Feature* features, const TrackingParameters& p, Track* tracks) {
  const Squares squares(p);
  cpu.rows(grid.rows, [&from, &to, &squares, grid, features, p, tracks](int row) {
    for (int column = 0; column < grid.columns; ++column) {
      const int cell = row * grid.columns + column;
      tracks[cell] = there_and_back(
          feature_of(grid, features, cell),
          p.check2, [&](bool back, float x, float y) __attribute__((always_inline)) {
            return track(back ? to : from, back ? from : to, squares, p, x, y, {0, 0}, nullptr);
          });
    }
  });
}

template <class Backend>
void retry_features(Backend& cpu, const Pyramid& from, const Pyramid& to, const FeatureGrid& grid,
                    const TrackingParameters& first, const Track* before, const Track* tracks, Track* kept) {
  const TrackingParameters p = again(first);
  const Squares squares(p);
  cpu.rows(grid.rows, [&from, &to, &squares, &p, grid, before, tracks, kept](int row) {
    const auto one_way = [&](bool back, float x, float y, const Motion& start, float& error2)
        __attribute__((always_inline)) {
      return track(back ? to : from, back ? from : to, squares, p, x, y, start, back ? nullptr : &error2);
    };
    for (int column = 0; column < grid.columns; ++column) {
      Track feature = tracks[row * grid.columns + column];
      if (is_dropped(feature)) {
        Motion starts[directions];
        float least2 = largest_error2;
        for (int i = 0; i < directions; ++i) {
          starts[i] = start_of(before, tracks, grid, column, row, i);
          bool is_new = starts[i].u == starts[i].u;
          for (int j = 0; j < i; ++j) is_new &= !are_alike(starts[i], starts[j]);
          if (is_new) try_start(starts[i], p.check2, one_way, least2, feature);
        }
      }
      kept[row * grid.columns + column] = feature;
    }
  });
}

PF_STEP(track_features<Cpu>);
PF_STEP(retry_features<Cpu>);

}  // namespace parafield
