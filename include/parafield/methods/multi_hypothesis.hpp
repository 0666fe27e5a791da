// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/methods/feature_tracking.hpp"
#include "parafield/methods/precision.hpp"

namespace parafield {

/// Which flows are labels. A label is a node of a grid of flows; `label_step` is the distance between nodes.
enum class FlowLabels {
  grid,     ///< all nodes between the smallest and the largest of the features' flows
  distinct  ///< only the nodes that a feature's flow is rounded to
};
constexpr std::array<std::string_view, 2> names_of(FlowLabels) { return {"grid", "distinct"}; }

/// Dense flow by testing many hypotheses (Kim, Hwangbo, Kanade: Parallel algorithms to a parallel hardware,
/// Algs. 2 and 3). The flows of tracked features are rounded to labels. Every feature votes for every label
/// by its likelihood, a gaussian of seven dimensions: the feature's distance from the pixel (2), the
/// difference of their colors (3), and the distance between the feature's flow and the label (2). The sum of
/// the votes is the label's score. A label passes where the second frame shows the pixel's color at the
/// match. The passing label with the highest score is the pixel's flow. Where none passes, the pixel is
/// unclassified: it is not `valid`, and it takes the label with the highest score. `confidence` is the
/// label's share of the votes, 0 to 1.
///
/// A thin thing gets its flow although no feature lies on it, if some feature moves like it. That feature may
/// be far away: labels that no near feature votes for are tested last (`unvoted`). Weights, features and a
/// camera's rotation are as for DirectInterpolation. The rotation is one more label.
struct MultiHypothesis {
  static constexpr std::string_view name = "multi-hypothesis";
  static constexpr std::string_view help =
      "Tests the flows of tracked features at each pixel, for thin things.";
  static constexpr std::string_view source =
      "Kim, Hwangbo, Kanade 2009, sections 4.2 and 5.2, Algs. 2 and 3, Fig. 1";
  static constexpr int frames = 2;

  PF_PARAMETERS_OF(FeatureTracking, tracking, .max_features = 3000);
  PF_PARAMETER(float, sigma_position, 10, range(0.5, 1000, "px"),
               "Sigma over positions. It is 1 / beta of eq. 3. It should be wider than for an interpolation: "
               "a label needs votes from all features that move like the pixel.");
  PF_PARAMETER(float, sigma_color, 20, range(0.5, 1000),
               "Sigma over colors. It is 1 / alpha of eq. 3, for colors of 0 to 255. It should be above "
               "noise and shading and below the differences between objects.");
  PF_PARAMETER(
      float, presmooth, 1, range(0, 5, "px"),
      "Sigma of a gaussian that smooths the colors. It is for the likelihoods, against noise. 0 = none.");
  PF_PARAMETER(float, sigma_flow, 1, range(0.25, 100),
               "Sigma over flows, in steps of the labels. At about 1, features of like flow vote together "
               "even if rounding gives them different labels. More mixes different motions.");
  PF_PARAMETER(FlowLabels, labels, FlowLabels::distinct,
               "Flows that are labels. grid: all flows between the features' smallest and largest. distinct: "
               "only the features' own flows, 3 to 8 times fewer.");
  PF_PARAMETER(float, label_step, 1, range(0.05, 100, "px"),
               "Distance between labels. Without sub_pixel, flow is as coarse as this. Half the distance "
               "makes up to four times as many labels.");
  PF_PARAMETER(int, max_labels, 1024, range(1, 16384),
               "Most labels. Memory is taken for this many; more labels are an error.");
  PF_PARAMETER(
      float, change_threshold, 8, range(0, 256),
      "Difference of colors that have changed. A color has changed where it differs from its match by at "
      "least this, as a mean over the channels. A good value is about three times the camera's noise.");
  PF_PARAMETER(
      int, change_window, 1, one_of({1, 3, 5}, "px"),
      "Side of the square that averages differences. A wide square is for noise and for many labels, where "
      "some wrong label always matches a single pixel. Things thinner than the square are lost.");
  PF_PARAMETER(float, change_softness, 0, range(0, 256),
               "Softness of the test, 0 = labels pass or fail. A difference of this size makes a score 2.7 "
               "times lower. It is for labels that are too far from the true flow to match exactly.");
  PF_PARAMETER(int, ranked, 0, range(0, 16384),
               "Most labels that are tested, 0 = all (Alg. 3). The best scores come first (Alg. 2). A limit "
               "prevents chance matches of labels with few votes. It cannot be used with change_softness.");
  PF_PARAMETER(bool, unvoted, true,
               "Test labels without votes, too. These have no vote from a feature near in place and color, "
               "and are tested after all others, in order. The paper does so with likelihoods near 0. Thin "
               "things that move like something far away need it. But a pixel without a match may take a "
               "chance match. unvoted does nothing with change_softness.");
  PF_PARAMETER(bool, sub_pixel, true,
               "Average the flows of features. They are weighted by their votes for the pixel's label. "
               "Otherwise flow is that of the label.");
  PF_PARAMETER(
      Precision, precision, Precision::exact,
      "Precision of likelihoods. exact: the same bits on every device. fast: features under 1/256 of the "
      "pixel's best likelihood are left out, and a GPU uses its own exponentials. Few labels change.");

  void check_together() const {
    if (ranked > 0 && change_softness > 0)
      detail::fail_parameter(name, "ranked", detail::text_of(ranked),
                             "0, as change_softness is " + detail::text_of(change_softness));
  }
};

inline std::array<Preset<MultiHypothesis>, 4> presets(const MultiHypothesis&) {
  return {{{"default", MultiHypothesis{}, "Distinct labels of 1 px, single-pixel test, sub-pixel flow."},
           {"paper",
            {.tracking = {.features = FeatureChoice::corners, .track_rounds = 0},
             .sigma_position = 24,
             .sigma_color = 6,
             .presmooth = 0,
             .labels = FlowLabels::grid,
             .max_labels = 4096,
             .sub_pixel = false},
            "The paper's parameters: Alg. 3, 1000 corners, alpha / beta = 4, flow in whole px."},
           {"accurate",
            {.label_step = 0.5f, .max_labels = 4096, .change_window = 5, .change_softness = 2},
            "Lower error at several times the cost, but thin things are lost."},
           {"thin",
            {.change_threshold = 4},
            "Finds thin things that look like their background; other errors rise by up to 27 %."}}};
}

}  // namespace parafield
