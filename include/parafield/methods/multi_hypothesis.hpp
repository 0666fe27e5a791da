// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/methods/feature_tracking.hpp"
#include "parafield/methods/precision.hpp"
#include "parafield/methods/refinement.hpp"

namespace parafield {

/// Which flows are labels. Labels are nodes of a grid of flows, `label_step` apart.
enum class FlowLabels {
  grid,     ///< all nodes between the smallest and the largest of the features' flows
  distinct  ///< only the nodes that a feature's flow is rounded to
};
constexpr std::array<std::string_view, 2> names_of(FlowLabels) { return {"grid", "distinct"}; }

/// Dense flow by testing many hypotheses (Kim, Hwangbo, Kanade: Parallel algorithms to a parallel hardware,
/// Algs. 2 and 3). The flows of tracked features are rounded to labels. Every feature votes for every label
/// with its likelihood, a seven-dimensional gaussian of the feature's distance from the pixel (2), the
/// difference of their colors (3), and the distance between the feature's flow and the label (2). A label's
/// score is the sum of its votes. A label passes if the second frame has the pixel's color at the match. The
/// pixel's flow is the passing label with the highest score. If no label passes, the pixel is unclassified:
/// it is not `valid` and takes the label with the highest score. `confidence` is the label's share of the
/// votes, 0 to 1.
///
/// A thin object with no feature on it still gets its flow if some feature moves like it. That feature may be
/// far away, because labels without votes from nearby features are tested last (`unvoted`). Weights, features
/// and camera rotation are as for DirectInterpolation, and the rotation is an additional label.
struct MultiHypothesis {
  static constexpr std::string_view name = "multi-hypothesis";
  static constexpr std::string_view help =
      "Tests the flows of tracked features at each pixel, for thin things.";
  static constexpr std::string_view source =
      "Kim, Hwangbo, Kanade 2009, sections 4.2 and 5.2, Algs. 2 and 3, Fig. 1";
  static constexpr int frames = 2;

  PF_PARAMETERS_OF(FeatureTracking, tracking, .max_features = 3000);
  PF_PARAMETER(float, sigma_position, 10, range(0.5, 1000, "px"),
               "Sigma over positions. This is 1 / beta of eq. 3. It should be wider than for an "
               "interpolation because a label needs votes from all features that move like the pixel.");
  PF_PARAMETER(float, sigma_color, 20, range(0.5, 1000),
               "Sigma over colors. This is 1 / alpha of eq. 3, for colors from 0 to 255. It should be above "
               "noise and shading and below the differences between objects.");
  PF_PARAMETER(
      float, presmooth, 1, range(0, 5, "px"),
      "Sigma of a gaussian that smooths the colors. This reduces noise in the likelihoods. 0 = none.");
  PF_PARAMETER(float, sigma_flow, 1, range(0.25, 100),
               "Sigma over flows, in units of label_step. At about 1, features with similar flow vote "
               "together even if they are rounded to different labels. Larger values mix different motions.");
  PF_PARAMETER(FlowLabels, labels, FlowLabels::distinct,
               "Flows that are labels. grid: all flows between the features' smallest and largest. distinct: "
               "only the features' own flows, 3 to 8 times fewer.");
  PF_PARAMETER(float, label_step, 1, range(0.05, 100, "px"),
               "Distance between labels. Without sub_pixel, this is the resolution of the flow. Half the "
               "distance makes up to four times as many labels.");
  PF_PARAMETER(int, max_labels, 1024, range(1, 16384),
               "Maximum number of labels. Memory is allocated for this many; more labels are an error.");
  PF_PARAMETER(
      float, change_threshold, 8, range(0, 256),
      "Difference of a changed color. A pixel's color has changed if it differs from its match by at least "
      "this, averaged over the channels. A good value is about three times the camera's noise.");
  PF_PARAMETER(int, change_window, 1, one_of({1, 3, 5}, "px"),
               "Side of the square that averages differences. A larger square helps against noise and with "
               "many labels, because some wrong label always matches a single pixel. Objects thinner than "
               "the square are lost.");
  PF_PARAMETER(float, change_softness, 0, range(0, 256),
               "Softness of the test, 0 = labels pass or fail. A difference of this size makes a score 2.7 "
               "times lower. Use it if labels are too far from the true flow to match exactly.");
  PF_PARAMETER(
      int, ranked, 0, range(0, 16384),
      "Maximum labels to test, 0 = all (Alg. 3). Labels with the best scores are tested first (Alg. 2). A "
      "limit prevents chance matches of labels with few votes. It cannot be combined with change_softness.");
  PF_PARAMETER(bool, unvoted, true,
               "Also test labels without votes. No feature close in place and color votes for them; they are "
               "tested last, in order. In the paper, their likelihoods are near 0. Thin objects that move "
               "like something far away need this, but a pixel without a match may take a chance match. It "
               "has no effect with change_softness.");
  PF_PARAMETER(bool, sub_pixel, true,
               "Average the flows of features. They are weighted by their votes for the pixel's label. "
               "Otherwise, the flow is the label.");
  PF_PARAMETER(
      Precision, precision, Precision::exact,
      "Precision of likelihoods. exact: the same bits on every device. fast: features under 1/256 of the "
      "pixel's best likelihood are skipped, and a GPU uses its own exponential. Few labels change.");
  PF_PARAMETERS_OF(VariationalRefinement, refinement);

  void check_together() const {
    if (ranked > 0 && change_softness > 0)
      detail::fail_parameter(name, "ranked", detail::text_of(ranked),
                             "0, as change_softness is " + detail::text_of(change_softness));
  }
};

inline std::array<Preset<MultiHypothesis>, 4> presets(const MultiHypothesis&) {
  return {{{"default", MultiHypothesis{}, "Distinct labels 1 px apart, single-pixel test, sub-pixel flow."},
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
            {.label_step = 0.5f,
             .max_labels = 4096,
             .change_window = 5,
             .change_softness = 2,
             .refinement = {.refine = 4, .refine_sweeps = 12}},
            "Lower error at several times the cost, but thin objects are lost."},
           {"thin",
            {.change_threshold = 4},
            "Finds thin objects that look like their background; other errors rise by up to 27 %."}}};
}

}  // namespace parafield
