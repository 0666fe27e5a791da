// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/method.hpp"

namespace parafield {

/// Difference between a pixel and its match, before weight and truncation.
enum class DataTerm {
  absolute,  ///< |difference|, 0..255 (Jodoin eqs. 7, 8)
  squared,   ///< difference^2
  census,    ///< bits that differ in the 5x5 census transforms, 0..24
  gradient,  ///< |difference| of the horizontal derivatives (central differences) of luma
  /// 0.08 min(census, 10) + 0.048 min(absolute, 18) + 0.48 min(gradient, 2), in color with the mean of the
  /// channels' gradients. Intensities and derivatives are rounded to bytes.
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
               "Compare colors instead of luma. Differences are means over the color channels. It holds for "
               "absolute, squared and mix.");
  PF_PARAMETER(float, weight, 1, range(1e-6, 1e6), "Weight of the data cost.");
  PF_PARAMETER(float, truncation, 0, range(0, 1e6),
               "Largest difference that counts. A match outside the image has this difference. 0 = no limit, "
               "and outside the image the nearest pixel stands in.");
  PF_PARAMETER(int, aggregation, 1, odd(1, 31, "px"), "Side of the square that averages data costs.");
  PF_PARAMETER(
      float, aggregation_sigma, 0, range(0, 10, "px"),
      "Sigma of its gaussian, 0 = equal weights. The gaussian weights the data costs in that square.");
  PF_PARAMETER(float, presmooth, 0, range(0, 5, "px"),
               "Sigma of a gaussian blur, 0 = none. It smooths both images.");
  PF_PARAMETER(bool, texture_aware, false,
               "Treat areas without texture apart. There the images are smoothed, intensities are not "
               "compared, and belief propagation smooths more, most at coarse levels. It holds for mix.");
};

/// Cost of a pair of labels, before weight and truncation. Labels are numbers, or vectors for displacements.
enum class SmoothnessModel {
  potts,     ///< 1 where they differ
  linear,    ///< sum of the components' |differences| (Jodoin section 3.2)
  quadratic  ///< sum of the components' differences^2
};
constexpr std::array<std::string_view, 3> names_of(SmoothnessModel) {
  return {"potts", "linear", "quadratic"};
}

/// Smoothness of a label field. Each edge between two neighbors costs beta * min(model,
/// smoothness_truncation) * w. The weight w is 1, or edge_floor + (1 - edge_floor) exp(-difference /
/// edge_scale) by the difference of the two pixels in the first frame (the largest of the channels).
struct Smoothness {
  PF_PARAMETER(SmoothnessModel, smoothness, SmoothnessModel::linear,
               "Cost of a pair. A pair are the labels of two neighbors.");
  PF_PARAMETER(float, beta, 4, range(0, 1e6), "Weight of the smoothness.");
  PF_PARAMETER(float, smoothness_truncation, 0, range(0, 1e6),
               "Largest cost of a pair, 0 = no limit. It holds before the weight.");
  PF_PARAMETER(int, neighbors, 4, one_of({4, 8}), "Neighbors of a pixel, 4 or 8. Of 8, 4 are diagonal.");
  PF_PARAMETER(float, edge_scale, 0, range(0, 1e4),
               "Difference of pixels that weakens smoothness. The factor is edge_floor + (1 - edge_floor) "
               "exp(-difference / edge_scale). 0 = the factor is 1 everywhere.");
  PF_PARAMETER(float, edge_floor, 0.2f, range(0, 1), "Smoothness factor at strong edges.");
};

/// Where the left-right check takes the right image's disparities from.
enum class RightView {
  solved,    ///< the method solves the right image, too: twice the time
  projected  ///< the left image's disparities, moved into the right image, where near surfaces hide far ones
};
constexpr std::array<std::string_view, 2> names_of(RightView) { return {"solved", "projected"}; }

/// Checks and filters that refine disparities. They run in the order of the fields.
struct DisparityChecks {
  PF_PARAMETER(float, lr_check, 0, range(0, 1e6, "px"),
               "Left-right check, 0 = none. A disparity is valid only where the right image's disparity "
               "differs by at most this.");
  PF_PARAMETER(
      RightView, right_view, RightView::solved,
      "Right view's source. It is for the left-right check. solved: the method solves the right image, "
      "too, which takes twice the time. projected: the left image's disparities are moved there, and "
      "near surfaces hide far ones.");
  PF_PARAMETER(int, speckle, 0, range(0, 1 << 29, "px"),
               "Largest region that is dropped, 0 = none. Connected regions of similar disparity with at "
               "most this many pixels become not valid.");
  PF_PARAMETER(bool, fill, false,
               "Fill in disparities that are not valid. A pixel takes the smaller of the nearest valid "
               "disparities to its left and right: the background's. It stays not valid.");
  PF_PARAMETER(
      int, color_median, 0, one_of({0, 5, 9, 13, 17, 21, 25}, "px"),
      "Side of a weighted median, 0 = none. It goes over every second pixel of a window, for pixels that "
      "are not valid or whose disparities in both images differ. Near pixels of similar color weigh "
      "most.");
  PF_PARAMETER(int, final_median, 0, one_of({0, 3, 5}, "px"),
               "Side of a median of the disparities, 0 = none. It is the last step.");
};

