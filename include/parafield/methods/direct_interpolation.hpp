// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/methods/feature_tracking.hpp"
#include "parafield/methods/precision.hpp"
#include "parafield/methods/refinement.hpp"

namespace parafield {

/// How a feature's flow extends to the pixels around it.
enum class MotionModel {
  constant,  ///< the feature's flow everywhere (Kim)
  affine     ///< flow that changes linearly, fitted to the surrounding matches
};
constexpr std::array<std::string_view, 2> names_of(MotionModel) { return {"constant", "affine"}; }

/// Dense flow interpolated from tracked features (Kim, Hwangbo, Kanade: Parallel algorithms to a parallel
/// hardware, Alg. 1). A pixel's flow is the mean of the features' flows, weighted by their likelihoods (eqs.
/// 1 to 4). A likelihood is a five-dimensional gaussian of the feature's distance from the pixel and the
/// difference of their colors. Weights are relative to the pixel's best weight, so that the flow is defined
/// everywhere; weights under 2^-24 of the best count as 0. Without features, the flow is 0 and invalid.
///
/// The flow is a hypothesis, which is tested in the second frame. A pixel whose color has changed is
/// unclassified, which means not `valid`. `confidence` is the best feature's likelihood, 0 to 1. Features are
/// the tracks of FlowInput or, if there are none, are found according to `tracking`. A camera rotation in
/// FlowInput is a second hypothesis for pixels that fail the first.
///
/// With a second round (`resampled`, not 0), flow is first interpolated forward and backward. A Lucas-Kanade
/// step refines it where that lowers the difference over the surrounding 5x5 pixels. Pixels on a grid become
/// features of the second round if following both flows leads back to within resampled_check of their start.
///
/// With `model` = affine, matches are seeds of a dense grid instead of features. Each match gets an affine
/// model of the flow around it, by least squares over the matches within 4 seeds; nearby matches of similar
/// color and flow weigh most. A seed without a match continues the model of the match that is nearest along
/// the grid, where steps between different colors are longer. A pixel's flow is the mean of the surrounding
/// models, weighted by distance (sigma 0.75 match_stride) and color (sigma 12 per channel). `confidence` is
/// the sum of these weights: 1 where all surrounding seeds are matches of the pixel's color. Tracks must not
/// be given.
struct DirectInterpolation {
  static constexpr std::string_view name = "direct-interpolation";
  static constexpr std::string_view help = "Interpolates the flow of tracked features, guided by color.";
  static constexpr std::string_view source = "Kim, Hwangbo, Kanade 2009, section 4.1, Alg. 1, eqs. 1-4";
  static constexpr int frames = 2;

  PF_PARAMETERS_OF(FeatureTracking, tracking, .max_features = 2500);
  PF_PARAMETER(float, sigma_position, 8, range(0.5, 1000, "px"),
               "Sigma over positions. This is 1 / beta of eq. 3. At 0.5 to 0.7 times the spacing of the "
               "features, a few nearby features decide. Larger values smooth across motion boundaries; "
               "smaller values leave steps between features.");
  PF_PARAMETER(float, sigma_color, 20, range(0.5, 1000),
               "Sigma over colors. This is 1 / alpha of eq. 3, for colors from 0 to 255. It should be above "
               "noise and shading and below the differences between objects.");
  PF_PARAMETER(
      float, presmooth, 1, range(0, 5, "px"),
      "Sigma of a gaussian that smooths the colors. This reduces noise in the likelihoods. 0 = none.");
  PF_PARAMETER(
      float, change_threshold, 8, range(0, 256),
      "Difference of a changed color. A pixel's color has changed if it differs from its match by at least "
      "this, averaged over the channels. A good value is about three times the camera's noise.");
  PF_PARAMETER(int, change_window, 1, one_of({1, 3, 5}, "px"),
               "Side of the square that averages differences. A larger square suppresses noise, but objects "
               "thinner than it are lost.");
  PF_PARAMETER(int, resampled, 4000, range(0, 65536),
               "Maximum features of a second round, 0 = one round. They come from the checked flow of the "
               "first round.");
  PF_PARAMETER(float, resampled_check, 0.1f, range(0, 100, "px"),
               "Forward-backward tolerance, second round. That round uses flow of the first round that ends "
               "within this distance of its start when followed forward and back.");
  PF_PARAMETER(float, resampled_position, 7, range(0.5, 1000, "px"), "sigma_position, second round.");
  PF_PARAMETER(float, resampled_color, 15, range(0.5, 1000), "sigma_color, second round.");
  PF_PARAMETER(MotionModel, model, MotionModel::constant,
               "Flow around a feature. constant: the feature's flow. affine: flow that changes linearly, "
               "fitted to the surrounding matches. It needs features = matches and ignores sigma_position, "
               "sigma_color, max_features and resampled.");
  PF_PARAMETER(int, median, 5, one_of({0, 3, 5}, "px"),
               "Side of the median filter, 0 = none. It smooths the flow before the test.");
  PF_PARAMETER(Precision, precision, Precision::exact,
               "Precision of likelihoods. exact: the same bits on every device. fast: features under 1/256 "
               "of the pixel's best likelihood are skipped, and a GPU uses its own exponential. Flow differs "
               "by about 0.001 px on average, and hardly ever by 1 % of the features' range.");
  PF_PARAMETERS_OF(VariationalRefinement, refinement);

  void check_together() const {
    if (model == MotionModel::constant) return;
    if (tracking.features != FeatureChoice::matches)
      detail::fail_parameter(name, "features", detail::text_of(tracking.features),
                             "matches, as model is " + detail::text_of(model));
  }
};

inline std::array<Preset<DirectInterpolation>, 3> presets(const DirectInterpolation&) {
  return {{{"default", DirectInterpolation{}, "2500 features on an even grid, two rounds."},
           {"paper",
            {.tracking = {.features = FeatureChoice::corners, .track_rounds = 0},
             .sigma_position = 24,
             .sigma_color = 6,
             .presmooth = 0,
             .resampled = 0,
             .resampled_check = 0.2f,
             .median = 0},
            "The paper's parameters: 1000 corners, alpha / beta = 4."},
           {"accurate",
            {.tracking = {.max_features = 2500, .track_levels = 5},
             .resampled = 6000,
             .resampled_check = 0.08f,
             .refinement = {.refine = 4, .refine_sweeps = 12}},
            "More features in the second round, and refinement."}}};
}

}  // namespace parafield
