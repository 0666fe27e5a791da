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

/// The edges of `Count` pixels of column x, from row y on. Rows below the image repeat its last row.
template <int Channels, int Count>
__device__ void color_edges(const ComparedFrames& frames, int x, int y, ColorEdges (&edges)[Count]) {
  const int width = frames.from[0].width, height = frames.from[0].height, right = smaller(x + 1, width - 1);
  float along[Count] = {}, down[Count] = {};
  PF_UNROLL
  for (int c = 0; c < Channels; ++c) {
    float here[Count + 1], next[Count];
    PF_UNROLL
    for (int i = 0; i <= Count; ++i) {
      const int row = smaller(y + i, height - 1);
      here[i] = frames.from[c](x, row);
      if (i < Count) next[i] = frames.from[c](right, row);
    }
    PF_UNROLL
    for (int i = 0; i < Count; ++i) {
      along[i] = larger(magnitude(next[i] - here[i]), along[i]);
      down[i] = larger(magnitude(here[i + 1] - here[i]), down[i]);
    }
  }
  PF_UNROLL
  for (int i = 0; i < Count; ++i)
    edges[i] = {right > x ? edge_weight(along[i]) : 0.0f, y + i + 1 < height ? edge_weight(down[i]) : 0.0f};
}

}  // namespace
}  // namespace parafield
