// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>

#include "parafield/image.hpp"
#include "parafield/method.hpp"
#include "parafield/methods/feature_matching.hpp"

namespace parafield {

/// Whether flow by least squares gets help from matches.
enum class UseOfMatches {
  automatic,  ///< only for pairs of frames where a coarse comparison says that flow has missed something
  always,
  never
};
constexpr std::array<std::string_view, 3> names_of(UseOfMatches) { return {"automatic", "always", "never"}; }

/// Whether boundaries of motion go where the colors have theirs.
enum class Sharpen {
  none,
  one_way,  ///< by the first frame's colors and those of its matches
  two_way   ///< by the flow back, too
};
constexpr std::array<std::string_view, 3> names_of(Sharpen) { return {"none", "one-way", "two-way"}; }

/// Dense flow by ridge regression. Where the data are uncertain, a pixel's least-squares flow shrinks toward
/// the mean flow around it. The method is the library's own. It combines Bodily's ridge regression (thesis,
/// chapter 4), the ridge parameter of Hoerl, Kennard and Baldwin, and warping from coarse to fine. An
/// iteration at a level has five steps:
///   1. Warp the other frames by the flow so far (bicubic). Take the derivatives of all frames: smooth with
///      the filter (prefilter, 1 - 2 prefilter, prefilter) and differentiate with (-1 0 1) / 2. The results
///      are the gradient g and the derivative in time gt.
///   2. Weight the products of a pixel's derivatives by 1 / (|g|^2 + contrast + (gt / robust)^2). Linearize
///      them at the pixel's own flow. Average them by a gaussian: these are the pixel's normal equations.
///      Their solution is the flow f; their residual is E.
///   3. Take the mean and the spread of f over cells of 8x8 pixels. A pixel has more weight where its f is
///      better determined. Average both over 5x5 cells. A cell's weight is a gaussian of sigma 1 cell times
///      the likeness of brightness. Then interpolate between the four cells around each pixel, by nearness
///      and by likeness to the pixel's brightness. This gives the mean m and the spread S.
///   4. The flow minimizes E(f) + k |f - m|^2 with k = shrinkage E / S. The last iteration of the finest
///      level repeats steps 3 and 4 with the new flow, so that they run `rounds` times. In the other
///      iterations they run once, and k is `rounds` times as large.
///   5. Take a median.
/// With `spacing` 2, only every second pixel of every second row of a level has a solution: steps 2 to 5
/// treat these pixels, with their derivatives, as a level of half the size, whose brightness is that of the
/// next coarser level. For step 1, and in the result, flow is interpolated between them.
///
/// From coarse to fine, a thing is lost that moves far for its size. So flow is estimated like this first.
/// Then both frames are matched over any distance (FeatureMatching), there and back; with `matches` =
/// automatic, at first only down to a quarter of the size. A seed there is missed by the flow if its match
/// comes back within 1.5 px, lies more than 2 px from the flow (8 px of the frame) and costs less than 4 / 5
/// of it, and the flow does not leave the frame. If at least 3 of 500 seeds are missed, the other steps
/// follow:
///   6. A match that differs by at most 1.5 px from the flow at its seed takes that flow. Then a match takes
///      the flow of another one up to 4 seeds away, if that explains the colors around its seed much better:
///      a patch at the border of a thing has the motion of one side, and its seed may lie on the other.
///   7. Affine models of the matches are interpolated, guided by color (see DirectInterpolation, `model` =
///      affine). Where the interpolated flow differs from the first one by more than 2.5 px, it takes its
///      place.
///   8. Pixels are hidden in the second frame where the flow interpolated from the matches back does not lead
///      back to them. They take flow that is interpolated from the pixels that are not hidden. They are not
///      valid and have confidence 0.
///   9. Steps 1 to 5 on the finest level refine the result, by at most 1 px.
/// With `sharpen`, one step ends all that:
///   10. A median weighted by color, near boundaries of motion. Near means in cells of 4x4 pixels, and those
///       next to them, with a pixel where the flow of the pixels before and after it, in x or in y, differs by
///       more than 0.2 px in u or in v. The median goes over 7x7 pixels, 3 px apart. A pixel's weight is
///       exp(-D / 10 - r^2 / 98) T: D is the largest difference of a channel (0 to 255), r the distance, and
///       T = 1 / (1 + (d / 8)^2), at least 0.1, where d is the mean difference of the channels between the
///       pixel and its match. With two-way, T is divided by 1 + (t / 0.5)^2 first: t is how many px from the
///       pixel the flow back from its match ends. So hidden pixels take the flow of those that are seen. A
///       plain median of 5x5 pixels follows. Weights of this kind are those of Sun, Roth and Black 2010,
///       "Secrets of optical flow estimation and their principles". Validity and confidence are those of the
///       flow before.
///
/// With three or five frames, the flow is that from the middle frame to the next. These two frames give it,
/// as above but without matches. Then two iterations on the finest level refine it with all frames, whose
/// derivatives in time the same filters give. Of five frames, those at the middle of the first, second and
/// last three consecutive ones have the weights 1/8, 1/4 and 5/8: so constant acceleration cancels out. Other
/// changes of the motion make the refined flow g fit the pair worse. So sums are taken over 7x7 cells of the
/// normal equations A, b of the pair and its residual E at its own flow f:
///   q = sum (g - f) A (g - f) / (0.15 sum E): how far the refined flow lies from the pair's;
///   t = r (sum A)^-1 r / (0.007 sum E) with r = sum (A g + b): what a motion in common would still improve.
/// The result is f + (g - f) / (1 + q^2 + t^2), the share interpolated between cells.
struct AdaptiveRidge {
  static constexpr std::string_view name = "adaptive-ridge";
  static constexpr std::string_view help =
      "Least squares that shrink toward the mean flow around, from coarse to fine.";
  static constexpr std::string_view source =
      "this library; after Bodily 2009, chapter 4, and Hoerl, Kennard, Baldwin 1975";

