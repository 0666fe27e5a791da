// SPDX-License-Identifier: MIT
#pragma once
#include "core/arithmetic.hpp"
#include "core/workspace.hpp"

/// Flow between the levels of a pyramid. Level l + 1 has half the size of level l, and half its flow.
namespace parafield {

/// Start at level `level` from a flow at level 0: every 2^level-th pixel, divided by 2^level. A value that is
/// NaN or above 1e9 in magnitude becomes 0. `fine` may be the user's memory: on CUDA it is an input that a
/// replay reads again.
template <class Backend>
void reduce_flow(Backend& backend, View<const float> fine_u, View<const float> fine_v, int level,
                 FlowPlanes coarse);

/// Start at the finer level: twice the bilinear sample at half the coordinates (Marzat, section 2.2).
template <class Backend>
void enlarge_flow(Backend& backend, FlowPlanes coarse, FlowPlanes fine);

/// Flow that a solution starts from. If `coarser` is given, the start is the coarser level's flow, enlarged;
/// `flow` is then scratch memory for it, which a backend may ignore.
struct StartingFlow {
  FlowPlanes flow;
  FlowPlanes coarser = {};
};

PF_HD float reduced_flow(View<const float> fine, int x, int y, int level) {
  const float value = fine(smaller(x << level, fine.width - 1), smaller(y << level, fine.height - 1));
  return magnitude(value) <= 1e9f ? value / float(1 << level) : 0.0f;
}

/// One component at column x of the fine level. `top` and `bottom` are the coarse rows around y / 2, and
/// share_y is the weight of `bottom`. `last`: the coarse level's last column.
PF_HD float enlarged_flow(const float* top, const float* bottom, float share_y, int x, int last) {
  const int left = x >> 1, right = smaller(left + 1, last);
  const float share_x = 0.5f * float(x & 1);
  return 2 * interpolate(interpolate(top[left], bottom[left], share_y),
                         interpolate(top[right], bottom[right], share_y), share_x);
}

/// Row y of one component of the fine level, on the CPU.
PF_HD void enlarge_row(View<const float> coarse, int y, int width, float* __restrict out) {
  const int last = coarse.width - 1;
  const float *top = coarse.row(y >> 1), *bottom = coarse.row(smaller((y >> 1) + 1, coarse.height - 1));
  const float share = 0.5f * float(y & 1);
  const int pairs = smaller(last, width / 2);  // columns 2i and 2i + 1 use coarse columns i and i + 1
  for (int i = 0; i < pairs; ++i) {
    const float left = interpolate(top[i], bottom[i], share),
                right = interpolate(top[i + 1], bottom[i + 1], share);
    out[2 * i] = 2 * interpolate(left, right, 0.0f);
    out[2 * i + 1] = 2 * interpolate(left, right, 0.5f);
  }
  for (int x = 2 * pairs; x < width; ++x) out[x] = enlarged_flow(top, bottom, share, x, last);
}

/// Both components at pixel (x, y) of the fine level.
PF_HD Motion enlarged_flow(FlowPlanes coarse, int x, int y) {
  const int top = y >> 1, bottom = smaller(top + 1, coarse.u.height - 1), last = coarse.u.width - 1;
  const float share = 0.5f * float(y & 1);
  return {enlarged_flow(coarse.u.row(top), coarse.u.row(bottom), share, x, last),
          enlarged_flow(coarse.v.row(top), coarse.v.row(bottom), share, x, last)};
}

}  // namespace parafield
