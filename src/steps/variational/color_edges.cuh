// SPDX-License-Identifier: MIT
#pragma once
#include "core/cuda/kernel.cuh"
#include "steps/variational/variational.hpp"

namespace parafield {
namespace {

/// Weights of the color edges from a pixel to the pixels at its right and below it.
struct ColorEdges {
  float along, down;
};

template <int Channels>
__device__ ColorEdges color_edges(const ComparedFrames& frames, int x, int y) {
  const int right = smaller(x + 1, frames.from[0].width - 1), below = smaller(y + 1, frames.from[0].height - 1);
  float along = 0, down = 0;
  PF_UNROLL
  for (int c = 0; c < Channels; ++c) {
    const float here = frames.from[c](x, y);
    along = larger(magnitude(frames.from[c](right, y) - here), along);
    down = larger(magnitude(frames.from[c](x, below) - here), down);
  }
  return {right > x ? edge_weight(along) : 0.0f, below > y ? edge_weight(down) : 0.0f};
}

}  // namespace
}  // namespace parafield
