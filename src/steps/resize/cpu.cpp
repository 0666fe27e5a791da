// SPDX-License-Identifier: MIT
#include "core/cpu/backend.hpp"
#include "steps/resize/resize.hpp"

namespace parafield {

template <class Backend>
void reduce_flow(Backend& cpu, View<const float> fine_u, View<const float> fine_v, int level,
                 FlowPlanes coarse) {
  cpu.pixels(coarse.u.size(), [=](int x, int y) {
    coarse.set(x, y, {reduced_flow(fine_u, x, y, level), reduced_flow(fine_v, x, y, level)});
  });
}

template <class Backend>
void enlarge_flow(Backend& cpu, FlowPlanes coarse, FlowPlanes fine) {
  cpu.rows(fine.u.height, [=](int y) {
    enlarge_row(coarse.u, y, fine.u.width, fine.u.row(y));
    enlarge_row(coarse.v, y, fine.v.width, fine.v.row(y));
  });
}

PF_STEP(reduce_flow<Cpu>);
PF_STEP(enlarge_flow<Cpu>);

}  // namespace parafield
