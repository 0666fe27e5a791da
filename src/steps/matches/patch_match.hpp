// SPDX-License-Identifier: MIT
#pragma once
#include "steps/matches/seeds.hpp"

/// Coarse-to-fine PatchMatch between two frames, there and back, on seeds (Hu, Song, Li: Efficient
/// coarse-to-fine PatchMatch for large displacement optical flow, 2016). All seeds of a level search at once,
/// from what all had before.
namespace parafield {

/// One level of two frames, and the seeds' matches: [0] from frame 0 to frame 1, [1] from frame 1 to frame 0.
struct MatchLevel {
  SeedGrid grid;
  Descriptors frames[2];
  SeedMatch* matches[2];
};

/// Matches the seeds of the coarsest level with the same place and random places of the whole frame.
template <class Backend>
void start_matches(Backend& backend, const MatchLevel& level);

/// Starts the seeds of a level from the matches of the next coarser one.
template <class Backend>
void refine_matches(Backend& backend, const MatchLevel& coarser, const MatchLevel& level);

/// One iteration. Seeds try the flows of neighbors and random ones near their own. `found`: other memory than
/// the level's matches.
template <class Backend>
void improve_matches(Backend& backend, const MatchLevel& level, const SeedSearch& search,
                     SeedMatch* const* found);

/// Matches of the seeds of one frame.
struct Matches {
  SeedGrid grid;
  View<float> u, v;  ///< one value a seed; flow in px
  View<std::uint8_t> valid;
};

/// What a match of the finest level has to pass.
struct MatchCheck {
  float distance2;  ///< of there and back, px^2: from that on it is dropped. 0 = no check
  View<const float> luma0, luma1;
};

/// Writes the matches of frame `first` (0 or 1), in whole px. Those are valid that begin and end at finite
/// pixels, have texture, and come back.
template <class Backend>
void check_matches(Backend& backend, const MatchLevel& finest, int first, const MatchCheck& check,
                   const Matches& matches);

/// Fits the valid matches to fractions of a pixel, in x and in y: two lines of opposite slopes through the
/// costs at the match and beside it meet there.
template <class Backend>
void fit_matches(Backend& backend, const MatchLevel& finest, int first, const Matches& matches);

/// A seed has texture if its patch's bytes have at least this sum. That of a textured patch is about 4000.
constexpr int least_patch_texture = 256;

/// Whether a match comes back. (x, y): the seed.
PF_HD bool comes_back(const MatchLevel& finest, int first, int x, int y, const SeedMatch& match,
                      float distance2) {
  const SeedGrid& grid = finest.grid;
  const int end_x = x + match.u, end_y = y + match.v;
  const SeedMatch back =
      finest.matches[1 - first][grid.row_near(end_y) * grid.columns + grid.column_near(end_x)];
  const float u = float(match.u + back.u), v = float(match.v + back.v);
  return (distance2 <= 0) | (fma(u, u, v * v) < distance2);
}

/// Whether a pixel has neighbors on all sides.
PF_HD bool is_inner(const SeedGrid& grid, int x, int y) {
  return grid.has_pixel(x - 1, y - 1) & grid.has_pixel(x + 1, y + 1);
}

/// Where two lines of slopes t and -t meet, px off the middle of three costs.
PF_HD float fitted(int before, int middle, int after) {
  const float rise = float(larger(before, after) - middle);
  return rise > 0 ? clamp(0.5f * float(before - after) / rise, -0.5f, 0.5f) : 0.0f;
}

}  // namespace parafield
