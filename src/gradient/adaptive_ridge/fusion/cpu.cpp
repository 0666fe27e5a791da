// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "gradient/adaptive_ridge/fusion/fusion.hpp"

namespace parafield {
namespace {

// Most seeds have no neighbor with a different flow and are simply copied when matches settle.

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
  Motion tried[settle_neighbors + 1] = {matches.flow(column, row)};
  int count = 1;
  for (int k = 0; k < settle_neighbors; ++k) {
    const int neighbor = settle_neighbor(grid, column, row, k);
    if (neighbor < 0) continue;
    const int at_column = neighbor % grid.columns, at_row = neighbor / grid.columns;
    if (!matches.valid(at_column, at_row)) continue;
    const Motion motion = matches.flow(at_column, at_row);
    bool is_new = true;
    for (int i = 0; i < count; ++i) is_new &= !is_within(tried[i], motion, distinct_motion);
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
  cpu.pixels(matches.grid.seeds(), [&](int column, int row) {
    const bool valid = matches.valid(column, row) != 0;
    settled.set(column, row,
                valid ? settled_motion(matches, frames, column, row) : matches.flow(column, row));
    settled.valid(column, row) = valid;
  });
}

template <class Backend>
void snap_matches(Backend& cpu, FlowPlanes flow, const Matches& matches) {
  cpu.pixels(matches.grid.seeds(),
             [=](int column, int row) { matches.set(column, row, snapped(matches, flow, column, row)); });
}

template <class Backend>
void fuse_flow(Backend& cpu, FlowPlanes flow, FlowPlanes interpolated) {
  cpu.rows(flow.u.height, [=](int y) {
    const FlowRow own = flow.row(y), to = interpolated.row(y);
    const int width = flow.u.width;
#pragma GCC ivdep  // planes do not overlap
    for (int x = 0; x < width; ++x) to.set(x, fused(own[x], to[x]));
  });
}

template <class Backend>
void finish_matched(Backend& cpu, const RefinedMatches& matched, FlowPlanes flow, Trust trust) {
  cpu.rows(flow.u.height, [=](int y) {
    const FlowRow before = matched.fused.row(y), refined = matched.refined.row(y), to = flow.row(y);
    const int width = flow.u.width, height = flow.u.height;
#pragma GCC ivdep  // planes do not overlap
    for (int x = 0; x < width; ++x) to.set(x, kept_near(before[x], refined[x]));
    if (!trust.valid) return;
    const float line = float(y), most = matched.max_residual, least = trust.least;
    const float *const next = matched.next.data, *const luma = matched.frame.row(y),
                       *const back_u = matched.back.u.data, *const back_v = matched.back.v.data;
    const int pitch = int(matched.back.u.stride()), next_pitch = int(matched.next.stride());
    const NormalRow normal = matched.normal.row(y);
    std::uint8_t* const valid = trust.valid.row(y);
    float* const confidence = trust.confidence.row(y);
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) {
      const auto [u, v] = to[x];
      const bool seen = !is_hidden(u, v, back_u, back_v, pitch, width, height, x, y);
      const float eigenvalue = confidence_of(normal[x]);
      confidence[x] = seen ? eigenvalue : 0;
      valid[x] = seen & (eigenvalue >= least) &
                 is_match(next, next_pitch, width, height, float(x) + u, line + v, luma[x], most);
    }
  });
}

template <class Backend>
void choose_back(Backend& cpu, FlowPlanes flow, FlowPlanes matched, const int*, FlowPlanes back) {
  cpu.rows(back.u.height, [=](int y) {
    const FlowRow own = back.row(y), other = matched.row(y);
    for (int x = 0; x < back.u.width; ++x) own.set(x, chosen_back(own[x], other[x], flow, x, y));
  });
}

PF_STEP(settle_matches<Cpu>);
PF_STEP(snap_matches<Cpu>);
PF_STEP(fuse_flow<Cpu>);
PF_STEP(finish_matched<Cpu>);
PF_STEP(choose_back<Cpu>);

}  // namespace parafield
