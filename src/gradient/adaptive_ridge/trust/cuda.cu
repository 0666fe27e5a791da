// SPDX-License-Identifier: MIT
#include "core/cuda/pixels.cuh"
#include "gradient/adaptive_ridge/trust/trust.hpp"

// For hidden pixels, a pixel reads its own flow and the flow back at four adjacent pixels: 16 bytes, and as
// many again if it is filled. For 1242x375 this is 7 MB, which fits in an H100's cache: 3 us.
namespace parafield {

template <class Backend>
void judge_flow(Backend& cuda, View<const float> frame, View<const float> next, const NormalPlanes& normal,
                StartingFlow start, float max_residual, Trust out) {
  for_pixels(cuda, frame.size(), [=] __device__(int x, int y) {
    const FlowPlanes flow = start.flow;
    int column = x, row = y;  // of the normal equations
    Motion motion;
    if (start.coarser.u) {
      flow.set(x, y, motion = enlarged_flow(start.coarser, x, y));
      column /= 2, row /= 2;
    } else {
      motion = flow.at(x, y);
    }
    out.confidence(x, y) = confidence_of(normal.at(column, row));
    out.valid(x, y) = is_match(next.data, int(next.stride()), frame.width, frame.height, float(x) + motion.u,
                               float(y) + motion.v, frame(x, y), max_residual);
  });
}

template <class Backend>
void take_visible(Backend& cuda, FlowPlanes flow, FlowPlanes back, const Matches& matches) {
  for_pixels(cuda, matches.grid.seeds(),
             [=] __device__(int column, int row) { take_visible_seed(flow, back, matches, column, row); });
}

template <class Backend>
void fill_hidden(Backend& cuda, FlowPlanes flow, FlowPlanes back, FlowPlanes filled) {
  for_pixels(cuda, flow.u.size(), [=] __device__(int x, int y) {
    if (!is_hidden(flow, back, x, y)) return;
    const Motion found = filled.at(x, y);
    if (found.u == found.u && found.v == found.v) flow.set(x, y, found);
  });
}

PF_STEP(judge_flow<Cuda>);
PF_STEP(take_visible<Cuda>);
PF_STEP(fill_hidden<Cuda>);

}  // namespace parafield
