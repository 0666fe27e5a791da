// SPDX-License-Identifier: MIT
#pragma once
#include <algorithm>

#include "parafield/image.hpp"
#include "parafield/method.hpp"
#include "parafield/methods/feature_matching.hpp"
#include "parafield/methods/refinement.hpp"

namespace parafield {

/// When feature matches correct the least-squares flow.
enum class UseOfMatches {
  automatic,  ///< only for frame pairs where a coarse comparison shows that the flow missed something
  always,
  never
};
constexpr std::array<std::string_view, 3> names_of(UseOfMatches) { return {"automatic", "always", "never"}; }

/// How motion boundaries are aligned with color boundaries.
enum class Sharpen {
  none,
  one_way,  ///< compares the first frame's colors with their matches' colors
  two_way   ///< also uses the backward flow
};
constexpr std::array<std::string_view, 3> names_of(Sharpen) { return {"none", "one-way", "two-way"}; }

/// Dense flow by coarse-to-fine ridge regression: each pixel's least-squares flow shrinks toward the mean
/// flow around it, the more so the less certain it is. The method is the library's own. It combines Bodily's
/// ridge regression (thesis, chapter 4), the ridge parameter of Hoerl, Kennard and Baldwin, and
/// coarse-to-fine warping. Each iteration at a level has five steps:
///   1. Warp the other frames by the current flow (bicubic). Compute the derivatives of all frames: smooth
///      with the filter (prefilter, 1 - 2 prefilter, prefilter) and differentiate with (-1 0 1) / 2. The
///      results are the gradient g and the temporal derivative gt.
///   2. Weight the products of each pixel's derivatives by 1 / (|g|^2 + contrast + (gt / robust)^2),
///      linearize them at the pixel's own flow, and average them with a gaussian. These are the pixel's
///      normal equations. Their solution is the flow f; their residual is E.
///   3. Compute the mean and the spread of f over cells of 8x8 pixels, weighting pixels more where f is
///      better determined. Average both over 5x5 cells; a cell's weight is a gaussian of sigma 1 cell times
///      the similarity of brightness. Then interpolate between the four cells around each pixel, by distance
///      and by similarity to the pixel's brightness. This gives the mean m and the spread S.
///   4. Find the flow that minimizes E(f) + k |f - m|^2 with k = shrinkage E / S. The last iteration of the
///      finest level runs steps 3 and 4 `rounds` times, each time with the new flow. Other iterations run
///      them once, with k `rounds` times as large.
///   5. Apply a median filter.
/// `spacing` 2 solves only every other pixel and row of a level: steps 2 to 5 treat these pixels, with their
/// derivatives, as a level of half the size, whose brightness comes from the next coarser level. The flow is
/// interpolated between them for step 1 and in the result.
///
/// Coarse-to-fine estimation loses objects that move far for their size. Therefore both frames are then also
/// matched over any distance, forward and backward (FeatureMatching). With `matches` = automatic, matching
/// is first done only down to a quarter of the size. The flow has missed a seed there if the seed's match
/// comes back within 1.5 px, is more than 2 px from the flow (8 px of the frame), and costs less than 4 / 5
/// of what the flow costs at the best of its nine nearest pixels, and if the flow does not leave the frame.
/// If at least 1 of 250 seeds are missed, and always with `matches` = always, these steps follow:
///   6. An ambiguous match takes the flow at its seed, as in repeated structure: one where the flow is a good
///      match, too, and the match costs no less than 4 / 5 of it. So does a match that differs by at most 1.5
///      px from the flow, and a seed whose match did not pass the check, if the flow is a very good match. A
///      flow is good if its cost is below a quarter of the patch's texture, and very good below an eighth.
///      Backward matches are compared with the reversed flow in the same way. Then a match takes
///      the flow of another match up to 4 seeds away if that explains the colors around its seed much better,
///      because a patch at an object's border has the motion of one side while its seed may be on the other.
///   7. Affine models of the matches are interpolated, guided by color (see DirectInterpolation, `model` =
///      affine). The interpolated flow replaces the first flow where the two differ by more than 2.5 px.
///   8. Pixels are occluded in the second frame where the flow interpolated from the backward matches does
///      not lead back to them. They take flow interpolated from visible pixels, are invalid, and have
///      confidence 0.
///   9. Steps 1 to 5 on the finest level refine the result by at most 1 px.
/// `sharpen` adds a last step:
///   10. A color-weighted median at motion boundaries: in cells of 4x4 pixels that have a pixel whose
///       previous and next pixels, in x or in y, have flows that differ by more than 0.2 px in u or in v. The
///       median covers 7x7 pixels, 3 px apart. A pixel's weight is exp(-D / 10 - r^2 / 98) T: D is the
///       largest difference of a channel (0 to 255), r the distance, and T = 1 / (1 + (d / 8)^2), at least
///       0.1, where d is the mean difference of the channels between the pixel and its match. With two-way, T
///       is first divided by 1 + (t / 0.5)^2, where t is the distance in px between the pixel and the end of
///       the backward flow from its match. This is how occluded pixels take the flow of visible ones. A plain
///       5x5 median follows. Sun, Roth and Black 2010, "Secrets of optical flow estimation and their
///       principles", use weights of this kind. Validity and confidence do not change.
///
/// With three or five frames, the flow goes from the middle frame to the next. It is first estimated from
/// these two frames as above, but without matches. Two iterations on the finest level then refine it with all
/// frames; the temporal derivatives come from the same filters. With five frames, the first, second and last
/// triple of consecutive frames weigh 1/8, 1/4 and 5/8, which cancels constant acceleration. Any other change
/// of motion makes the refined flow g fit the pair worse. This is measured by sums over 7x7 cells of the
/// pair's normal equations A, b and of its residual E at its own flow f:
///   q = sum (g - f) A (g - f) / (0.15 sum E): how far the refined flow is from the pair's flow;
///   t = r (sum A)^-1 r / (0.007 sum E) with r = sum (A g + b): how much a common motion would still help.
/// The result is f + (g - f) / (1 + q^2 + t^2), with the factor of g - f interpolated between cells.
struct AdaptiveRidge {
  static constexpr std::string_view name = "adaptive-ridge";
  static constexpr std::string_view help =
      "Least squares that shrink toward the mean flow around, from coarse to fine.";
  static constexpr std::string_view source =
      "this library; after Bodily 2009, chapter 4, and Hoerl, Kennard, Baldwin 1975";

