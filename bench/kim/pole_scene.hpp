#pragma once
#include "common/pairs.hpp"
#include "kim/guided.hpp"

namespace parafield::bench {

/// A bar before a background, and tracks of the background.
struct PoleScene {
  FrameBuffer frame0, frame1;
  FlowField truth;
  Image<std::uint8_t> seen;  ///< 1 where frame 1 shows the pixel
  float bar_u, bar_v;        ///< the bar's flow, px
  float ground_u, ground_v;  ///< the background's
  float x;                   ///< the bar's center, px
  Tracks tracks;             ///< none within a window's reach of the bar

  bool on_bar(int x, int y) const { return truth.u(x, y) == bar_u && truth.v(x, y) == bar_v; }
  /// The tracks and one on the bar.
  Tracks with_one_on_bar() const;
  /// The tracks and `count` in the corner furthest from the bar, from near the background's flow to the bar's.
  Tracks with_labels_elsewhere(int count) const;
};

/// `name`: bar or camouflage.
PoleScene pole_scene(const char* name, Size size, std::uint64_t seed, const Device& device);

struct PoleScores {
  double bar = 0;                                 ///< share of the bar's pixels within 1 px of their flow
  double background = 0;                          ///< of the background's that frame 1 shows
  double unclassified = 0;                        ///< share of all pixels
  double accepted_epe = 0, unclassified_epe = 0;  ///< px; NaN where there is no such pixel
};
PoleScores score(const FlowField& flow, const PoleScene& scene);

}  // namespace parafield::bench
