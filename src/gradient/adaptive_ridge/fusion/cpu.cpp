// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "gradient/adaptive_ridge/fusion/fusion.hpp"

namespace parafield {
namespace {

/// Replaces each pixel of `to` by choose(flow's u and v, its own u and v).
template <class Backend, class Choose>
void choose_flow(Backend& cpu, FlowPlanes flow, FlowPlanes to, Choose choose) {
  cpu.rows(to.u.height, [=](int y) {
    const float *const u = flow.u.row(y), *const v = flow.v.row(y);
    float *const to_u = to.u.row(y), *const to_v = to.v.row(y);
    const int width = to.u.width;
#pragma GCC ivdep  // planes do not overlap
    for (int x = 0; x < width; ++x) {
      const Motion chosen = choose(u[x], v[x], to_u[x], to_v[x]);
      to_u[x] = chosen.u, to_v[x] = chosen.v;
    }
  });
}

}  // namespace

template <class Backend>
void snap_matches(Backend& cpu, FlowPlanes flow, const Matches& matches) {
  cpu.rows(matches.grid.rows, [=](int row) {
    for (int column = 0; column < matches.grid.columns; ++column) {
      const Motion motion = snapped(matches, flow, column, row);
      matches.u(column, row) = motion.u, matches.v(column, row) = motion.v;
    }
  });
}

template <class Backend>
void fuse_flow(Backend& cpu, FlowPlanes flow, FlowPlanes interpolated) {
  choose_flow(cpu, flow, interpolated,
              [](float u, float v, float to_u, float to_v) { return fused(u, v, to_u, to_v); });
}

template <class Backend>
void keep_near(Backend& cpu, FlowPlanes fused, FlowPlanes refined) {
  choose_flow(cpu, fused, refined,
              [](float u, float v, float to_u, float to_v) { return kept_near(u, v, to_u, to_v); });
}

PF_STEP(snap_matches<Cpu>);
PF_STEP(fuse_flow<Cpu>);
PF_STEP(keep_near<Cpu>);

}  // namespace parafield