/// Disparities min_disparity .. min_disparity + disparities - 1 (Jodoin eqs. 8, 9): x_right = x_left - d.
struct StereoEnergy {
  PF_PARAMETER(int, disparities, 0, range(0, 4096),
               "Number of disparities, 0 = found. A coarse search finds how many the images need.");
  PF_PARAMETER(int, min_disparity, 0, range(-4096, 4096, "px"),
               "Least disparity. Disparity d: x_right = x_left - d.");
  PF_PARAMETERS_OF(MatchingCost, cost, .aggregation = 7);
  PF_PARAMETERS_OF(Smoothness, smoothness);
  PF_PARAMETER(
      bool, sub_pixel, false,
      "Refine disparities. Two lines of opposite slopes go through three costs. Offsets below 0.08 px "
      "become 0: so surfaces that face the camera keep whole disparities.");
  PF_PARAMETERS_OF(DisparityChecks, checks);
  PF_PARAMETER(
      float, noise, 0, range(0, 64),
      "Noise of a video's frames, 0 = pairs have no past. It is the standard deviation of luma, of 0 to "
      "255. Pushed frames are averaged over up to 8 pairs, except where they change by more than noise.");
};

/// Whole displacements in [-max_displacement, max_displacement]^2 (Jodoin eq. 7 and after).
struct DisplacementEnergy {
  PF_PARAMETER(int, max_displacement, 5, range(1, 100, "px"), "Longest displacement in x and in y.");
  PF_PARAMETERS_OF(MatchingCost, cost);
  PF_PARAMETERS_OF(Smoothness, smoothness, .neighbors = 8);
  PF_PARAMETER(bool, sub_pixel, false, "Refine flow. Parabolas go through three data costs in x and in y.");
};

/// Static or moving (Jodoin eqs. 4 to 6). The data cost of a pixel is (y - mean * moving)^2 / sigma^2, with y
/// = |frame1 - frame0| (in color the mean over the channels). Each of the eight neighbors costs beta where
/// its label differs and -beta where it agrees. The pixel's label in the last mask costs `temporal` and
/// -temporal likewise; with `temporal_fades` a moving pixel of the last mask has less weight where little
/// changes. Without that, masks never shrink if 2 temporal is above (mean / sigma)^2 and the solver finds the
/// least energy: what has left a place stays in the mask. Solvers start from the label of least data cost,
/// which is the result of winner-takes-all. Reported energies count 2 beta for neighbors that differ and 0
/// for those that agree: the same but for a constant.
struct ChangeEnergy {
  PF_PARAMETER(float, mean, 12, range(0, 255), "Expected difference where things move, m_p.");
  PF_PARAMETER(float, sigma, 15, range(0.01, 1000), "Standard deviation of the differences.");
  PF_PARAMETER(float, beta, 1, range(0, 1000), "Weight of the eight neighbors.");
  PF_PARAMETER(float, temporal, 1, range(0, 1000), "Weight of the last mask, 0 = it is not used.");
  PF_PARAMETER(bool, temporal_fades, false,
               "The last mask counts less where little changes. There its moving pixels have the weight "
               "temporal min(1, difference / mean): so what has left a place leaves no mask there.");
  PF_PARAMETER(bool, rgb, false,
               "Compare colors instead of luma. Differences are means over the color channels.");
};

/// Static or moving, against a background that is learned from the frames that are pushed (a single pair learns from
/// its first frame). The energy is that of ChangeEnergy, with another difference: y = d / spread, at most 3 mean. d is
/// the second smallest distance of the pixel's luma from 8 samples of its background, once the light of the whole
/// frame is made equal by one factor. The spread is twice the usual d of the pixel.
///
/// Static pixels renew samples at random, their own and those of neighbors (ViBe: Barnich and Van Droogenbroeck 2011).
/// So leaves that sway, light that drifts and noise become part of the background. A pixel that has moved and then
/// keeps its luma becomes background after `absorb` frames, and sooner only where the background was seen for a
/// shorter time: in the first frames, which begin with what stands in the first one. Where more than 70 % of the
/// pixels seem to move, the background is learned anew within a few frames.
struct BackgroundEnergy {
  PF_PARAMETER(float, mean, 3.33f, range(0, 85), "Expected difference where things move, in spreads.");
  PF_PARAMETER(float, sigma, 2, range(0.01, 1000), "Standard deviation of the differences, in spreads.");
  PF_PARAMETER(float, beta, 1, range(0, 1000), "Weight of the eight neighbors.");
  PF_PARAMETER(float, temporal, 1, range(0, 1000), "Weight of the last mask, 0 = it is not used.");
  PF_PARAMETER(float, least_spread, 3, range(0.5, 15), "Least spread of a pixel's luma, of 0 to 255.");
  PF_PARAMETER(int, renewal, 8, range(1, 1000),
               "Mean time until a pixel renews one of its samples, in frames. The first frames take less.");
  PF_PARAMETER(int, absorb, 1500, range(1, 60000),
               "Time until what stands still becomes background, in frames.");
};

}  // namespace parafield
