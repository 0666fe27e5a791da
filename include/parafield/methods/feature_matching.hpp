// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/method.hpp"

namespace parafield {

/// How features are matched: over any distance, without a start. Each frame is described by the directions
/// of its gradients, at every pixel and level of a pyramid. Seeds lie every `match_stride` px of each level.
/// The coarsest level's seeds compare random places of the whole frame; finer levels' start from the level
/// before. Then a seed tries the flows of its neighbors and random flows near its own, and keeps the best
/// (Hu, Song, Li: Efficient coarse-to-fine PatchMatch for large displacement optical flow, 2016). Both
/// frames are matched with each other, and a match is kept where the two agree.
struct FeatureMatching {
  static constexpr std::string_view name = "feature matching";

  PF_PARAMETER(
      int, match_stride, 4, range(2, 32, "px"),
      "Distance between matches. Less finds smaller things. The cost is 1 / match_stride^2. All parameters "
      "match_* are for matches only.");
  PF_PARAMETER(int, match_levels, 5, range(1, 16),
               "Pyramid levels. Levels other than the finest with a shorter side under 16 px are left out.");
  PF_PARAMETER(int, match_iterations, 4, range(1, 100),
               "Tries on each level. The coarsest has twice as many.");
  PF_PARAMETER(
      float, match_check, 1.5f, range(0, 100, "px"),
      "Largest error there and back, 0 = no check. A match is dropped where the match of its end leads "
      "this far from its place or further.");
  PF_PARAMETER(int, match_region, 40, range(0, 65536),
               "Fewest matches that move alike. Neighbors whose flows differ by at most 3 px are one region. "
               "A smaller region is dropped. 0 = none is.");
};

}  // namespace parafield
