// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "gradient/adaptive_ridge/fusion/fusion.hpp"
#include "gradient/adaptive_ridge/settle/settle.hpp"

// Most seeds have no neighbor with a different flow and are simply copied.
namespace parafield {
namespace {

/// The points around a seed at which each flow is compared.
struct SeedPoints {
  int x, y;
  Color colors[settle_points];
  float census[settle_points];
  int weights[settle_points];

  SeedPoints(const SettleFrames& frames, int seed_x, int seed_y) : x(seed_x), y(seed_y) {
    const ColorPlanes from = planes_of(frames.colors[0]);
    const Color own = color_at(from, x, y);
    const float middle = frames.luma[0](x, y);
    for (int k = 0; k < settle_points; ++k) {
      const int at_x = x + settle_offset(k), at_y = y + settle_offset(k / settle_side);
      const bool exists = (at_x >= 0) & (at_x < from.width) & (at_y >= 0) & (at_y < from.height);
      colors[k] = exists ? color_at(from, at_x, at_y) : own;
      census[k] = exists ? soft_census(frames.luma[0](at_x, at_y), middle) : 0;
      weights[k] = exists ? settle_weight(colors[k], own) : 0;
    }
  }

  int cost(const SettleFrames& frames, float u, float v) const {
    const ColorPlanes to = planes_of(frames.colors[1]);
    const View<const float> luma = frames.luma[1];
    const int to_x = nearest_pixel(float(x) + u), to_y = nearest_pixel(float(y) + v);
    const auto is_inside = [&](int at_x, int at_y) {
      return (at_x >= 0) & (at_x < to.width) & (at_y >= 0) & (at_y < to.height);
    };
    const bool seen = is_inside(to_x, to_y);
    const float middle = seen ? luma(to_x, to_y) : 0;
    int sum = 0;
    for (int k = 0; k < settle_points; ++k) {
      const int at_x = to_x + settle_offset(k), at_y = to_y + settle_offset(k / settle_side);
      const int cost = seen & is_inside(at_x, at_y)
                           ? settle_cost(colors[k], color_at(to, at_x, at_y), census[k],
                                         soft_census(luma(at_x, at_y), middle))
                           : most_settle_cost;
      sum += weights[k] * cost;
    }
    return sum;
  }
};

Motion settled_motion(const Matches& matches, const SettleFrames& frames, int column, int row) {
  const SeedGrid& grid = matches.grid;
  Motion tried[settle_neighbors + 1] = {{matches.u(column, row), matches.v(column, row)}};
  int count = 1;
  for (int k = 0; k < settle_neighbors; ++k) {
    const int neighbor = settle_neighbor(grid, column, row, k);
    if (neighbor < 0) continue;
    const int at_column = neighbor % grid.columns, at_row = neighbor / grid.columns;
    if (!matches.valid(at_column, at_row)) continue;
    const Motion motion{matches.u(at_column, at_row), matches.v(at_column, at_row)};
    bool is_new = true;
    for (int i = 0; i < count; ++i)
      is_new &= !is_within(tried[i].u, tried[i].v, motion.u, motion.v, distinct_motion);
    if (is_new) tried[count++] = motion;
  }
  if (count == 1) return tried[0];
  const SeedPoints points(frames, grid.x(column), grid.y(row));
  const int own = points.cost(frames, tried[0].u, tried[0].v);
  int best = 0, least = own;
  for (int i = 1; i < count; ++i) {
    const int cost = points.cost(frames, tried[i].u, tried[i].v);
    if (cost < least) best = i, least = cost;
  }
  return tried[is_much_better(least, own) ? best : 0];
}

}  // namespace

template <class Backend>
void settle_matches(Backend& cpu, const Matches& matches, const SettleFrames& frames,
                    const Matches& settled) {
  cpu.rows(matches.grid.rows, [&](int row) {
    for (int column = 0; column < matches.grid.columns; ++column) {
      const bool valid = matches.valid(column, row) != 0;
      const Motion motion = valid ? settled_motion(matches, frames, column, row)
                                  : Motion{matches.u(column, row), matches.v(column, row)};
      settled.u(column, row) = motion.u, settled.v(column, row) = motion.v;
      settled.valid(column, row) = valid;
    }
  });
}

PF_STEP(settle_matches<Cpu>);

}  // namespace parafield
