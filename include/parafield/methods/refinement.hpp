// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/method.hpp"

namespace parafield {

/// Values that the refinement compares.
enum class RefineData {
  luma,
  color  ///< three channels, with more careful derivatives and a median after each warp
};
constexpr std::array<std::string_view, 2> names_of(RefineData) { return {"luma", "color"}; }

/// Variational refinement: `refine` times, the flow f of any method moves toward the minimum of a data term
/// plus a smoothness term (Horn and Schunck 1981) over the whole image. The data are the gradients of both
/// frames (Brox, Bruhn, Papenberg, Weickert 2004), normalized by their own change; both terms have Lorentzian
/// penalties (Black and Anandan 1996), whose weights each warp computes once.
///
/// Frames, 0 to 255, are first smoothed by (p, 1 - 2 p, p) along x and y, with p = 0.19 for luma and 0.23 for
/// color. D is the derivative (-1 0 1) / 2, and D5 is (1 -8 0 8 -1) / 12, or D for luma. Each warp has these
/// steps:
///   1. Warp the second frame by f: W. With the mean M and the difference T of the first frame and W, a
///      pixel's data are (D5 DxM) f + DxT = 0 and (D5 DyM) f + DyT = 0 for each channel. An equation has the
///      weight 1 / (|D5 DxM|^2 + 1.5^2), and a pixel has the weight 2 / (1 + (e / 0.3)^2) / (1 + (d / 15)^2)
///      / (1 + (m / 0.5)^2) per channel: e^2 is the channels' mean of the weighted (DxT)^2 + (DyT)^2, d their
///      mean |T|, and m the distance in px between the pixel and the end of the flow back from its match, if
///      `refine_back` is set. Equations that need a pixel outside a frame or NaN have no weight. For color,
///      the sums of the equations' products are smoothed by (0.2 0.6 0.2) along x and y.
///   2. Estimate slopes G, the derivatives of f, in cells of 8x8 px, from differences of f between neighbors
///      with the weights a = c / (1 + (|difference| / 0.08)^2): c = 0.05 + 0.95 / (1 + (q / 25)^2) is small
///      where the channels differ by up to q. The sum of the weights has .001 per pixel added. G is then
///      averaged over cells by 6 red-black sweeps with the factor 1.6: a cell's mean weight a is its share, a
///      neighbor counts by the product of both shares, and the cell's own estimate by a tenth of its share.
///      This lets slanted motion be smooth (second-order smoothness).
///   3. Weight the difference of f between neighbors, minus G, by s c / (1 + (r / 0.05)^2), where s is
///      `refine_smoothness` and r the norm of these differences to the right and down.
///   4. Solve for f with these weights by `refine_sweeps` red-black sweeps of successive over-relaxation with
///      the factor 1.9 (the first: 1). The sweeps end long before convergence. u and v change by at
///      most 1 px each.
///   5. For color, take a 3x3 median.
///   6. Unless `refine_median` is 0: after every `refine_median` warps, and after the last, take a
///      color-weighted median at motion boundaries: step 10 of AdaptiveRidge, without the plain median (Sun,
///      Roth, Black 2010).
/// `valid` and `confidence` stay as they were before the refinement.
struct VariationalRefinement {
  static constexpr std::string_view name = "refinement";

  PF_PARAMETER(
      int, refine, 0, range(0, 30),
      "Warps of the variational refinement, 0 = none. Each moves the flow of the method closer to "
      "gradients that agree and to a smooth field with sharp boundaries. The refine_* parameters apply "
      "only with a refinement.");
  PF_PARAMETER(int, refine_sweeps, 16, range(1, 100), "Sweeps of over-relaxation in each warp.");
  PF_PARAMETER(
      RefineData, refine_data, RefineData::luma,
      "What is compared. luma: brightness. color: three channels, with more careful derivatives and a "
      "median after each warp, at three times the cost.");
  PF_PARAMETER(bool, refine_back, false,
               "Also estimate the flow back. Pixels whose flow back ends elsewhere, such as occluded pixels, "
               "count less. This needs two frames; with more, it has no effect.");
  PF_PARAMETER(
      int, refine_median, 2, range(0, 30),
      "Warps between color-weighted medians, 0 = none. The medians align motion boundaries with color "
      "boundaries; unless it is 0, the last warp has one too.");
  PF_PARAMETER(float, refine_smoothness, 14, range(0.01, 1000), "Weight of the smoothness term.");
};

}  // namespace parafield
