#include "core/cpu/backend.hpp"
#include "guided/features/propagation.hpp"

// A thread tracks a row of cells, one feature after the other. Loops run over whole rows of a window, or over
// all its pixels, numbered by rows, as vectors whose lanes are those of the sums. Gathering the pixels
// instead takes three times as long.
namespace parafield {
namespace {

constexpr int lanes = lanes_of_window;
constexpr int whole(int count) { return (count + lanes - 1) / lanes * lanes; }
constexpr int max_row = 32;  // what a loop along a row of a square may write
constexpr int max_pixels = whole(max_window * max_window), max_patch_pixels = whole(max_patch * max_patch);

/// Pixels of a square, numbered by rows, in whole vectors.
struct Square {
  int side, count;
  alignas(64) int dx[max_patch_pixels], dy[max_patch_pixels];  // off its middle
  alignas(64) int exists[max_patch_pixels];                    // 0 after the last one
};

void fill(Square& square, int side) {
  square.side = side;
  square.count = whole(side * side);
  for (int i = 0; i < square.count; ++i) {
    square.exists[i] = i < side * side;
    square.dx[i] = square.exists[i] ? i % side - side / 2 : 0;
    square.dy[i] = square.exists[i] ? i / side - side / 2 : 0;
  }
}

/// Squares of all features: the window, and the patch of values that its gradients need.
struct Squares {
  Square window, patch;
};

/// A feature's window at one level.
struct Window {
  alignas(64) float value[max_pixels + max_row], gx[max_pixels + max_row], gy[max_pixels + max_row];
  alignas(64) int counts[max_pixels];  // whether the match counts
};

/// Calls f(row, number of its first pixel, column) for all pixels of a square. Rows are as long as vectors:
/// values that a row writes beyond its end are overwritten by the next.
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

/// Reads the level's values in a square, 0 after the last one; returns which of them lie inside the level.
/// `out` has room for max_row pixels more, which are not defined.
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

void read_window(const Level& from, const WindowPlace& place, const Squares& squares, Window& out) {
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
  float* __restrict value = out.value;
  float* __restrict gx = out.gx;
  float* __restrict gy = out.gy;
  const int window = squares.window.side, side = squares.patch.side;
  const float* const first_pixel = patch + derivative_reach * (side + 1);
  for_each_row(
      window, [ =, &inside ](int row, int first, int column) __attribute__((always_inline)) {
        const WindowPixel pixel =
            window_pixel(first_pixel, row * side + column, side, inside[first + column] != 0);
        value[first + column] = pixel.value;
        gx[first + column] = pixel.gx;
        gy[first + column] = pixel.gy;
      });
  for (int i = window * window; i < count; ++i) value[i] = gx[i] = gy[i] = 0;
}

/// G of all pixels, or of those whose match counts.
template <bool All>
WindowTensor tensor_of(const Window& window, int count) {
  alignas(64) float xx[lanes] = {}, xy[lanes] = {}, yy[lanes] = {};
  for (int i = 0; i < count; i += lanes)
    for (int j = 0; j < lanes; ++j) {
      WindowTensor sum{xx[j], xy[j], yy[j]};
      const bool counts = All || window.counts[i + j];
      sum.add(counts ? window.gx[i + j] : 0.0f, counts ? window.gy[i + j] : 0.0f);
      xx[j] = sum.xx;
      xy[j] = sum.xy;
      yy[j] = sum.yy;
    }
  return {add_lanes(xx), add_lanes(xy), add_lanes(yy)};
}

/// Computes b; returns whether the match of a pixel of weight 1 does not count.
bool compare(const Level& to, const WindowPlace& place, const Square& square, Window& window, Motion& b) {
  alignas(64) float matches[max_pixels + max_row];
  alignas(64) int outside[max_pixels];
  const int* const inside = read_values(to, place, square, matches, outside);
  alignas(64) float bx[lanes] = {}, by[lanes] = {};
  alignas(64) int lost[lanes] = {};
  const float *const value = window.value, *const gx = window.gx, *const gy = window.gy;
  int* const counts = window.counts;
  for (int i = 0; i < square.count; i += lanes) {
#pragma GCC ivdep
    for (int j = 0; j < lanes; ++j) {
      const Residual r = residual(value[i + j], matches[i + j], inside[i + j] != 0);
      bx[j] = fma(gx[i + j], r.e, bx[j]);
      by[j] = fma(gy[i + j], r.e, by[j]);
      counts[i + j] = r.counts;
      lost[j] |= (r.counts | ((gx[i + j] == 0) & (gy[i + j] == 0))) ? 0 : 1;
    }
  }
  int any = 0;
  for (int j = 0; j < lanes; ++j) any |= lost[j];
  b = {add_lanes(bx), add_lanes(by)};
  return any != 0;
}

/// Squared error of a window at a place, px^2.
float match_error2(const Level& to, const WindowPlace& place, const Square& square, Window& window) {
  alignas(64) float matches[max_pixels + max_row];
  alignas(64) int outside[max_pixels];
  const int* const inside = read_values(to, place, square, matches, outside);
  alignas(64) float squares[lanes] = {};
  const float* const value = window.value;
  int* const counts = window.counts;
  for (int i = 0; i < square.count; i += lanes) {
#pragma GCC ivdep
    for (int j = 0; j < lanes; ++j) {
      const Residual r = residual(value[i + j], matches[i + j], inside[i + j] != 0);
      squares[j] = fma(r.e, r.e, squares[j]);
      counts[i + j] = r.counts;
    }
  }
  return match_error2(add_lanes(squares), tensor_of<false>(window, square.count));
}

/// Tracks one way from a start. `error2`: null = not asked for.
Motion track(const Pyramid& from, const Pyramid& to, const Squares& squares, const TrackingParameters& p,
             float x, float y, const Motion& start, float* error2) {
  if (!is_seen(level_of(from, 0), x, y)) return no_track();
  Window window;
  const int count = squares.window.count;
  const int levels = smaller(p.levels, from.levels);
  Motion flow = reduced(start, levels);
  for (int level = levels - 1; level >= 0; --level) {
    const Level first = level_of(from, level), second = level_of(to, level);
    const float scale = 1 / float(1 << level), at_x = x * scale, at_y = y * scale;
    flow = {2 * flow.u, 2 * flow.v};
    read_window(first, place_at(at_x, at_y, first), squares, window);
    const WindowTensor all = tensor_of<true>(window, count);
    for (int i = 0; i < p.iterations; ++i) {
      Motion b;
      const bool is_part =
          compare(second, place_at(at_x + flow.u, at_y + flow.v, second), squares.window, window, b);
      const WindowTensor sum = is_part ? tensor_of<false>(window, count) : all;
      if (!is_solvable(sum, p.least_sum)) {
        if (level == 0) return no_track();
        break;
      }
      const Motion step = solution(sum, b.u, b.v);
      flow = {flow.u + step.u, flow.v + step.v};
      if (is_last(step)) break;
    }
    if (level == 0 && error2)
      *error2 = match_error2(second, place_at(at_x + flow.u, at_y + flow.v, second), squares.window, window);
  }
  return is_seen(level_of(to, 0), x + flow.u, y + flow.v) ? flow : no_track();
}

Squares squares_of(const TrackingParameters& p) {
  Squares squares;
  fill(squares.window, p.window);
  fill(squares.patch, p.window + 2 * derivative_reach);
  return squares;
}

}  // namespace

template <>
void track_features(Cpu& cpu, const Pyramid& from, const Pyramid& to, const FeatureGrid& grid,
                    const Feature* features, const TrackingParameters& p, Track* tracks) {
  const Squares squares = squares_of(p);
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

template <>
void retry_features(Cpu& cpu, const Pyramid& from, const Pyramid& to, const FeatureGrid& grid,
                    const TrackingParameters& first, const Track* before, const Track* tracks, Track* kept) {
  const TrackingParameters p = again(first);
  const Squares squares = squares_of(p);
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

}  // namespace parafield
