// SPDX-License-Identifier: MIT
#pragma once
#include "markov/labels.hpp"

namespace parafield {

/// Stored data costs, non-owning. Each row of the image has one row of costs for each label.
struct Volume {
  float* data = nullptr;
  std::ptrdiff_t pitch = 0;  // floats from one row of costs to the next
  int labels = 0;

  PF_HD float* row(int y, int label) const { return data + (std::ptrdiff_t(y) * labels + label) * pitch; }
  PF_HD explicit operator bool() const { return data != nullptr; }
};

// Types of data costs. Both row(y, lx, ly)(x) and site(x, y).row(ly)(lx) return the cost of label (lx, ly) of
// the grid at pixel (x, y). The first form is for loops along pixels, the second for loops over labels.

/// Costs of one label at the pixels of a row.
struct CostRow {
  const float* costs;
  PF_HD float operator()(int x) const { return costs[x]; }
};

/// Data costs stored in a volume.
struct StoredCosts {
  Volume volume;
  int nx = 1;  // labels in a row of the grid

  PF_HD CostRow row(int y, int lx, int ly) const { return {volume.row(y, ly * nx + lx)}; }

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

/// Data costs of labels that are already chosen: one cost per pixel, returned for every label.
struct KnownCosts {
  View<const float> costs;
  PF_HD CostRow row(int y, int, int) const { return {costs.row(y)}; }
};

/// Data costs computed when they are read: weight * Difference::of(pixel, match, limit). A label of value
/// (x, y) moves a pixel by (x * step, y) px. The planes must be padded far enough for every match.
template <class Difference>
struct LazyCosts {
  static constexpr int planes = Difference::planes;
  using Value = typename Difference::Value;

  const Value *frame0[planes], *frame1[planes];
  std::ptrdiff_t pitch = 0;  // values from one row to the next, the same for all planes
  int x0 = 0, y0 = 0, step = 1;
  float weight = 1, limit = 1e30f;

  struct Row {
    float weight, limit;
    const Value *a[planes], *b[planes];
    PF_HD float operator()(int x) const {
      return weight * Difference::of([&](int i) { return a[i][x]; }, [&](int i) { return b[i][x]; }, limit);
    }
  };
  PF_HD Row row(int y, int lx, int ly) const {
    Row row{weight, limit, {}, {}};
    PF_UNROLL
    for (int i = 0; i < planes; ++i) {
      row.a[i] = frame0[i] + y * pitch;
      row.b[i] = frame1[i] + (y + y0 + ly) * pitch + (x0 + lx) * step;
    }
    return row;
  }

  struct LabelRow {
    const LazyCosts& all;
    const Value (&values)[planes];
    const Value* matches[planes];
    PF_HD float operator()(int lx) const {
      return all.weight * Difference::of([&](int i) { return values[i]; },
                                         [&](int i) { return matches[i][lx * all.step]; }, all.limit);
    }
  };
  struct Site {
    const LazyCosts& all;
    Value values[planes];
    const Value* matches[planes];  // match of label (0, 0)
    PF_HD LabelRow row(int ly) const {
      LabelRow row{all, values, {}};
      PF_UNROLL
      for (int i = 0; i < planes; ++i) row.matches[i] = matches[i] + ly * all.pitch;
      return row;
    }
  };
  PF_HD Site site(int x, int y) const {
    Site site{*this, {}, {}};
    PF_UNROLL
    for (int i = 0; i < planes; ++i) {
      site.values[i] = frame0[i][y * pitch + x];
      site.matches[i] = frame1[i] + (y + y0) * pitch + x + x0 * step;
    }
    return site;
  }
};

/// min(|difference|, limit), where a color difference is the mean over the channels (Jodoin eqs. 7, 8).
template <int Channels>
struct AbsoluteDifference {
  static constexpr int planes = Channels;
  using Value = float;

  template <class A, class B>
  PF_HD static float of(A a, B b, float limit) {
    if constexpr (Channels == 1)
      return smaller(magnitude(a(0) - b(0)), limit);
    else
      return smaller(mean_magnitude(a(0) - b(0), a(1) - b(1), a(2) - b(2)), limit);
  }
};
template <int Channels>
using Differences = LazyCosts<AbsoluteDifference<Channels>>;

/// Energy of a label field: the sum of the data costs of all sites and the pair costs of all edges.
template <class Data>
struct Energy {
  int width = 0, height = 0;
  LabelGrid grid;
  PairCost pair;
  EdgeWeights edges;
  Data data;

  /// Whether there are two labels and all edges cost the same, in which case counting neighbors is enough.
  PF_HD bool is_binary() const {
    return grid.nx == 2 && grid.ny == 1 && pair.model != PairModel::quadratic && !edges.forward[0];
  }
};

}  // namespace parafield