  PF_PARAMETER(int, frames, 2, one_of({2, 3, 5}),
               "Number of frames: 2, 3 or 5. With 3 or 5, the frames around the middle pair help where "
               "motion is steady.");
  PF_PARAMETER(
      int, levels, 0, range(0, 16),
      "Pyramid levels, 0 = as many as fit. With 0, these are all levels whose shorter side is at least 12 "
      "px. Otherwise, levels with a shorter side under 4 px are left out, except the finest.");
  PF_PARAMETER(int, spacing, 1, one_of({1, 2}, "px"),
               "Spacing of the solved pixels on each level. With 2, only every other pixel and row is solved "
               "and the rest is interpolated, which takes a quarter of the time, apart from matches and "
               "refinement: they still work at every pixel. This needs two frames.");
  PF_PARAMETER(int, iterations, 2, range(1, 100),
               "Solutions on each level. Each warps the frames by the previous flow.");
  PF_PARAMETER(int, finest_iterations, 1, range(0, 100),
               "Solutions on the finest level, 0 = as many as on the others.");
  PF_PARAMETER(int, rounds, 2, range(1, 10),
               "How often the last solution shrinks. On the finest level, each round shrinks the flow toward "
               "the mean of the previous round. Other solutions shrink once, `rounds` times as strongly.");
  PF_PARAMETER(float, window, 0.85f, range(0.3, 2, "px"),
               "Sigma of the gaussian window. The window reaches 3 px to each side.");
  PF_PARAMETER(float, prefilter, 0.19f, range(0, 0.25),
               "Smoothing of the frames before derivatives. This is the weight of each of the two neighbors. "
               "Noisy frames need a larger weight.");
  PF_PARAMETER(float, contrast, 20, range(0.1, 1e4),
               "Squared gradient that halves a pixel's weight. It is added to |gradient|^2 in the "
               "denominator of the weight. Intensities are 0 to 255.");
  PF_PARAMETER(float, robust, 1.5f, range(0.01, 1e3, "px"),
               "Residual motion that halves a pixel's weight. This applies where the gradient is strong.");
  PF_PARAMETER(float, shrinkage, 1, range(0, 100),
               "Strength of the shrinkage toward the mean. Hoerl, Kennard and Baldwin use 2 / 7.");
  PF_PARAMETER(float, likeness, 6, range(0.1, 1e3),
               "Brightness difference that halves a weight. It is the weight of a cell in the mean flow. "
               "Intensities are 0 to 255.");
  PF_PARAMETER(int, median, 5, one_of({0, 3, 5}, "px"), "Side of a median after each solution, 0 = none.");
  PF_PARAMETER(Sharpen, sharpen, Sharpen::none,
               "Sharpen boundaries. Near motion boundaries, the flow is filtered by a color-weighted median. "
               "one-way: pixels whose match has another color count less. two-way: pixels whose backward "
               "flow ends elsewhere, such as occluded pixels, also count less. This takes another flow with "
               "at most 3 iterations and needs two frames; with more frames, two-way acts as one-way.");
  PF_PARAMETER(float, max_residual, 0.1f, range(0, 1),
               "Largest brightness change of valid flow. It is the difference between a pixel and its match, "
               "which must lie inside the next frame. Intensities are 0 to 1.");
  PF_PARAMETER(UseOfMatches, matches, UseOfMatches::automatic,
               "Use matches. Feature matches find fast objects that are lost otherwise, but take about five "
               "times the time. automatic: only if a coarse comparison shows that the flow missed something. "
               "Matches need two frames; with more frames, automatic acts as never.");
  PF_PARAMETERS_OF(FeatureMatching, matching, .match_iterations = 6);
  PF_PARAMETERS_OF(VariationalRefinement, refinement, .refine = 1);

