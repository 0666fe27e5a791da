// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "gradient/adaptive_ridge/fusion/fusion.hpp"

namespace parafield {
namespace {

/// Replaces each pixel of `to` by choose(u and v of `flow`, its own u and v).
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
void finish_matched(Backend& cpu, const RefinedMatches& matched, FlowPlanes flow, Trust trust) {
  cpu.rows(flow.u.height, [=](int y) {
    const float *const fused_u = matched.fused.u.row(y), *const fused_v = matched.fused.v.row(y),
                       *const refined_u = matched.refined.u.row(y),
                       *const refined_v = matched.refined.v.row(y);
    float *const u = flow.u.row(y), *const v = flow.v.row(y);
    const int width = flow.u.width, height = flow.u.height, pitch = int(matched.back.u.stride());
#pragma GCC ivdep  // planes do not overlap
    for (int x = 0; x < width; ++x) {
      const Motion kept = kept_near(fused_u[x], fused_v[x], refined_u[x], refined_v[x]);
      u[x] = kept.u, v[x] = kept.v;
    }
    if (matched.plain_back.u) {
      const float *const with_u = matched.back.u.row(y), *const with_v = matched.back.v.row(y);
      float *const plain_u = matched.plain_back.u.row(y), *const plain_v = matched.plain_back.v.row(y);
#pragma GCC ivdep
      for (int x = 0; x < width; ++x) {
        const Motion back = fused(plain_u[x], plain_v[x], with_u[x], with_v[x]);
        plain_u[x] = back.u, plain_v[x] = back.v;
      }
    }
    if (!trust.valid) return;
    const float line = float(y), most = matched.max_residual;
    const float *const next = matched.next.data, *const luma = matched.frame.row(y),
                       *const back_u = matched.back.u.data, *const back_v = matched.back.v.data,
                       *const xx = matched.normal.xx.row(y), *const xy = matched.normal.xy.row(y),
                       *const yy = matched.normal.yy.row(y);
    const int next_pitch = int(matched.next.stride());
    std::uint8_t* const valid = trust.valid.row(y);
    float* const confidence = trust.confidence.row(y);
#pragma GCC ivdep
    for (int x = 0; x < width; ++x) {
      const bool seen = !is_hidden(u[x], v[x], back_u, back_v, pitch, width, height, x, y);
      const float eigenvalue = smaller_eigenvalue(xx[x], xy[x], yy[x]);
      confidence[x] = seen ? eigenvalue : 0;
      valid[x] =
          seen & is_match(next, next_pitch, width, height, float(x) + u[x], line + v[x], luma[x], most);
    }
  });
}

PF_STEP(snap_matches<Cpu>);
PF_STEP(fuse_flow<Cpu>);
PF_STEP(finish_matched<Cpu>);

}  // namespace parafield
