#pragma once
#include <algorithm>

#include "parafield/image.hpp"
#include "parafield/method.hpp"

namespace parafield {

/// Dense flow by ridge regression that shrinks each pixel's least-squares flow toward the mean flow around it, as far as
/// the data are uncertain there: the library's own, from Bodily's ridge regression (thesis, chapter 4), Hoerl, Kennard and
/// Baldwin's ridge parameter, and warping from coarse to fine. One iteration at a level:
///   1. the other frames are warped by the flow so far (bicubic), and derivatives taken by (prefilter, 1 - 2 prefilter,
///      prefilter) and (-1 0 1) / 2 of them all;
///   2. their products, each pixel weighted by 1 / (|g|^2 + contrast + (gt / robust)^2) and linearized at its own flow, are
///      averaged by a gaussian: the normal equations of a pixel, with the solution f and its residual E;
///   3. f's mean and spread over cells of 8x8 pixels, each pixel weighted by how well its f is determined; averaged over 5x5
///      cells by a gaussian of sigma 1 cell and by likeness of brightness; and at a pixel, m and S, between the four cells
///      around it by nearness and by likeness to its own brightness;
///   4. the flow minimizes E(f) + k |f - m|^2 with k = shrinkage E / S; in the last iteration 3 and 4 are repeated with it
///      (`rounds`), in the others k is `rounds` times as large;
///   5. a median.
/// Three or five frames: derivatives in time by the same filters, flow of the middle one, which has to be the same before
/// and after: better where motion is steady, worse where it is not.
struct AdaptiveRidge {
  static constexpr std::string_view name = "adaptive-ridge";
  static constexpr std::string_view source =
      "this library; after Bodily 2009, chapter 4, and Hoerl, Kennard, Baldwin 1975";

  int frames = 2;
  int levels = 0;
  int iterations = 3;
  int rounds = 2;
  float window = 1.2f;
  float prefilter = 0.15f;
  float contrast = 20;
  float robust = 1;
  float shrinkage = 0.5f;
  float likeness = 7;
  int median = 5;
  float max_residual = 0.1f;
};

template <class Method, class Visitor>
requires std::is_same_v<std::remove_const_t<Method>, AdaptiveRidge>
void describe(Method& method, Visitor&& visit) {
  static constexpr std::array frames{2, 3, 5};
  static constexpr std::array medians{0, 3, 5};
  visit(method.frames,
        Parameter<int>{"frames", 2, 5, "",
                       "frames to look at; of 3 or 5 the flow at the middle one, for steady motion", frames});
  visit(method.levels,
        Parameter<int>{
            "levels", 0, 16, "",
            "pyramid levels; 0 = as many as have a shorter side of 12 px or more; none, but the first, "
            "has one under 4 px"});
  visit(method.iterations,
        Parameter<int>{"iterations", 1, 100, "", "solutions on each level, each warped by the last"});
  visit(method.rounds,
        Parameter<int>{"rounds", 1, 10, "",
                       "how often the last solution shrinks toward the mean of the one before; "
                       "those before it shrink once, `rounds` times as strongly"});
  visit(method.window,
        Parameter<float>{"window", 0.3f, 2, "px", "sigma of the window's gaussian, which ends at 3 px"});
  visit(method.prefilter,
        Parameter<float>{"prefilter", 0, 0.25f, "",
                         "share of the pixels on either side in the derivatives' smoothing: more for noise"});
  visit(method.contrast,
        Parameter<float>{"contrast", 0.1f, 1e4f, "",
                         "added to |gradient|^2 where products are divided by it; intensities 0..255"});
  visit(method.robust,
        Parameter<float>{"robust", 0.01f, 1e3f, "px",
                         "motion left at which a pixel's weight halves, where its gradient is strong"});
  visit(method.shrinkage, Parameter<float>{"shrinkage", 0, 100, "",
                                           "toward the mean flow; Hoerl, Kennard and Baldwin's is 2 / 7"});
  visit(method.likeness,
        Parameter<float>{"likeness", 0.1f, 1e3f, "",
                         "difference of brightness at which a cell's weight in the mean halves; 0..255"});
  visit(method.median, Parameter<int>{"median", 0, 5, "px",
                                      "side of a median of the flow after each solution; 0 = none", medians});
  visit(method.max_residual,
        Parameter<float>{
            "max_residual", 0, 1, "",
            "flow is valid where its match lies inside the next frame and differs in brightness by at "
            "most this (intensities in [0, 1])"});
}

/// Pyramid levels that it makes of frames of that size.
inline int levels_of(const AdaptiveRidge& method, Size size) {
  const int most = method.levels > 0 ? method.levels : 16, shortest = method.levels > 0 ? 4 : 12;
  int levels = 1;
  for (int side = std::min(size.width, size.height); levels < most && (side + 1) / 2 >= shortest; ++levels)
    side = (side + 1) / 2;
  return levels;
}

inline std::array<Preset<AdaptiveRidge>, 3> presets(const AdaptiveRidge&) {
  return {{{"default", AdaptiveRidge{}, "two frames"},
           {"fast", {.iterations = 2, .rounds = 1, .shrinkage = 1}, "two thirds of the time"},
           {"sequence", {.frames = 5, .prefilter = 0.2f}, "five frames, for steady motion"}}};
}

}  // namespace parafield
