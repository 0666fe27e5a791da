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

// The data cost of an energy is one of these: row(y, lx, ly)(x), or site(x, y).row(ly)(lx), is the cost of the label at
// (lx, ly) of the grid at pixel (x, y). The first is for loops along a row, the second for all labels of one pixel.

/// Stored costs.
struct StoredCosts {
  Volume volume;
  int nx = 1;

  struct Row {
    const float* costs;
    PF_HD float operator()(int x) const { return costs[x]; }
  };
  PF_HD Row row(int y, int lx, int ly) const { return {volume.row(y, ly * nx + lx)}; }

  struct LabelRow {
    const float* costs;
    std::ptrdiff_t pitch;
    PF_HD float operator()(int lx) const { return costs[lx * pitch]; }
  };
  struct Site {
    const float* costs;
    std::ptrdiff_t pitch;
    int nx;
    PF_HD LabelRow row(int ly) const { return {costs + std::ptrdiff_t(ly) * nx * pitch, pitch}; }
  };
  PF_HD Site site(int x, int y) const { return {volume.row(y, 0) + x, volume.pitch, nx}; }
};

/// The costs of labels that are known already, one a pixel.
struct KnownCosts {
  View<const float> costs;

  struct Row {
    const float* costs;
    PF_HD float operator()(int x) const { return costs[x]; }
  };
  PF_HD Row row(int y, int, int) const { return {costs.row(y)}; }
};

/// weight * min(|difference|, limit) of gray or of color (mean over the channels), made when it is asked for. A label of
/// value (x, y) moves a pixel by (x * step, y). Planes have room around them for every match.
template <int Channels>
struct Differences {
  const float *frame0[Channels], *frame1[Channels];
  std::ptrdiff_t pitch = 0;  // floats, of all planes
  int x0 = 0, y0 = 0, step = 1;
  float weight = 1, limit = 1e30f;

  /// Of a pixel's values a and its match's b.
  PF_HD float cost(const float (&a)[Channels], const float (&b)[Channels]) const {
    float sum = magnitude(a[0] - b[0]);
    if constexpr (Channels == 3) sum = (sum + magnitude(a[1] - b[1]) + magnitude(a[2] - b[2])) * (1.0f / 3);
    return weight * smaller(sum, limit);
  }

  struct Row {
    const Differences& all;
    const float *a[Channels], *b[Channels];
    PF_HD float operator()(int x) const {
      float values[Channels], matches[Channels];
      PF_UNROLL
      for (int i = 0; i < Channels; ++i) values[i] = a[i][x], matches[i] = b[i][x];
      return all.cost(values, matches);
    }
  };
  PF_HD Row row(int y, int lx, int ly) const {
    Row row{*this, {}, {}};
    PF_UNROLL
    for (int i = 0; i < Channels; ++i) {
      row.a[i] = frame0[i] + y * pitch;
      row.b[i] = frame1[i] + (y + y0 + ly) * pitch + (x0 + lx) * step;
    }
    return row;
  }

  struct LabelRow {
    const Differences& all;
    const float (&values)[Channels];
    const float* matches[Channels];
    PF_HD float operator()(int lx) const {
      float b[Channels];
      PF_UNROLL
      for (int i = 0; i < Channels; ++i) b[i] = matches[i][lx * all.step];
      return all.cost(values, b);
    }
  };
  struct Site {
    const Differences& all;
    float values[Channels];
    const float* matches[Channels];  // of the first label
    PF_HD LabelRow row(int ly) const {
      LabelRow row{all, values, {}};
      PF_UNROLL
      for (int i = 0; i < Channels; ++i) row.matches[i] = matches[i] + ly * all.pitch;
      return row;
    }
  };
  PF_HD Site site(int x, int y) const {
    Site site{*this, {}, {}};
    PF_UNROLL
    for (int i = 0; i < Channels; ++i) {
      site.values[i] = frame0[i][y * pitch + x];
      site.matches[i] = frame1[i] + (y + y0) * pitch + x + x0 * step;
    }
    return site;
  }
};

/// A label field's energy: data costs of the sites + pair costs of the edges between neighbors, each once.
template <class Data>
struct Energy {
  int width = 0, height = 0;
  LabelGrid grid;
  PairCost pair;
  EdgeWeights edges;
  Data data;

  /// Whether all that neighbors tell is how many of them have the other one of two labels.
  PF_HD bool is_binary() const {
    return grid.nx == 2 && grid.ny == 1 && pair.model != PairModel::quadratic && !edges.forward[0];
  }
};

}  // namespace parafield
