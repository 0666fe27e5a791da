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
  MixPlanes<const std::uint32_t> mix;
};

/// Square window that averages data costs. The weight of a pixel is weight[row] * weight[column].
struct Window {
  static constexpr int max_side = 31;
  int side = 1;  // px, odd
  float weight[max_side] = {1};
};
/// Window of MatchingCost's aggregation: a box or a gaussian.
Window aggregation_window(const MatchingCost& cost);

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

/// Absolute difference of gray, or of color as a mean over the channels.
template <bool Color>
PF_HD float absolute_difference(const ComparedPlanes& a, const ComparedPlanes& b, std::ptrdiff_t at,
                                std::ptrdiff_t to) {
  if constexpr (!Color) return magnitude(a.luma[at] - b.luma[to]);
  return mean_magnitude(a.color[0][at] - b.color[0][to], a.color[1][at] - b.color[1][to],
                        a.color[2][at] - b.color[2][to]);
}

/// Difference between pixel `at` of a and pixel `to` of b: see DataTerm.
template <DataTerm Term, bool Color>
PF_HD float data_term(const ComparedPlanes& a, const ComparedPlanes& b, std::ptrdiff_t at,
                      std::ptrdiff_t to) {
  if constexpr (Term == DataTerm::absolute) {
    return absolute_difference<Color>(a, b, at, to);
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

/// Data costs of DataTerm::mix without a window, computed when they are read: see Differences.
struct MixedCosts {
  MixPlanes<const std::uint32_t> a, b;  // of the two frames
  std::ptrdiff_t pitch = 0;
  int x0 = 0, y0 = 0, step = 1;
  float weight = 1, limit = 1e30f;
  bool gray =
      false;  // the three bytes of each color and gradient word are the same, so the CPU reads only one

  struct Row {
    MixPlanes<const std::uint32_t> a, b;
    float weight, limit;
    std::ptrdiff_t at, to;
    PF_HD float operator()(int x) const {
      return weight * mixed_difference(words_at(a, at + x), words_at(b, to + x), limit);
    }
  };
  PF_HD Row row(int y, int lx, int ly) const {
    const std::ptrdiff_t at = y * pitch;
    return {a, b, weight, limit, at, at + (y0 + ly) * pitch + (x0 + lx) * step};
  }

  struct LabelRow {
    MixWords words;
    MixPlanes<const std::uint32_t> b;
    std::ptrdiff_t to;  // the match of the first label
    int step;
    float weight, limit;
    PF_HD float operator()(int lx) const {
      return weight * mixed_difference(words, words_at(b, to + lx * step), limit);
    }
  };
  struct Site {
    const MixedCosts& all;
    std::ptrdiff_t at;
    PF_HD LabelRow row(int ly) const {
      return {words_at(all.a, at), all.b,    at + (all.y0 + ly) * all.pitch + all.x0 * all.step, all.step,
              all.weight,          all.limit};
    }
  };
  PF_HD Site site(int x, int y) const { return {*this, y * pitch + x}; }
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
