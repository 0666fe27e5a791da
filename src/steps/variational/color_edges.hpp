// SPDX-License-Identifier: MIT
#pragma once
#include "steps/variational/variational.hpp"

/// In an unnamed namespace, so that each instruction set has its own copy.
namespace parafield {
namespace {

/// Weights of the color edges from the pixels of row y to the pixels at their right and below them.
template <int Channels>
void weigh_channels(const ComparedFrames& frames, int y, float* along, float* down) {
  const int width = frames.from[0].width, height = frames.from[0].height;
  const float *here[Channels], *below[Channels];
  for (int c = 0; c < Channels; ++c)
    here[c] = frames.from[c].row(y), below[c] = frames.from[c].row(smaller(y + 1, height - 1));
#pragma GCC ivdep
  for (int x = 0; x < width - 1; ++x) {
    float difference = 0;
    PF_UNROLL
    for (int c = 0; c < Channels; ++c)
      difference = larger(magnitude(here[c][x + 1] - here[c][x]), difference);
    along[x] = edge_weight(difference);
  }
  along[width - 1] = 0;
  const bool last = y == height - 1;
#pragma GCC ivdep
  for (int x = 0; x < width; ++x) {
    float difference = 0;
    PF_UNROLL
    for (int c = 0; c < Channels; ++c) difference = larger(magnitude(below[c][x] - here[c][x]), difference);
    const float weight = edge_weight(difference);
    down[x] = last ? 0.0f : weight;
  }
}

/// The same for any number of channels.
void weigh_color_edges(const ComparedFrames& frames, int y, float* along, float* down) {
  frames.channels == 1 ? weigh_channels<1>(frames, y, along, down) : weigh_channels<3>(frames, y, along, down);
}

}  // namespace
}  // namespace parafield
