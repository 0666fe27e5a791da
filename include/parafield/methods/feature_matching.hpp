// SPDX-License-Identifier: MIT
#pragma once
#include "parafield/method.hpp"

namespace parafield {

/// Matching of features over any distance, without an initial guess. Each frame is described by its gradient
/// directions, at every pixel and level of a pyramid. Seeds are `match_stride` px apart on each level. The
/// coarsest level's seeds compare random places of the whole frame; finer levels start from the next coarser
/// level. Then each seed tries the flows of its neighbors and random flows near its own, and keeps the best
/// (Hu, Song, Li: Efficient coarse-to-fine PatchMatch for large displacement optical flow, 2016). Frames are
/// matched forward and backward, and a match is kept if both directions agree.
struct FeatureMatching {
  static constexpr std::string_view name = "feature matching";

  PF_PARAMETER(int, match_stride, 4, range(2, 32, "px"),
               "Distance between matches. A smaller distance finds smaller objects; the time grows with 1 / "
               "match_stride^2. The match_* parameters apply to matches only.");
  PF_PARAMETER(int, match_levels, 5, range(1, 16),
               "Pyramid levels. Levels with a shorter side under 16 px are left out, except the finest.");
  PF_PARAMETER(int, match_iterations, 4, range(1, 100),
               "Iterations on each level. The coarsest level has twice as many.");
  PF_PARAMETER(float, match_check, 1.5f, range(0, 100, "px"),
               "Largest forward-backward error, 0 = no check. A match is dropped if the match back from its "
               "end misses its start by this much or more.");
  PF_PARAMETER(int, match_region, 40, range(0, 65536),
               "Fewest matches that move alike. Neighbors whose flows differ by at most 3 px form a region. "
               "Smaller regions are dropped. 0 = keep all.");
};

}  // namespace parafield
