// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "steps/resize/resize.hpp"

namespace parafield {

template <class Backend>
void reduce_flow(Backend& cuda, View<const float> fine_u, View<const float> fine_v, int level,
                 FlowPlanes coarse) {
  for_input_pixels(cuda, coarse.u.size(), [=] __device__(int x, int y) {
    coarse.set(x, y, {reduced_flow(fine_u, x, y, level), reduced_flow(fine_v, x, y, level)});
  });
}

template <class Backend>
void enlarge_flow(Backend& cuda, FlowPlanes coarse, FlowPlanes fine) {
  for_pixels(cuda, fine.u.size(),
             [=] __device__(int x, int y) { fine.set(x, y, enlarged_flow(coarse, x, y)); });
}

PF_STEP(reduce_flow<Cuda>);
PF_STEP(enlarge_flow<Cuda>);

}  // namespace parafield
