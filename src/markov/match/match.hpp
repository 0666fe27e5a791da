#pragma once
#include "steps/census/census.hpp"
#include "markov/energy.hpp"
#include "markov/sweep/sweep.hpp"
#include "parafield/methods/energy.hpp"

namespace parafield {

/// What pixels of a frame are compared by. All planes have one pitch and room around them for every match; those that a
/// data term does not need have no data.
struct PixelPlanes {
  const float *luma = nullptr, *color[3] = {}, *gradient = nullptr;
  const std::uint32_t* census = nullptr;
};

/// The mean over a window: weights of its rows, and of its columns.
struct Window {
  static constexpr int max_side = 31;
  int side = 1;
  float weight[max_side] = {1};
};
Window aggregation_window(const MatchingCost& cost);

/// Every pixel of frame 0 against its matches in frame 1, one for each label: a label of value (x, y) moves a pixel by
/// (x * step, y).
struct Matching {
  PixelPlanes frame0, frame1;
  int width = 0, height = 0;
  std::ptrdiff_t pitch = 0;  // floats
  LabelGrid grid;
  int step = 1;
  DataTerm term = DataTerm::absolute;
  bool color = false;
  float weight = 1, limit = 1e30f;
  Window window;
  int left = 0, above = 0, right = 0, below = 0;  // pixels of the image around it, which windows reach into
};

/// The labels of least cost. `costs` where the caller wants them, of a grid of one row: the least and those beside it.
struct Winners {
  View<Label> labels;
  CostsAround costs;
};

/// Data costs of every label at every pixel: into `volume`, where there is one, and the winners, where they are wanted.
template <class Backend>
void match(Backend& backend, const Matching& matching, Volume volume, Winners winners);

/// Scratch memory of a thread of the CPU: rows of differences for the window, two rows of means, five planes of a band.
constexpr int match_band_rows = 32;
PF_HD int match_row_floats(const Matching& matching) {
  return (matching.width + matching.window.side + 15) / 16 * 16;
}
inline std::size_t match_scratch(const Matching& matching) {
  return sizeof(float) * std::size_t(match_row_floats(matching)) *
         std::size_t(matching.window.side + 2 + 5 * match_band_rows);
}

// What both backends compute. Positions are offsets from the first pixel of the planes.

PF_HD float difference(const float* const (&a)[3], const float* const (&b)[3], std::ptrdiff_t at,
                       std::ptrdiff_t to) {
  return (magnitude(a[0][at] - b[0][to]) + magnitude(a[1][at] - b[1][to]) + magnitude(a[2][at] - b[2][to])) *
         (1.0f / 3);
}

template <DataTerm Term, bool Color>
PF_HD float data_term(const PixelPlanes& a, const PixelPlanes& b, std::ptrdiff_t at, std::ptrdiff_t to) {
  if constexpr (Term == DataTerm::absolute) {
    return Color ? difference(a.color, b.color, at, to) : magnitude(a.luma[at] - b.luma[to]);
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
    const float bits = census_distance(a.census[at], b.census[to]);
    const float gradient = magnitude(a.gradient[at] - b.gradient[to]);
    const float absolute = Color ? difference(a.color, b.color, at, to) : magnitude(a.luma[at] - b.luma[to]);
    const float sum = fma(0.7f, 1 - exponential(absolute * (-1.0f / 12)), 1 - exponential(bits * -0.1f));
    const float mix = fma(0.5f, 1 - exponential(gradient * (-1.0f / 3)), sum);
    return bits > 24 ? bits : mix;  // outside
  }
}

/// Calls f.template operator()<Term, Color>().
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
      return color ? f.template operator()<DataTerm::mix, true>()
                   : f.template operator()<DataTerm::mix, false>();
  }
}

}  // namespace parafield