  PF_PARAMETER(int, frames, 2, one_of({2, 3, 5}),
               "Frames: 2, 3 or 5. With 3 or 5, those around the middle pair help where motion is steady.");
  PF_PARAMETER(int, levels, 0, range(0, 16),
               "Pyramid levels, 0 = as many as fit. These are all whose shorter side has at least 12 px. "
               "Levels with a shorter side under 4 px are left out, except the finest.");
  PF_PARAMETER(
      int, spacing, 1, one_of({1, 2}, "px"),
      "Distance of solutions on each level. With 2, every second pixel of every second row has one, and flow "
      "between them is interpolated: a quarter of the time. It is for two frames. Matches are still refined "
      "at every pixel.");
  PF_PARAMETER(
      int, iterations, 3, range(1, 100),
      "Solutions on each level. Each is warped by the one before. With matches, levels of a quarter of the "
      "size and less take one.");
  PF_PARAMETER(
      int, rounds, 3, range(1, 10),
      "How often the last solution shrinks. It is that on the finest level, and it shrinks each time toward "
      "the mean of the flow before. Other solutions shrink once, `rounds` times as strongly.");
  PF_PARAMETER(float, window, 0.85f, range(0.3, 2, "px"),
               "Sigma of the gaussian window. The window ends at 3 px.");
  PF_PARAMETER(float, prefilter, 0.19f, range(0, 0.25),
               "Smoothing of frames before derivatives. It is the weight of each of the two neighbors. Noisy "
               "frames need a larger weight.");
  PF_PARAMETER(
      float, contrast, 20, range(0.1, 1e4),
      "Squared gradient that halves a pixel's weight. It is added to |gradient|^2 in the divisor of the "
      "products of derivatives. Intensities are 0 to 255.");
  PF_PARAMETER(float, robust, 1.5f, range(0.01, 1e3, "px"),
               "Motion left that halves a pixel's weight. It holds where the gradient is strong.");
  PF_PARAMETER(float, shrinkage, 1, range(0, 100),
               "Strength of the shrinking toward the mean. Hoerl, Kennard and Baldwin have 2 / 7.");
  PF_PARAMETER(float, likeness, 6, range(0.1, 1e3),
               "Difference that halves a cell's weight. It is the difference in brightness, for the mean. "
               "Intensities are 0 to 255.");
  PF_PARAMETER(int, median, 5, one_of({0, 3, 5}, "px"), "Side of a median after each solution. 0 = none.");
  PF_PARAMETER(
      Sharpen, sharpen, Sharpen::none,
      "Sharpen boundaries. Near boundaries of motion the result takes a median that is weighted by color. "
      "one-way: a pixel counts less if its match has another color. two-way: and if the flow back from it "
      "ends elsewhere, as that of hidden pixels does. That takes the time of one flow more, with at most 3 "
      "iterations. It is for two frames; with more, two-way is one-way.");
  PF_PARAMETER(float, max_residual, 0.1f, range(0, 1),
               "Largest change in brightness of valid flow. It is that between a pixel and its match, which "
               "has to lie inside the next frame. Intensities are 0 to 1.");
  PF_PARAMETER(
      UseOfMatches, matches, UseOfMatches::automatic,
      "Use matches. They find fast things that are lost otherwise, in about five times the time. "
      "automatic: where a coarse comparison says that something is lost. It is for two frames; with more, "
      "automatic is never.");
  PF_PARAMETERS_OF(FeatureMatching, matching, .match_iterations = 6);

