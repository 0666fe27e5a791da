// SPDX-License-Identifier: MIT
#pragma once
#include "markov/background/compare.hpp"

/// Shadows, in color. A shadow darkens the background, keeps its color, and keeps its texture, only darker: in
/// eight directions, the luma changes as the background does, times the same factor. The better this holds,
/// the more of the distance is tolerated, up to 0.55 of the background's luma. Cf. Horprasert, Harwood, Davis
/// (1999) for the color, and Rosin and Ellis (1995) for the texture.
namespace parafield {

/// Reduces the differences of pixels that may be in a shadow. Does nothing if colors are not compared.
template <class Backend>
void drop_shadows(Backend& backend, const Background& background, const BackgroundModel& model);

// Shared by both backends.

constexpr int shadow_support = 32;  // least support of a background that a shadow can fall on
constexpr int shadow_reach = 2;     // px between a pixel and the ones that its texture is compared with
constexpr int deepest_shadow = 38;  // per cent of the light that is left

/// Stores the difference of a pixel whose distance seems to be motion without what a shadow explains.
PF_HD void drop_shadow(const Background& background, const BackgroundModel& model, int x, int y) {
  constexpr float most_tolerance = 0.55f, most_texture = 10, most_color = 2.5f;  // the last two in spreads
  const BackgroundRow row = background.row(y);
  const int luma = row.luma()[x], mean = (row.mean()[x] + 128) >> 8;
  if (luma >= mean || 100 * luma < deepest_shadow * mean || row.support()[x] < shadow_support) return;
  int texture = 0;  // times 8 mean
  for (int i = 0; i < 8; ++i) {
    const Offset to = neighbor_offset(i);
    const int there_x = clamp(x + shadow_reach * to.x, 0, background.size.width - 1),
              there_y = clamp(y + shadow_reach * to.y, 0, background.size.height - 1);
    const BackgroundRow there = background.row(there_y);
    const int slope = luma - there.luma()[there_x], expected = mean - ((there.mean()[there_x] + 128) >> 8);
    const int off = slope * mean - luma * expected;
    texture += off < 0 ? -off : off;
  }
  const int spread_byte = larger(int(row.spread()[x]), least_spread_of(background));
  const float spread = float(spread_byte) * (1.0f / spread_unit), share = float(luma) / float(mean);
  const float off_blue = magnitude(float(row.blue()[x]) - share * (float(row.mean_blue()[x]) * (1.0f / 256))),
              off_red = magnitude(float(row.red()[x]) - share * (float(row.mean_red()[x]) * (1.0f / 256)));
  const float same_texture = larger(1 - float(texture) / (8 * float(mean)) / (most_texture * spread), 0.0f),
              same_color = larger(1 - larger(off_blue, off_red) / (most_color * spread), 0.0f);
  const float tolerance = most_tolerance * float(mean) * same_texture * same_color;
  const int reduced =
      difference_byte(larger(float(row.distance()[x]) - tolerance, 0.0f), factor_of(model, spread_byte));
  if (reduced >= row.difference()[x]) return;
  row.difference()[x] = std::uint8_t(reduced);
  if (!byte_seems_moving(model, reduced)) row.apart()[x] |= in_shadow;
}

}  // namespace parafield
