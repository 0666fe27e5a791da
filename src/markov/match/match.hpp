// SPDX-License-Identifier: MIT
#pragma once
#include "markov/energy.hpp"
#include "markov/mix/mix.hpp"
#include "markov/sweep/sweep.hpp"
#include "parafield/methods/energy.hpp"
#include "steps/census/census.hpp"

namespace parafield {

/// Planes that data terms compare, all of the same pitch and padded for every match. Planes that are not
/// needed are null.
struct ComparedPlanes {
  const float *luma = nullptr, *color[3] = {}, *gradient = nullptr;
  const std::uint32_t* census = nullptr;
  const std::uint32_t* mix[3] = {};  // color, gradient and census words: see mix.hpp
};

/// Square window that averages data costs. The weight of a pixel is weight[row] * weight[column].
struct Window {
  static constexpr int max_side = 31;
  int side = 1;  // px, odd
  float weight[max_side] = {1};
};

/// Comparison of every pixel of frame 0 with its match in frame 1 for every label. A label of value (x, y)
/// moves a pixel by (x * step, y) px. Data costs are weight * min(difference, limit), averaged over the
/// window.
struct Matching {
  ComparedPlanes frame0, frame1;
  int width = 0, height = 0;
  std::ptrdiff_t pitch = 0;  // values from one row of the planes to the next
  LabelGrid grid;
  int step = 1;
  DataTerm term = DataTerm::absolute;
  bool color = false;
  float weight = 1, limit = 1e30f;
  Window window;
  // Pixels of the image beyond each side of a block, which windows may reach.
  int left = 0, above = 0, right = 0, below = 0;
};

/// Winners: the label of least data cost at each pixel.
struct Winners {
  View<Label> labels;  // empty if not wanted
  CostsAround costs;   // costs around them, for a grid of one row; empty if not wanted
};

/// Computes the data cost of every label at every pixel. Stores the costs if there is a volume, and the
/// winners if they are wanted.
template <class Backend>
void match(Backend& backend, const Matching& matching, Volume volume, Winners winners);

// Scratch memory for each CPU thread: rows of differences and means, and five rows for each row of a band.
constexpr int match_band_rows = 32;
PF_HD int match_row_floats(const Matching& matching) {
  return (matching.width + matching.window.side + 15) / 16 * 16;
}
inline std::size_t match_scratch(const Matching& matching) {
  return sizeof(float) * std::size_t(match_row_floats(matching)) *
         std::size_t(matching.window.side + 2 + 5 * match_band_rows);
}

// Shared by both backends. Positions are offsets from the first pixel of the planes.

/// Offset from a pixel to its match for label (lx, ly).
PF_HD std::ptrdiff_t match_offset(const Matching& m, int lx, int ly) {
  return (m.grid.y0 + ly) * m.pitch + (m.grid.x0 + lx) * m.step;
}

/// Winner so far at a pixel, and the costs of the two adjacent labels.
struct WinnerSoFar {
  float least = 3e38f, before = 0, after = 0, last = 0;  // last: cost of the previous label
  int label = 0;

  PF_HD void update(float cost, int next) {
    const bool better = cost < least;
    after = label + 1 == next ? cost : after;
    before = better ? last : before;
    least = better ? cost : least;
    label = better ? next : label;
    last = cost;
  }
};

/// Difference between pixel `at` of a and pixel `to` of b: see DataTerm.
template <DataTerm Term, bool Color>
PF_HD float data_term(const ComparedPlanes& a, const ComparedPlanes& b, std::ptrdiff_t at,
                      std::ptrdiff_t to) {
  if constexpr (Term == DataTerm::absolute && !Color) {
    return magnitude(a.luma[at] - b.luma[to]);
  } else if constexpr (Term == DataTerm::absolute) {
    return mean_magnitude(a.color[0][at] - b.color[0][to], a.color[1][at] - b.color[1][to],
                          a.color[2][at] - b.color[2][to]);
  } else if constexpr (Term == DataTerm::squared && !Color) {
    const float d = a.luma[at] - b.luma[to];
    return d * d;
  } else if constexpr (Term == DataTerm::squared) {
    const float r = a.color[0][at] - b.color[0][to], g = a.color[1][at] - b.color[1][to],
                blue = a.color[2][at] - b.color[2][to];
    return fma(blue, blue, fma(g, g, r * r)) * (1.0f / 3);
  } else if constexpr (Term == DataTerm::census) {
    return census_distance(a.census[at], b.census[to]);
  } else if constexpr (Term == DataTerm::gradient) {
    return magnitude(a.gradient[at] - b.gradient[to]);
  } else {
    return mixed_difference(words_at(a.mix, at), words_at(b.mix, to), 1e30f);
  }
}

/// Highest difference of a data term; 1e30 if it has no limit.
PF_HD float most_difference(DataTerm term) {
  if (term == DataTerm::census) return 24;
  if (term == DataTerm::mix) return float(most_mix) * mix_unit;
  return 1e30f;
}

/// DataTerm::mix of a pixel's words and its match's.
struct MixedDifference {
  static constexpr int planes = 3;
  using Value = std::uint32_t;

  template <class A, class B>
  PF_HD static float of(A a, B b, float limit) {
    return mixed_difference({a(0), a(1), a(2)}, {b(0), b(1), b(2)}, limit);
  }
};
/// Data costs of DataTerm::mix without a window.
struct MixedCosts : LazyCosts<MixedDifference> {
  bool gray =
      false;  // the three bytes of each color and gradient word are the same, so the CPU reads only one
};

/// Calls f.template operator()<Term, Color>() with a data term and whether it compares color.
template <class F>
PF_HD auto with_term(DataTerm term, bool color, F f) {
  switch (term) {
    case DataTerm::absolute:
      return color ? f.template operator()<DataTerm::absolute, true>()
                   : f.template operator()<DataTerm::absolute, false>();
    case DataTerm::squared:
      return color ? f.template operator()<DataTerm::squared, true>()
                   : f.template operator()<DataTerm::squared, false>();
    case DataTerm::census:
      return f.template operator()<DataTerm::census, false>();
    case DataTerm::gradient:
      return f.template operator()<DataTerm::gradient, false>();
    default:
      return f.template operator()<DataTerm::mix, false>();
  }
}

}  // namespace parafield
