// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/methods/feature_matching.hpp"

namespace parafield {

/// Where features are placed in a grid of at most `max_features` cells of about equal size.
enum class FeatureChoice {
  even,     ///< each cell's center
  corners,  ///< each cell's strongest corner (Shi and Tomasi 1994), a maximum of the 3x3 pixels around it
  matches   ///< no tracking: the match of FeatureMatching that is nearest to each cell's center
};
constexpr std::array<std::string_view, 3> names_of(FeatureChoice) { return {"even", "corners", "matches"}; }

/// How features are found and tracked if none are given. Pyramidal Lucas-Kanade tracks them from the first
/// frame to the second and back. Lost features are tracked again, starting from the flows of features around
/// them. Features whose flow does not fit the flows around them are dropped. Tracking finds motion up to
/// about the size of the moving object. Matches find motion of any size; they ignore the track_* parameters.
struct FeatureTracking {
  static constexpr std::string_view name = "feature tracking";

  PF_PARAMETER(
      FeatureChoice, features, FeatureChoice::even,
      "Features to track. even: the center of each grid cell. corners: each cell's strongest corner. "
      "matches: no tracking; uses the match nearest to each cell's center, for motion of any size.");
  PF_PARAMETER(int, max_features, 1000, range(1, 65536),
               "Maximum number of grid cells. It also limits how many tracks can be given.");
  PF_PARAMETER(int, track_window, 9, odd(3, 21, "px"), "Side of a feature's square window.");
  PF_PARAMETER(int, track_levels, 4, range(1, 16),
               "Pyramid levels. Levels with a shorter side under 4 px are left out, except the finest.");
  PF_PARAMETER(int, track_iterations, 30, range(1, 100), "Maximum number of iterations on each level.");
  PF_PARAMETER(float, track_check, 0.5f, range(0, 100, "px"),
               "Largest forward-backward error, 0 = no check. A feature is tracked forward and back, and "
               "dropped if it ends this far from its start or farther.");
  PF_PARAMETER(int, track_rounds, 2, range(0, 64),
               "Rounds in which dropped features are retried. At full resolution, they start from the flows "
               "of the nearest tracks in 8 directions. This spreads the flow of small fast objects from a "
               "few of their features. 0 = none.");
  PF_PARAMETER(float, track_outliers, 3, range(0, 1000),
               "Limit for outliers, 0 = none. A feature's flow is compared with the median of the "
               "surrounding 3x3 cells. The feature is dropped if the difference is at least this many times "
               "the cells' median difference, which counts as at least 0.7 px.");
  PF_PARAMETERS_OF(FeatureMatching, matching);
};

}  // namespace parafield
