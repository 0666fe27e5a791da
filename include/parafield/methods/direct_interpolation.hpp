// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/methods/feature_tracking.hpp"
#include "parafield/methods/precision.hpp"

namespace parafield {

/// How flow goes on around a feature.
enum class MotionModel {
  constant,  ///< the feature's flow everywhere (Kim)
  affine     ///< flow that changes linearly, fitted to the matches around
};
constexpr std::array<std::string_view, 2> names_of(MotionModel) { return {"constant", "affine"}; }

/// Dense flow interpolated from tracked features (Kim, Hwangbo, Kanade: Parallel algorithms to a parallel
/// hardware, Alg. 1). A pixel's flow is the mean of the features' flows, weighted by their likelihoods (eqs.
/// 1 to 4). A likelihood is a gaussian of five dimensions: the feature's distance from the pixel and the
/// difference of their colors. Weights are relative to the pixel's best one, so that the flow is defined
/// everywhere. Weights under 2^-24 of the best count as 0. Without features the flow is 0 and not valid.
///
/// The flow is a hypothesis, and the second frame tests it. A pixel whose color has changed is unclassified,
/// which means not `valid`. `confidence` is the best feature's likelihood, 0 to 1. FlowInput gives the
/// features as tracks, or they are found as `tracking` says. A camera's rotation in FlowInput is a second
/// hypothesis for pixels that fail with the first.
///
/// With a second round (`resampled`, not 0), flow is first interpolated there and back. A step of Lucas-Kanade
/// refines it where that lowers the difference of the 5x5 pixels around. Both flows are checked. Pixels that
/// end within resampled_check of where they began are the features of the second round. They are taken from a
/// grid.
///
/// With `model` = affine, matches are not features but seeds of a dense grid. Each match gets an affine model
/// of the flow around it, by least squares over the matches within 4 seeds, which near ones of like color and
/// flow decide. A seed without a match continues the model of the match that is nearest along the grid, where
/// steps between colors are longer. A pixel's flow is the mean of the models around, weighted by distance
/// (sigma 0.75 match_stride) and color (sigma 12 a channel). `confidence` is the sum of these weights, 1
/// where all seeds around are matches of the pixel's color. Tracks cannot be given then.
struct DirectInterpolation {
  static constexpr std::string_view name = "direct-interpolation";
  static constexpr std::string_view help = "Interpolates the flow of tracked features, guided by color.";
  static constexpr std::string_view source = "Kim, Hwangbo, Kanade 2009, section 4.1, Alg. 1, eqs. 1-4";
  static constexpr int frames = 2;

  PF_PARAMETERS_OF(FeatureTracking, tracking, .max_features = 2500);
  PF_PARAMETER(float, sigma_position, 8, range(0.5, 1000, "px"),
               "Sigma over positions. It is 1 / beta of eq. 3. At 0.5 to 0.7 of the features' spacing, a few "
               "near features decide. More smooths across motions. Less leaves steps between features.");
  PF_PARAMETER(float, sigma_color, 20, range(0.5, 1000),
               "Sigma over colors. It is 1 / alpha of eq. 3, for colors of 0 to 255. It should be above "
               "noise and shading and below the differences between objects.");
  PF_PARAMETER(
      float, presmooth, 1, range(0, 5, "px"),
      "Sigma of a gaussian that smooths the colors. It is for the likelihoods, against noise. 0 = none.");
  PF_PARAMETER(
      float, change_threshold, 8, range(0, 256),
      "Difference of colors that have changed. A color has changed where it differs from its match by at "
      "least this, as a mean over the channels. A good value is about three times the camera's noise.");
  PF_PARAMETER(int, change_window, 1, one_of({1, 3, 5}, "px"),
               "Side of the square that averages differences. More is for noise. Things thinner than the "
               "square are lost.");
  PF_PARAMETER(
      int, resampled, 4000, range(0, 65536),
      "Most features of a second round, 0 = one round. They come from the checked flow of the first.");
  PF_PARAMETER(float, resampled_check, 0.1f, range(0, 100, "px"),
               "Largest error there and back, second round. That round uses flow of the first that, followed "
               "there and back, ends within this distance of where it began.");
  PF_PARAMETER(float, resampled_position, 7, range(0.5, 1000, "px"), "sigma_position, second round.");
  PF_PARAMETER(float, resampled_color, 15, range(0.5, 1000), "sigma_color, second round.");
  PF_PARAMETER(
      MotionModel, model, MotionModel::constant,
      "Flow around a feature. constant: that of the feature. affine: it changes linearly, as matches "
      "around it do. It is for features = matches. sigma_position, sigma_color, max_features and resampled "
      "are not used then.");
  PF_PARAMETER(int, median, 5, one_of({0, 3, 5}, "px"),
               "Side of a median, 0 = none. It smooths the flow before the test.");
  PF_PARAMETER(Precision, precision, Precision::exact,
               "Precision of likelihoods. exact: the same bits on every device. fast: features under 1/256 "
               "of the pixel's best likelihood are left out, and a GPU uses its own exponentials. Flow "
               "differs by about 0.001 px in the mean, and hardly ever by 1 % of the features' range.");

  void check_together() const {
    if (model == MotionModel::constant) return;
    if (tracking.features != FeatureChoice::matches)
      detail::fail_parameter(name, "features", detail::text_of(tracking.features),
                             "matches, as model is " + detail::text_of(model));
  }
};

inline std::array<Preset<DirectInterpolation>, 3> presets(const DirectInterpolation&) {
  return {
      {{"default", DirectInterpolation{}, "2500 features on an even grid, two rounds."},
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
        {.tracking = {.max_features = 2500, .track_levels = 5}, .resampled = 6000, .resampled_check = 0.08f},
        "More features in the second round."}}};
}

}  // namespace parafield
