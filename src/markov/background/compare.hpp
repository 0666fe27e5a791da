// SPDX-License-Identifier: MIT
#pragma once
#include "markov/background/light.hpp"

/// The distance of a pixel from its background: the third smallest distance from its samples, so that a few
/// wrong samples cannot hide a change. The distance of a color is the difference of lumas, or 1.5 times the
/// larger difference of the two chromas, whichever is larger. In another light, chromas count a third of
/// that. Leaves move: a dynamic pixel is compared with the samples of 3x3 pixels, 2 px apart, and takes the
/// smallest of the nine distances. Chromas count more there, because leaves keep their color. The same
/// comparison tells of a pixel that has just left its own samples whether leaves explain it (is_leaf).
namespace parafield {

/// Data costs from distances. A difference is a distance divided by the spread, limited to 3 * `mean` and
/// stored as a byte in steps of `step`.
struct BackgroundModel : ChangeModel {
  float scale = 0, step = 0;  // a difference's byte is scale * distance / spread
  float pair = 0;             // cost of two neighbors with different labels
};
constexpr int top_difference = 254;

/// Stores lumas and colors, corrected for shift and light, their distances from the samples, and differences.
template <class Backend>
void compare_background(Backend& backend, const SeenFrame& frame, const Background& background,
                        const BackgroundModel& model);

// Shared by both backends.

/// A luma or color, brightness-corrected to match the samples.
PF_HD int lit_byte(int value, float inverse_gain) {
  const int lit = int(smaller(float(value) * inverse_gain, float(most_luma)) + 0.5f);
  return value == no_luma ? no_luma : lit;
}

/// Whether chromas count less because the light has changed.
PF_HD bool is_other_light(Gains gains) {
  return gains.second > 0 || gains.first < 0.9f || gains.first > 1.1f;
}

constexpr int leaf_step = 2;  // px between the pixels whose samples a dynamic pixel is compared with

/// Weight of chromas, in halves.
PF_HD int chroma_weight(bool dynamic, bool other_light) {
  return dynamic ? (other_light ? 3 : 10) : (other_light ? 1 : 3);
}
/// A distance of chromas as one of lumas.
PF_HD int chroma_distance(int apart, int weight) { return smaller(apart * weight >> 1, 255); }

/// A difference as a byte, limited so that one pixel cannot dominate its neighbors.
PF_HD int difference_byte(float distance, float factor) {
  return int(smaller(distance * factor, float(top_difference)) + 0.5f);
}
PF_HD float factor_of(const BackgroundModel& model, int spread) { return model.scale / float(spread); }

/// Whether a difference as a byte seems to be motion.
PF_HD bool byte_seems_moving(const BackgroundModel& model, int difference) {
  return seems_moving(model, float(difference) * model.step);
}

}  // namespace parafield
