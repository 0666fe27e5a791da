// SPDX-License-Identifier: MIT
#pragma once
#include "steps/variational/variational.hpp"

/// In an unnamed namespace, so that each instruction set has its own copy.
namespace parafield {
namespace {

/// Weights of the edges between `count` pixels and their neighbors. `here`, `next`: both, for each channel.
void weigh_between(int channels, int count, const float* const* here, const float* const* next,
                   float* weights) {
  for (int x = 0; x < count; ++x) weights[x] = 0;
  for (int c = 0; c < channels; ++c) {
    const float *const a = here[c], *const b = next[c];
#pragma GCC ivdep
    for (int x = 0; x < count; ++x) weights[x] = larger(magnitude(b[x] - a[x]), weights[x]);
  }
#pragma GCC ivdep
  for (int x = 0; x < count; ++x) weights[x] = edge_weight(weights[x]);
}

/// Weights of the color edges from the pixels of row y to the pixels at their right and below them.
void weigh_color_edges(const ComparedFrames& frames, int y, float* along, float* down) {
  const int width = frames.from[0].width, last = frames.from[0].height - 1;
  const float *here[ComparedFrames::most], *right[ComparedFrames::most], *below[ComparedFrames::most];
  for (int c = 0; c < frames.channels; ++c) {
    here[c] = frames.from[c].row(y), right[c] = here[c] + 1;
    below[c] = frames.from[c].row(smaller(y + 1, last));
  }
  weigh_between(frames.channels, width - 1, here, right, along);
  along[width - 1] = 0;
  weigh_between(frames.channels, width, here, below, down);
  if (y == last)
    for (int x = 0; x < width; ++x) down[x] = 0;
}

}  // namespace
}  // namespace parafield