  void check_together() const {
    if (matches == UseOfMatches::always && frames != 2)
      detail::fail_parameter(name, "matches", detail::text_of(matches),
                             "automatic, never, as frames is " + detail::text_of(frames));
    if (spacing != 1 && frames != 2)
      detail::fail_parameter(name, "spacing", detail::text_of(spacing),
                             "1, as frames is " + detail::text_of(frames));
  }
};

/// Number of pyramid levels that the method uses for frames of a size.
inline int levels_of(const AdaptiveRidge& method, Size size) {
  const int most = method.levels > 0 ? method.levels : 16, shortest = method.levels > 0 ? 4 : 12;
  int levels = 1;
  for (int side = std::min(size.width, size.height); levels < most && (side + 1) / 2 >= shortest; ++levels)
    side = (side + 1) / 2;
  return levels;
}

inline std::array<Preset<AdaptiveRidge>, 7> presets(const AdaptiveRidge&) {
  return {{{"default", AdaptiveRidge{}, "Two frames."},
           {"fast",
            {.iterations = 2, .rounds = 2, .shrinkage = 1.5f, .matches = UseOfMatches::never},
            "Takes two thirds of the time. Loses fast things."},
           {"fastest",
            {.spacing = 2,
             .iterations = 1,
             .rounds = 1,
             .window = 1.4f,
             .robust = 2.5f,
             .matches = UseOfMatches::never},
            "Takes a fifth of the time. Borders are softer. Loses fast things."},
           {"accurate",
            {.iterations = 10,
             .rounds = 4,
             .window = 0.8f,
             .prefilter = 0.2f,
             .contrast = 12,
             .robust = 0.6f,
             .likeness = 4,
             .sharpen = Sharpen::two_way},
            "Lower error at four times the cost."},
           {"large-motion",
            {.shrinkage = 0.7f, .matches = UseOfMatches::always},
            "Always matches: fast things, their borders, what they hide. Takes five times the time."},
           {"sequence", {.frames = 5}, "Five frames, where motion is steady."},
           {"clouds",
            {.iterations = 8,
             .rounds = 2,
             .window = 1.2f,
             .prefilter = 0.15f,
             .contrast = 40,
             .robust = 2,
             .shrinkage = 0.5f,
             .likeness = 7,
             .matches = UseOfMatches::never},
            "Clouds, which grow and fade. Takes twice the time."}}};
}

}  // namespace parafield
