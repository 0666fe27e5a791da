// SPDX-License-Identifier: MIT
#pragma once
#include "common/pairs.hpp"
#include "kim/guided.hpp"

namespace parafield::bench {

/// A bar before a background, and tracks of the background.
struct PoleScene {
  FrameBuffer frame0, frame1;
  FlowField truth;
  Image<std::uint8_t> seen;  ///< 1 where frame 1 shows the pixel
  float bar_u, bar_v;        ///< flow of the bar, px
  float ground_u, ground_v;  ///< flow of the background, px
  float x;                   ///< center of the bar, px
  Tracks tracks;             ///< no window of a track touches the bar

  bool on_bar(int x, int y) const { return truth.u(x, y) == bar_u && truth.v(x, y) == bar_v; }
  /// The tracks, and one on the bar.
  Tracks with_one_on_bar() const;
  /// The tracks, and `count` in the corner furthest from the bar, with flows from the background's to the
  /// bar's.
  Tracks with_labels_elsewhere(int count) const;
};

/// Renders the scene `name`, bar or camouflage, and tracks its background.
PoleScene pole_scene(const char* name, Size size, std::uint64_t seed, const Device& device);

struct PoleScores {
  double bar = 0;                                 ///< share of the bar's pixels within 1 px of their flow
  double background = 0;                          ///< the same for the background's pixels that frame 1 shows
  double unclassified = 0;                        ///< share of all pixels
  double accepted_epe = 0, unclassified_epe = 0;  ///< px; NaN without such pixels
};
PoleScores score(const FlowField& flow, const PoleScene& scene);

}  // namespace parafield::bench
