#include "core/cpu/backend.hpp"
#include "guided/track/track.hpp"

// A thread tracks a row of cells, one feature after the other; the loops run over the pixels of a window, a vector of which
// are the lanes of its sums.
namespace parafield {
namespace {

constexpr int lanes = lanes_of_window;
constexpr int max_pixels = (max_window * max_window + lanes - 1) / lanes * lanes;
constexpr int max_patch_pixels = (max_patch * max_patch + lanes - 1) / lanes * lanes;

/// The pixels of a square, numbered by rows; whole vectors of them.
struct Pixels {
  int count;
  alignas(64) int dx[max_patch_pixels], dy[max_patch_pixels];  // off its middle
};

/// Those after the last one are outside of every level.
void fill(Pixels& pixels, int side) {
  constexpr int far = 1 << 24;
  pixels.count = (side * side + lanes - 1) / lanes * lanes;
  for (int i = 0; i < pixels.count; ++i) {
    const bool exists = i < side * side;
    pixels.dx[i] = exists ? i % side - side / 2 : far;
    pixels.dy[i] = exists ? i / side - side / 2 : 0;
  }
}

/// What the features of a window's side share.
struct Windows {
  Pixels window, patch;
  alignas(64) int at[max_pixels];  // of the window's pixels in a patch
  int side;                        // of a patch
};

void fill(Windows& windows, int window) {
  const int side = window + 2 * derivative_reach;
  fill(windows.window, window);
  fill(windows.patch, side);
  windows.side = side;
  for (int i = 0; i < windows.window.count; ++i) {
    const int pixel = smaller(i, window * window - 1);
    windows.at[i] = (pixel / window + derivative_reach) * side + pixel % window + derivative_reach;
  }
}

/// A feature's window in one level.
struct Window {
  alignas(64) float value[max_pixels], gx[max_pixels], gy[max_pixels];
  alignas(64) int counts[max_pixels];  // -1 where the match does, otherwise 0
};

float add_lanes(float* lane) {
  for (int step = lanes / 2; step > 0; step /= 2)
    for (int j = 0; j < step; ++j) lane[j] += lane[j + step];
  return lane[0];
}

void read_window(const Level& from, const Place& place, const Windows& windows, Window& out) {
  alignas(64) float patch[max_patch_pixels];
  const Level level = from;
  const Place middle = place;
  const int* const dx = windows.patch.dx;
  const int* const dy = windows.patch.dy;
#pragma GCC ivdep
  for (int i = 0; i < windows.patch.count; ++i) patch[i] = value_at(level, middle, dx[i], dy[i]);
  const int* const column = windows.window.dx;
  const int* const row = windows.window.dy;
  const int* const at = windows.at;
  float* __restrict value = out.value;
  float* __restrict gx = out.gx;
  float* __restrict gy = out.gy;
  const int side = windows.side;
#pragma GCC ivdep
  for (int i = 0; i < windows.window.count; ++i) {
    const WindowPixel pixel = window_pixel(patch, at[i], side, is_inside(level, middle, column[i], row[i]));
    value[i] = pixel.value;
    gx[i] = pixel.gx;
    gy[i] = pixel.gy;
  }
}

/// G of all pixels, or of those that count.
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

/// b; returns whether a pixel of some weight is lost.
bool compare(const Level& to, const Place& place, const Pixels& pixels, Window& window, Motion& b) {
  alignas(64) float bx[lanes] = {}, by[lanes] = {};
  alignas(64) int lost[lanes] = {};
  const Level level = to;
  const Place middle = place;
  const float *const value = window.value, *const gx = window.gx, *const gy = window.gy;
  int* const counts = window.counts;
  for (int i = 0; i < pixels.count; i += lanes) {
    const int* const dx = pixels.dx + i;
    const int* const dy = pixels.dy + i;
#pragma GCC ivdep
    for (int j = 0; j < lanes; ++j) {
      const float e = value[i + j] - value_at(level, middle, dx[j], dy[j]);
      const bool is_counted = is_inside(level, middle, dx[j], dy[j]) & is_finite(e);
      const float kept = is_counted ? e : 0.0f;
      bx[j] = fma(gx[i + j], kept, bx[j]);
      by[j] = fma(gy[i + j], kept, by[j]);
      counts[i + j] = is_counted ? -1 : 0;
      lost[j] |= (is_counted | ((gx[i + j] == 0) & (gy[i + j] == 0))) ? 0 : -1;
    }
  }
  int any = 0;
  for (int j = 0; j < lanes; ++j) any |= lost[j];
  b = {add_lanes(bx), add_lanes(by)};
  return any != 0;
}

Motion track(const Pyramid& from, const Pyramid& to, const Windows& windows, const FeatureTracker& p, float x,
             float y) {
  if (!is_seen(level_of(from, 0), x, y)) return no_track();
  Window window;
  const int count = windows.window.count;
  Motion flow{0, 0};
  for (int level = from.levels - 1; level >= 0; --level) {
    const Level first = level_of(from, level), second = level_of(to, level);
    const float scale = 1 / float(1 << level), at_x = x * scale, at_y = y * scale;
    flow = {2 * flow.u, 2 * flow.v};
    read_window(first, place_at(at_x, at_y, first), windows, window);
    const WindowTensor all = tensor_of<true>(window, count);
    for (int i = 0; i < p.iterations; ++i) {
      Motion b;
      const bool is_part =
          compare(second, place_at(at_x + flow.u, at_y + flow.v, second), windows.window, window, b);
      const WindowTensor sum = is_part ? tensor_of<false>(window, count) : all;
      if (!is_solvable(sum, p.least_sum)) {
        if (level == 0) return no_track();
        break;
      }
      const Motion step = solution(sum, b.u, b.v);
      flow = {flow.u + step.u, flow.v + step.v};
      if (is_last(step)) break;
    }
  }
  return is_seen(level_of(to, 0), x + flow.u, y + flow.v) ? flow : no_track();
}

}  // namespace

template <>
void track_features(Cpu& cpu, const Pyramid& from, const Pyramid& to, const FeatureGrid& grid,
                    const Feature* features, const FeatureTracker& tracker, Track* tracks) {
  Windows windows;
  fill(windows, tracker.window);
  cpu.rows(grid.rows, [&from, &to, &windows, grid, features, tracker, tracks](int row) {
    for (int column = 0; column < grid.columns; ++column) {
      const int cell = row * grid.columns + column;
      tracks[cell] = there_and_back(
          feature_of(grid, features, cell),
          tracker.check2, [&](bool back, float x, float y) __attribute__((always_inline)) {
            return track(back ? to : from, back ? from : to, windows, tracker, x, y);
          });
    }
  });
}

}  // namespace parafield
