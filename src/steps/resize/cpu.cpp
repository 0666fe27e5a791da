// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/resize/resize.hpp"

namespace parafield {
namespace {

void enlarge_row(View<const float> coarse, View<float> fine, int y) {
  const int last = coarse.width - 1;
  const float *top = coarse.row(y >> 1), *bottom = coarse.row(smaller((y >> 1) + 1, coarse.height - 1));
  const float share = 0.5f * float(y & 1);
  float* out = fine.row(y);
  const int pairs =
      smaller(last, fine.width / 2);  // columns 2i, 2i + 1 lie between coarse columns i and i + 1
  for (int i = 0; i < pairs; ++i) {
    const float left = interpolate(top[i], bottom[i], share),
                right = interpolate(top[i + 1], bottom[i + 1], share);
    out[2 * i] = 2 * interpolate(left, right, 0.0f);
    out[2 * i + 1] = 2 * interpolate(left, right, 0.5f);
  }
  for (int x = 2 * pairs; x < fine.width; ++x) out[x] = enlarged_flow(top, bottom, share, x, last);
}

}  // namespace

template <class Backend>
void reduce_flow(Backend& cpu, View<const float> fine_u, View<const float> fine_v, int level,
                 FlowPlanes coarse) {
  cpu.rows(coarse.u.height, [=](int y) {
    for (int x = 0; x < coarse.u.width; ++x) {
      coarse.u(x, y) = reduced_flow(fine_u, x, y, level);
      coarse.v(x, y) = reduced_flow(fine_v, x, y, level);
    }
  });
}

template <class Backend>
void enlarge_flow(Backend& cpu, FlowPlanes coarse, FlowPlanes fine) {
  cpu.rows(fine.u.height, [=](int y) {
    enlarge_row(coarse.u, fine.u, y);
    enlarge_row(coarse.v, fine.v, y);
  });
}

PF_STEP(reduce_flow<Cpu>);
PF_STEP(enlarge_flow<Cpu>);

}  // namespace parafield
