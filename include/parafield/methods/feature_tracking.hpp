// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/methods/feature_matching.hpp"

namespace parafield {

/// Where features are looked for in a grid of cells. All cells have about the same size, and there are at
/// most `max_features` of them.
enum class FeatureChoice {
  even,     ///< each cell's center
  corners,  ///< each cell's strongest corner (Shi and Tomasi 1994), a maximum of the 3x3 pixels around it
  matches   ///< not tracked: each cell's match of FeatureMatching that is nearest to the center
};
constexpr std::array<std::string_view, 3> names_of(FeatureChoice) { return {"even", "corners", "matches"}; }

/// How features are found and tracked where none are given. Pyramidal Lucas-Kanade tracks them from the first
/// frame to the second and back. Where they are lost, they are tracked again from the flows of features
/// around them. They are dropped where their flow does not fit the flows around them. Tracking finds motion
/// up to about the size of what moves. Matches find any motion; then parameters track_* are not used.
struct FeatureTracking {
  static constexpr std::string_view name = "feature tracking";

  PF_PARAMETER(
      FeatureChoice, features, FeatureChoice::even,
      "Features to track. even: the center of each cell of a grid. corners: each cell's strongest corner. "
      "matches: no tracking, but the match nearest to each cell's center, for motion of any size.");
  PF_PARAMETER(int, max_features, 1000, range(1, 65536),
               "Most cells of the grid. It is also the largest number of tracks that can be given.");
  PF_PARAMETER(int, track_window, 9, odd(3, 21, "px"), "Side of a feature's square window.");
  PF_PARAMETER(int, track_levels, 4, range(1, 16),
               "Pyramid levels. Levels other than the finest with a shorter side under 4 px are left out.");
  PF_PARAMETER(int, track_iterations, 30, range(1, 100), "Most solutions on each level.");
  PF_PARAMETER(float, track_check, 0.5f, range(0, 100, "px"),
               "Largest error there and back, 0 = no check. A feature is tracked there and back. It is "
               "dropped where it ends this far from its place or further.");
  PF_PARAMETER(int, track_rounds, 2, range(0, 64),
               "Rounds in which dropped features try again. At full resolution, they start from the flows of "
               "the nearest tracks in 8 directions. So the flow of small fast things spreads from a few of "
               "their features. 0 = none.");
  PF_PARAMETER(float, track_outliers, 3, range(0, 1000),
               "Limit for outliers, 0 = none. A feature's flow is compared with the median of the 3x3 cells "
               "around. The feature is dropped where the difference is at least this many times the median "
               "difference of those cells. That one counts as at least 0.7 px.");
  PF_PARAMETERS_OF(FeatureMatching, matching);
};

}  // namespace parafield
