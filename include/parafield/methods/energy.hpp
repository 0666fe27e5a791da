// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/method.hpp"
#include "parafield/methods/refinement.hpp"

namespace parafield {

/// Difference between a pixel and its match, before weight and truncation.
enum class DataTerm {
  absolute,  ///< |difference|, 0..255 (Jodoin eqs. 7, 8)
  squared,   ///< difference^2
  census,    ///< differing bits of the 5x5 census transforms, 0..24
  gradient,  ///< |difference| of luma's horizontal derivatives (central differences)
  /// 0.08 min(census, 10) + 0.048 min(absolute, 18) + 0.48 min(gradient, 2). In color, the channels'
  /// gradients are averaged. Intensities and derivatives are rounded to bytes.
  mix
};
constexpr std::array<std::string_view, 5> names_of(DataTerm) {
  return {"absolute", "squared", "census", "gradient", "mix"};
}

/// Data cost of matching two images: weight * min(difference, truncation), averaged over a window.
struct MatchingCost {
  PF_PARAMETER(DataTerm, data, DataTerm::absolute,
               "Difference between a pixel and its match. Intensities are 0 to 255.");
  PF_PARAMETER(bool, rgb, false,
               "Compare colors instead of luma. Differences are averaged over the color channels. This "
               "applies to absolute, squared and mix.");
  PF_PARAMETER(float, weight, 1, range(1e-6, 1e6), "Weight of the data cost.");
  PF_PARAMETER(float, truncation, 0, range(0, 1e6),
               "Largest difference that counts. A match outside the image has this difference. 0 = no limit, "
               "and outside the image the nearest pixel is used.");
  PF_PARAMETER(int, aggregation, 1, odd(1, 31, "px"), "Side of the square that averages data costs.");
  PF_PARAMETER(
      float, aggregation_sigma, 0, range(0, 10, "px"),
      "Sigma of the aggregation, 0 = equal weights. A gaussian weights the data costs in the square.");
  PF_PARAMETER(float, presmooth, 0, range(0, 5, "px"),
               "Sigma of a gaussian blur, 0 = none. It smooths both images.");
  PF_PARAMETER(
      bool, texture_aware, false,
      "Treat untextured areas separately. There, the images are smoothed, intensities are not compared, and "
      "belief propagation smooths more, especially at coarse levels. This applies to mix.");
};

/// Cost of a pair of labels, before weight and truncation. Labels are numbers, or vectors for displacements.
enum class SmoothnessModel {
  potts,     ///< 1 if they differ
  linear,    ///< sum of the components' |differences| (Jodoin section 3.2)
  quadratic  ///< sum of the components' differences^2
};
constexpr std::array<std::string_view, 3> names_of(SmoothnessModel) {
  return {"potts", "linear", "quadratic"};
}

/// Smoothness of a label field. Each pair of neighbors costs beta * min(model, smoothness_truncation) * w.
/// The weight w is 1 without edge_scale, and otherwise edge_floor + (1 - edge_floor) exp(-difference /
/// edge_scale), where `difference` is between the two pixels in the first frame (the largest of the
/// channels).
struct Smoothness {
  PF_PARAMETER(SmoothnessModel, smoothness, SmoothnessModel::linear,
               "Cost of a pair. A pair is the two labels of neighboring pixels.");
  PF_PARAMETER(float, beta, 4, range(0, 1e6), "Weight of the smoothness.");
  PF_PARAMETER(float, smoothness_truncation, 0, range(0, 1e6),
               "Largest cost of a pair, 0 = no limit. The limit applies before the weight.");
  PF_PARAMETER(int, neighbors, 4, one_of({4, 8}),
               "Neighbors of a pixel, 4 or 8. With 8, diagonal neighbors count, too.");
  PF_PARAMETER(float, edge_scale, 0, range(0, 1e4),
               "Pixel difference that weakens smoothness. The factor is edge_floor + (1 - edge_floor) "
               "exp(-difference / edge_scale). 0 = the factor is 1 everywhere.");
  PF_PARAMETER(float, edge_floor, 0.2f, range(0, 1), "Smoothness factor at strong edges.");
};

/// Source of the right image's disparities for the left-right check.
enum class RightView {
  solved,    ///< the method also solves the right image, in twice the time
  projected  ///< the left image's disparities, moved into the right image, where near surfaces hide far ones
};
constexpr std::array<std::string_view, 2> names_of(RightView) { return {"solved", "projected"}; }

/// Checks and filters that refine disparities. They run in the order of the fields.
struct DisparityChecks {
  PF_PARAMETER(float, lr_check, 0, range(0, 1e6, "px"),
               "Left-right check, 0 = none. A disparity is valid only where the right image's disparity "
               "differs by at most this.");
  PF_PARAMETER(RightView, right_view, RightView::solved,
               "Right view's source. It serves the left-right check. solved: the method also solves the "
               "right image, which takes twice the time. projected: the left image's disparities are moved "
               "there, with near surfaces hiding far ones.");
  PF_PARAMETER(int, speckle, 0, range(0, 1 << 29, "px"),
               "Largest region that is dropped, 0 = none. Connected regions of similar disparity with at "
               "most this many pixels become invalid.");
  PF_PARAMETER(bool, fill, false,
               "Fill in invalid disparities. A pixel takes the smaller of the nearest valid disparities to "
               "its left and right, which is the background's. It stays invalid.");
  PF_PARAMETER(int, color_median, 0, one_of({0, 5, 9, 13, 17, 21, 25}, "px"),
               "Side of a weighted median, 0 = none. It filters pixels that are invalid or whose disparities "
               "in the two images differ, using every other pixel and row of the window. Nearby pixels of "
               "similar color weigh most.");
  PF_PARAMETER(int, final_median, 0, one_of({0, 3, 5}, "px"),
               "Side of a final median filter, 0 = none. It smooths the disparities as the last step.");
};

/// Disparities min_disparity .. min_disparity + disparities - 1 (Jodoin eqs. 8, 9): x_right = x_left - d.
struct StereoEnergy {
  PF_PARAMETER(int, disparities, 0, range(0, 4096),
               "Number of disparities, 0 = automatic. A coarse search finds how many the images need.");
  PF_PARAMETER(int, min_disparity, 0, range(-4096, 4096, "px"),
               "Smallest disparity. A disparity d means x_right = x_left - d.");
  PF_PARAMETERS_OF(MatchingCost, cost, .aggregation = 7);
  PF_PARAMETERS_OF(Smoothness, smoothness);
  PF_PARAMETER(bool, sub_pixel, false,
               "Refine disparities to sub-pixels. Data costs around the labels place the minimum, and planes "
               "fitted to "
               "the surrounding 25 px smooth it. Offsets below 0.07 px become 0.");
  PF_PARAMETERS_OF(DisparityChecks, checks);
  PF_PARAMETER(
      float, noise, 0, range(0, 64),
      "Noise of a video's frames, 0 = no averaging. This is the standard deviation of luma, on a scale of 0 "
      "to 255. Pushed frames are averaged over up to 8 pairs, except where they change by more than noise.");
};

/// Whole displacements in [-max_displacement, max_displacement]^2 (Jodoin eq. 7 and after).
struct DisplacementEnergy {
  PF_PARAMETER(int, max_displacement, 5, range(1, 100, "px"), "Largest displacement in x and in y.");
  PF_PARAMETERS_OF(MatchingCost, cost);
  PF_PARAMETERS_OF(Smoothness, smoothness, .neighbors = 8);
  PF_PARAMETER(bool, sub_pixel, false,
               "Refine flow to sub-pixels. Parabolas are fitted to three data costs in x and in y.");
  PF_PARAMETERS_OF(VariationalRefinement, refinement);
};

/// Static or moving (Jodoin eqs. 4 to 6). The data cost of a pixel is (y - mean * moving)^2 / sigma^2, with y
/// = |frame1 - frame0| (in color, the mean over the channels). Each of the eight neighbors costs beta if its
/// label differs and -beta if it agrees. Likewise, the pixel's label in the last mask costs `temporal` or
/// -temporal; with `temporal_fades`, a moving pixel of the last mask has less weight where little changes.
/// Otherwise, if 2 temporal is above (mean / sigma)^2 and the solver finds the least energy, masks never
/// shrink, because an object's old positions stay in the mask. Solvers start from the label of least data
/// cost, which is the result of winner-takes-all. Reported energies count 2 beta for neighbors that differ
/// and 0 for neighbors that agree, which differs only by a constant.
struct ChangeEnergy {
  PF_PARAMETER(float, mean, 12, range(0, 255), "Expected difference of moving pixels, m_p.");
  PF_PARAMETER(float, sigma, 15, range(0.01, 1000), "Standard deviation of the differences.");
  PF_PARAMETER(float, beta, 1, range(0, 1000), "Weight of the eight neighbors.");
  PF_PARAMETER(float, temporal, 1, range(0, 1000), "Weight of the last mask, 0 = unused.");
  PF_PARAMETER(bool, temporal_fades, false,
               "Fade the last mask where little changes. There, its moving pixels have the weight temporal "
               "min(1, difference / mean), so that an object that has moved on leaves no mask behind.");
  PF_PARAMETER(bool, rgb, false,
               "Compare colors instead of luma. Differences are averaged over the color channels.");
};

/// What a learned background does about shadows.
enum class Shadows {
  keep,  ///< shadows move
  drop   ///< shadows are static
};
constexpr std::array<std::string_view, 2> names_of(Shadows) { return {"keep", "drop"}; }

/// Static or moving, compared with a background that is learned from the pushed frames (a single pair learns
/// from its first frame). The energy is the same as ChangeEnergy's except for the difference: y = d / spread,
/// at most 3 mean. d is the third smallest distance between the pixel and 16 samples of its background, after
/// the frame has been moved back by the camera's shift and its brightness has been equalized. The spread is
/// twice the pixel's usual d. Where the background flickers, as leaves do, d is the smallest one from the
/// samples of nine pixels, y is at most its mean over 5x5 pixels, and moving costs up to 5.5 more. In color,
/// shadows reduce d.
///
/// Static pixels that are close to their samples renew them at random, their own and their neighbors' (ViBe:
/// Barnich and Van Droogenbroeck 2011). This is how drifting light and noise become part of the background.
/// A pixel that has moved and then keeps its luma becomes background after `absorb` frames. It does so sooner
/// if the borders of its region show that an object has left there, or if they are undecided and the
/// background has not been seen for longer. If more than 70 % of the pixels seem to move, the background is
/// relearned within a few frames.
struct BackgroundEnergy {
  PF_PARAMETER(float, mean, 3.33f, range(0, 85), "Expected difference of moving pixels, in spreads.");
  PF_PARAMETER(float, sigma, 2, range(0.01, 1000), "Standard deviation of the differences, in spreads.");
  PF_PARAMETER(float, beta, 1.2f, range(0, 1000), "Weight of the eight neighbors.");
  PF_PARAMETER(float, temporal, 0.7f, range(0, 1000), "Weight of the last mask, 0 = unused.");
  PF_PARAMETER(float, least_spread, 3, range(0.5, 15), "Least spread of a pixel's luma, 0 to 255.");
  PF_PARAMETER(
      int, renewal, 8, range(1, 1000),
      "Mean time until a pixel renews one of its samples, in frames. It is shorter in the first frames.");
  PF_PARAMETER(int, absorb, 6000, range(1, 60000),
               "Time until a stopped object becomes background, in frames.");
  PF_PARAMETER(bool, rgb, true,
               "Compare colors, not only luma. It costs memory and time. Gray frames, and videos whose first "
               "frame has nearly no color, are compared by luma alone.");
  PF_PARAMETER(bool, shift, true,
               "Compensate for small shifts of the camera, up to 5 px: one shift of the whole frame.");
  PF_PARAMETER(Shadows, shadows, Shadows::drop,
               "Shadows on the background. drop: they are static. keep: they move. They are recognized only "
               "in color.");
};

}  // namespace parafield
