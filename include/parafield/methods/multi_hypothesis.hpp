#pragma once
#include "parafield/methods/feature_tracking.hpp"
#include "parafield/methods/precision.hpp"

namespace parafield {

/// Which nodes of the discretized flow space are labels.
enum class FlowLabels {
  grid,     ///< all between the smallest and the largest of the features' flows
  distinct  ///< those that a feature's flow is rounded to
};
constexpr std::array<std::string_view, 2> names_of(FlowLabels) { return {"grid", "distinct"}; }

/// Dense flow by testing many hypotheses (Kim, Hwangbo, Kanade: Parallel algorithms to a parallel hardware, Algs. 2 and 3). The
/// flows of tracked features are rounded to labels; every feature votes for every label by its likelihood, a gaussian of seven
/// dimensions: how far it lies from the pixel, how much its color differs, and how far its flow is from the label. A pixel's
/// flow is the label with the highest score among those that the second frame shows with the same color. Where none is,
/// the pixel is unclassified, which is not `valid`, and its flow is the best label's. `confidence` is the label's share of the
/// votes, 0 to 1. So a thin thing gets its flow although no feature lies on it, where some other feature moves like it. That
/// feature may be far away: labels that none near votes for (`unvoted`) are the last hypotheses.
///
/// Weights are as in DirectInterpolation, and so are the features and what a camera's rotation is for: one label more.
struct MultiHypothesis {
  static constexpr std::string_view name = "multi-hypothesis";
  static constexpr std::string_view source =
      "Kim, Hwangbo, Kanade 2009, sections 4.2 and 5.2, Algs. 2 and 3, Fig. 1";
  static constexpr int frames = 2;

  FeatureTracking tracking = {};
  float sigma_position = 16;
  float sigma_color = 20;
  float presmooth = 1;
  float sigma_flow = 1;
  FlowLabels labels = FlowLabels::distinct;
  float label_step = 1;
  int max_labels = 1024;
  float change_threshold = 8;
  int change_window = 1;
  float change_softness = 0;
  int ranked = 0;
  bool unvoted = true;
  bool sub_pixel = true;
  Precision precision = Precision::exact;
};

template <class Method, class Visitor>
requires std::is_same_v<std::remove_const_t<Method>, MultiHypothesis>
void describe(Method& method, Visitor&& visit) {
  static constexpr std::array change_windows{1, 3, 5};
  describe(method.tracking, visit);
  visit(method.sigma_position,
        Parameter<float>{"sigma_position", 0.5f, 1000, "px",
                         "1 / beta of eq. 3: wider than for an interpolation, since a label needs votes from "
                         "where features move like the pixel"});
  visit(method.sigma_color,
        Parameter<float>{"sigma_color", 0.5f, 1000, "",
                         "1 / alpha of eq. 3, of colors 0..255: above noise and shading, below what tells "
                         "objects apart"});
  visit(method.presmooth,
        Parameter<float>{
            "presmooth", 0, 5, "px",
            "sigma of a gaussian over the colors that likelihoods compare, so that noise does not "
            "decide; 0 = none"});
  visit(method.sigma_flow,
        Parameter<float>{"sigma_flow", 0.25f, 100, "",
                         "of the vote's gaussian over flows, in steps of the labels: about 1, so that what "
                         "rounding parts votes together; more blurs motions that are apart"});
  visit(method.labels, Parameter<FlowLabels>{"labels", FlowLabels::grid, FlowLabels::distinct, "",
                                             "hypotheses: all flows between the features' smallest and "
                                             "largest, or only the features' own, 3 to 8 times fewer"});
  visit(method.label_step,
        Parameter<float>{"label_step", 0.05f, 100, "px",
                         "from one label to the next: what is between is lost unless sub_pixel; half as much "
                         "makes up to four times the labels"});
  visit(method.max_labels,
        Parameter<int>{"max_labels", 1, 16384, "", "memory is taken for so many; more are an error"});
  visit(method.change_threshold,
        Parameter<float>{
            "change_threshold", 0, 256, "",
            "a color has changed where it differs from its match by that much, as a mean over the "
            "channels, or more: about three times the noise of a camera"});
  visit(method.change_window,
        Parameter<int>{"change_window", 1, 5, "px",
                       "side of the square window that differences are averaged over: more for noise and for "
                       "many labels, of which some wrong one always matches a pixel; erases what is thinner",
                       change_windows});
  visit(
      method.change_softness,
      Parameter<float>{"change_softness", 0, 256, "",
                       "a difference of so much weighs like a score 2.7 times lower, for labels too far from "
                       "the true flow to match exactly; 0 = labels pass or fail"});
  visit(method.ranked,
        Parameter<int>{"ranked", 0, 16384, "",
                       "labels that are tested at most, the best scores first (Alg. 2): against chance "
                       "matches of labels hardly voted for; 0 = all (Alg. 3). Not with change_softness"});
  visit(method.unvoted,
        Parameter<bool>{
            "unvoted", false, true, "",
            "labels that no feature near in place and color votes for are tested, too, after all "
            "others, in order, as the paper does with likelihoods near 0: without them a thin thing "
            "is lost that moves like something far away; but a pixel without a match takes a chance "
            "one. change_softness ignores it"});
  visit(method.sub_pixel,
        Parameter<bool>{"sub_pixel", false, true, "",
                        "flow is the mean of the features' flows, by their votes for the pixel's label"});
  visit(method.precision,
        Parameter<Precision>{
            "precision", Precision::exact, Precision::fast, "",
            "exact: the same bits everywhere; fast: without features under 1/256 of the pixel's "
            "best likelihood, and with the GPU's own exponentials: few labels change"});
}

inline std::array<Preset<MultiHypothesis>, 4> presets(const MultiHypothesis&) {
  return {
      {{"default", MultiHypothesis{}, "distinct labels of 1 px, single-pixel test, sub-pixel flow"},
       {"paper",
        {.tracking = {.features = FeatureChoice::corners, .track_rounds = 0},
         .sigma_position = 24,
         .sigma_color = 6,
         .presmooth = 0,
         .labels = FlowLabels::grid,
         .max_labels = 4096,
         .sub_pixel = false},
        "Alg. 3: 1000 corners, alpha / beta = 4, the grid of whole px, flow in whole px"},
       {"accurate",
        {.label_step = 0.5f, .max_labels = 4096, .change_window = 5, .change_softness = 2},
        "labels of 0.5 px, soft test over 5x5: lower error at several times the cost; loses thin things"},
       {"thin",
        {.change_threshold = 4},
        "finds thin things even where they look like what is behind, by a test near the noise; other errors "
        "rise: endpoint errors of real sequences by up to 27 %"}}};
}

}  // namespace parafield
