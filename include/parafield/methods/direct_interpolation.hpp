#pragma once
#include "parafield/methods/feature_tracking.hpp"
#include "parafield/methods/precision.hpp"

namespace parafield {

/// Dense flow interpolated from tracked features (Kim, Hwangbo, Kanade: Parallel algorithms to a parallel hardware, Alg. 1).
/// A pixel's flow is the mean of the features' flows, each weighted by its likelihood (eqs. 1 to 4): a gaussian of five
/// dimensions, of how far it lies from the pixel and of how much its color differs. Weights are relative to the pixel's best,
/// so that the flow is defined everywhere (without features it is 0, and not valid); those under 2^-24 of it count as none. The flow is a hypothesis, which the second
/// frame tests: where the color has changed the pixel is unclassified, which is not `valid`. `confidence` is the best
/// feature's likelihood, 0 to 1.
///
/// Features are tracks that FlowInput gives, or, where it gives none, found as `tracking` says. A camera's rotation that it
/// gives is a second hypothesis, for pixels that fail with the first.
///
/// With a second round (`resampled`) flow is interpolated there and back, refined by a step of Lucas-Kanade where that lowers
/// the difference of the 5x5 pixels around, and checked; pixels that end within resampled_check of where they began, taken
/// from a grid, are the features of the second round.
struct DirectInterpolation {
  static constexpr std::string_view name = "direct-interpolation";
  static constexpr std::string_view source = "Kim, Hwangbo, Kanade 2009, section 4.1, Alg. 1, eqs. 1-4";
  static constexpr int frames = 2;

  FeatureTracking tracking = {};
  float sigma_position = 10;
  float sigma_color = 20;
  float presmooth = 1;
  float change_threshold = 8;
  int change_window = 1;
  int resampled = 0;
  float resampled_check = 0.2f;
  float resampled_position = 7;
  float resampled_color = 15;
  int median = 0;
  Precision precision = Precision::exact;
};

template <class Method, class Visitor>
requires std::is_same_v<std::remove_const_t<Method>, DirectInterpolation>
void describe(Method& method, Visitor&& visit) {
  static constexpr std::array change_windows{1, 3, 5};
  static constexpr std::array medians{0, 3, 5};
  describe(method.tracking, visit);
  visit(method.sigma_position,
        Parameter<float>{
            "sigma_position", 0.5f, 1000, "px",
            "1 / beta of eq. 3: about 0.5 to 0.7 of the features' spacing, so that a few of them "
            "decide, nearest first; more smooths across motions, less leaves steps between features"});
  visit(method.sigma_color,
        Parameter<float>{"sigma_color", 0.5f, 1000, "",
                         "1 / alpha of eq. 3, of colors 0..255: above noise and shading, below what tells "
                         "objects apart"});
  visit(method.presmooth,
        Parameter<float>{
            "presmooth", 0, 5, "px",
            "sigma of a gaussian over the colors that likelihoods compare, so that noise does not "
            "decide; 0 = none"});
  visit(method.change_threshold,
        Parameter<float>{
            "change_threshold", 0, 256, "",
            "a color has changed where it differs from its match by that much, as a mean over the "
            "channels, or more: about three times the noise of a camera"});
  visit(method.change_window,
        Parameter<int>{"change_window", 1, 5, "px",
                       "side of the square window that differences are averaged over: more for noise; erases "
                       "what is thinner",
                       change_windows});
  visit(method.resampled,
        Parameter<int>{
            "resampled", 0, 65536, "",
            "features of a second round, at most, from the checked flow of the first; 0 = one round"});
  visit(method.resampled_check,
        Parameter<float>{
            "resampled_check", 0, 100, "px",
            "the first round's flow is used where, followed there and back, it ends within so much "
            "of where it began"});
  visit(method.resampled_position,
        Parameter<float>{"resampled_position", 0.5f, 1000, "px", "sigma_position of the second round"});
  visit(method.resampled_color,
        Parameter<float>{"resampled_color", 0.5f, 1000, "", "sigma_color of the second round"});
  visit(method.median, Parameter<int>{"median", 0, 5, "px",
                                      "side of a median of the flow before the test; 0 = none", medians});
  visit(method.precision,
        Parameter<Precision>{
            "precision", Precision::exact, Precision::fast, "",
            "exact: the same bits everywhere; fast: without features under 1/256 of the pixel's "
            "best likelihood, and with the GPU's own exponentials: flow differs by about "
            "0.001 px in the mean, and hardly by 1 % of the features' range"});
}

inline std::array<Preset<DirectInterpolation>, 3> presets(const DirectInterpolation&) {
  return {{{"default", DirectInterpolation{}, "1000 features on an even grid"},
           {"paper",
            {.tracking = {.features = FeatureChoice::corners, .track_rounds = 0},
             .sigma_position = 24,
             .sigma_color = 6,
             .presmooth = 0},
            "1000 corners; alpha / beta = 4"},
           {"accurate",
            {.tracking = {.max_features = 3000, .track_levels = 5},
             .sigma_position = 7,
             .resampled = 6000,
             .median = 5},
            "two rounds: lower error at several times the cost"}}};
}

}  // namespace parafield
