#pragma once
#include "parafield/method.hpp"

namespace parafield {

/// Where features are looked for, in a grid of cells, all of one size, as many as features are asked for at most.
enum class FeatureChoice {
  even,  ///< at each cell's center
  corners  ///< at each cell's strongest corner (Shi and Tomasi 1994), which has to be a maximum of the 3x3 pixels around
};
constexpr std::array<std::string_view, 2> names_of(FeatureChoice) { return {"even", "corners"}; }

/// The features that guide a flow where none are given: found in the first frame, tracked to the second by pyramidal
/// Lucas-Kanade and back, tracked again from the flow of others around where they are lost, and dropped where they do not fit
/// those around them.
struct FeatureTracking {
  FeatureChoice features = FeatureChoice::even;
  int max_features = 1000;
  int track_window = 9;
  int track_levels = 4;
  int track_iterations = 30;
  float track_check = 0.5f;
  int track_rounds = 2;
  float track_outliers = 3;
};

template <class Tracking, class Visitor>
requires std::is_same_v<std::remove_const_t<Tracking>, FeatureTracking>
void describe(Tracking& tracking, Visitor&& visit) {
  static constexpr std::array odd_sides{3, 5, 7, 9, 11, 13, 15, 17, 19, 21};
  visit(tracking.features, Parameter<FeatureChoice>{
                               "features", FeatureChoice::even, FeatureChoice::corners, "",
                               "where features are tracked from: the center of each cell of a grid, or each "
                               "cell's strongest corner"});
  visit(tracking.max_features,
        Parameter<int>{"max_features", 1, 65536, "",
                       "cells of that grid, at most; and as many tracks can be given"});
  visit(tracking.track_window,
        Parameter<int>{"track_window", 3, 21, "px", "side of a feature's square window: odd", odd_sides});
  visit(tracking.track_levels,
        Parameter<int>{"track_levels", 1, 16, "",
                       "pyramid levels; a level whose shorter side would be under 4 px is left out"});
  visit(tracking.track_iterations,
        Parameter<int>{"track_iterations", 1, 100, "", "solutions on each level, at most"});
  visit(tracking.track_check,
        Parameter<float>{"track_check", 0, 100, "px",
                         "a feature is dropped that, tracked there and back, ends as far from its place or "
                         "further; 0 = no check"});
  visit(tracking.track_rounds,
        Parameter<int>{"track_rounds", 0, 64, "",
                       "rounds in which features that were dropped try again, at full resolution, from the "
                       "flows of the nearest tracks in 8 directions, so that the flow of what is small and "
                       "fast spreads from a few of its features; 0 = none"});
  visit(tracking.track_outliers,
        Parameter<float>{
            "track_outliers", 0, 1000, "",
            "a feature is dropped whose flow differs from the median of the 3x3 cells around by that "
            "many times their median difference from it (at least 0.7 px) or more; 0 = none"});
}

}  // namespace parafield
