#pragma once
#include "markov/labels.hpp"

namespace parafield {

/// Stored data costs: for each row of the image one row for each label, so that the costs of a row lie together.
struct Volume {
  float* data = nullptr;
  std::ptrdiff_t pitch = 0;  // floats
  int labels = 0;

  PF_HD float* row(int y, int label) const { return data + (std::ptrdiff_t(y) * labels + label) * pitch; }
  PF_HD explicit operator bool() const { return data != nullptr; }
};

// The data cost of an energy is one of these. row(y, lx, ly)(x) is the cost of the label at (lx, ly) of the grid at pixel
// (x, y).

/// Stored costs.
struct StoredCosts {
  Volume volume;
  int nx = 1;

  struct Row {
    const float* costs;
    PF_HD float operator()(int x) const { return costs[x]; }
  };
  PF_HD Row row(int y, int lx, int ly) const { return {volume.row(y, ly * nx + lx)}; }
};

/// weight * min(|difference|, limit) of gray or of colour (mean over the channels), made when it is asked for. A label of
/// value (x, y) moves a pixel by (x * step, y). Planes have room around them for every match.
template <int Channels>
struct Differences {
  const float *frame0[Channels], *frame1[Channels];
  std::ptrdiff_t pitch = 0;  // floats, of all planes
  int x0 = 0, y0 = 0, step = 1;
  float weight = 1, limit = 1e30f;

  struct Row {
    const float *a[Channels], *b[Channels];
    float weight, limit;
    PF_HD float operator()(int x) const {
      float sum = magnitude(a[0][x] - b[0][x]);
      if constexpr (Channels == 3)
        sum = (sum + magnitude(a[1][x] - b[1][x]) + magnitude(a[2][x] - b[2][x])) * (1.0f / 3);
      return weight * smaller(sum, limit);
    }
  };
  PF_HD Row row(int y, int lx, int ly) const {
    Row row;
    row.weight = weight;
    row.limit = limit;
    PF_UNROLL
    for (int i = 0; i < Channels; ++i) {
      row.a[i] = frame0[i] + y * pitch;
      row.b[i] = frame1[i] + (y + y0 + ly) * pitch + (x0 + lx) * step;
    }
    return row;
  }
};

/// A label field's energy: data costs of the sites + pair costs of the edges between neighbours, each once.
template <class Data>
struct Energy {
  int width = 0, height = 0;
  LabelGrid grid;
  PairCost pair;
  EdgeWeights edges;
  Data data;
};

}  // namespace parafield