  /// Number of solutions on a level.
  int iterations_at(int level) const {
    return level == 0 && finest_iterations > 0 ? finest_iterations : iterations;
  }

  void check_together() const {
    if (matches == UseOfMatches::always && frames != 2)
      detail::fail_parameter(name, "matches", detail::text_of(matches),
                             "automatic, never, as frames is " + detail::text_of(frames));
    if (spacing != 1 && frames != 2)
      detail::fail_parameter(name, "spacing", detail::text_of(spacing),
                             "1, as frames is " + detail::text_of(frames));
  }
};

/// Number of pyramid levels that the method uses for frames of this size.
inline int levels_of(const AdaptiveRidge& method, Size size) {
  const int most = method.levels > 0 ? method.levels : 16, shortest = method.levels > 0 ? 4 : 12;
  int levels = 1;
  for (int side = std::min(size.width, size.height); levels < most && (side + 1) / 2 >= shortest; ++levels)
    side = (side + 1) / 2;
  return levels;
}

inline std::array<Preset<AdaptiveRidge>, 8> presets(const AdaptiveRidge&) {
  return {{{"default", AdaptiveRidge{}, "Two frames."},
           {"fast",
            {.spacing = 2,
             .iterations = 1,
             .rounds = 1,
             .window = 1.1f,
             .robust = 3,
             .likeness = 4,
             .matches = UseOfMatches::never,
             .refinement = {.refine = 1, .refine_sweeps = 8}},
            "Takes half of the time. Boundaries are softer. Loses fast objects."},
           {"fastest",
            {.spacing = 2,
             .iterations = 1,
             .rounds = 1,
             .window = 1.5f,
             .robust = 5,
             .likeness = 4,
             .matches = UseOfMatches::never,
             .refinement = {.refine = 0}},
            "Takes a tenth of the time on a CPU, without refinement. Loses fast objects."},
           {"precise",
            {.finest_iterations = 2, .refinement = {.refine = 2, .refine_back = true, .refine_median = 1}},
            "More refinement, with the flow back, at twice the cost."},
           {"accurate",
            {.iterations = 6,
             .finest_iterations = 6,
             .rounds = 4,
             .window = 0.8f,
             .prefilter = 0.2f,
             .contrast = 12,
             .robust = 0.6f,
             .likeness = 4,
             .sharpen = Sharpen::two_way,
             .refinement =
                 {.refine = 4, .refine_sweeps = 15, .refine_data = RefineData::color, .refine_back = true}},
            "Lowest error, at five times the cost."},
           {"large-motion",
            {.finest_iterations = 2,
             .shrinkage = 0.7f,
             .matches = UseOfMatches::always,
             .refinement = {.refine = 2, .refine_sweeps = 8}},
            "Always uses matches, for fast objects and occlusions. Takes five times the time."},
           {"sequence",
            {.frames = 5, .iterations = 3, .finest_iterations = 3, .rounds = 3, .refinement = {.refine = 0}},
            "Five frames, for steady motion, without refinement."},
           {"clouds",
            {.iterations = 8,
             .finest_iterations = 8,
             .rounds = 2,
             .window = 1.2f,
             .prefilter = 0.15f,
             .contrast = 40,
             .robust = 2,
             .shrinkage = 0.5f,
             .likeness = 7,
             .matches = UseOfMatches::never,
             .refinement = {.refine = 0}},
            "For clouds, which grow and fade. More iterations, no refinement."}}};
}

}  // namespace parafield
