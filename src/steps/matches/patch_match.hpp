// SPDX-License-Identifier: MIT
#pragma once
#include "core/backend_interface.hpp"
#include "steps/matches/seeds.hpp"

/// Coarse-to-fine PatchMatch between two frames, in both directions, on a grid of seeds (Hu, Song, Li:
/// Efficient coarse-to-fine PatchMatch for large displacement optical flow, 2016). All seeds of a level
/// search simultaneously, from the matches of the previous iteration.
namespace parafield {

/// One level of two frames and the seeds' matches: [0] from frame 0 to frame 1, [1] from frame 1 to frame 0.
struct MatchLevel {
  SeedGrid grid;
  Descriptors frames[2];
  SeedMatch* matches[2];
};

/// The search on a level. `coarser` is the next coarser level, unless this is the coarsest.
struct LevelSearch {
  MatchLevel level, coarser;
  /// Memory of the same size as the level's matches. Iterations read one and write the other, in turn.
  SeedMatch* spare[2];
  int number;  ///< index of the level
  int iterations;
  bool is_coarsest;
  /// Whether a separate step writes the starting matches. Otherwise, the first iteration computes its own
  /// start.
  bool starts_alone;

  PF_HD SeedMatch* const* matches_after(int count) const {
    return (count + !starts_alone) % 2 == 0 ? level.matches : spare;
  }
  PF_HD SeedSearch step(int iteration) const {
    return seed_search(level.grid, number, is_coarsest, iteration, iterations);
  }
};

/// Searches a level. On the coarsest level, each seed starts from the best of the same position and random
/// positions in the whole frame; on other levels, from the match of the next coarser level. In each
/// iteration, a seed tries the flows of neighboring seeds, and random flows near its own.
template <class Backend>
void search_level(Backend& backend, const LevelSearch& search);

/// Matches of one frame's seeds.
struct Matches {
  SeedGrid grid;
  View<float> u, v;  ///< one value per seed; flow in px
  View<std::uint8_t> valid;

  PF_HD Motion flow(int column, int row) const { return {u(column, row), v(column, row)}; }
  PF_HD void set(int column, int row, const Motion& flow) const {
    u(column, row) = flow.u, v(column, row) = flow.v;
  }
};

inline Matches make_matches(Workspace& workspace, const SeedGrid& grid) {
  const Size seeds = grid.seeds();
  return {grid, workspace.image<float>(seeds), workspace.image<float>(seeds),
          workspace.image<std::uint8_t>(seeds)};
}

/// Conditions for a valid match of the finest level.
struct MatchCheck {
  float distance2;  ///< px^2; the match forward and back must end closer than this to its start; 0 = no check
  View<const float> luma0, luma1;
};

/// Writes the matches of frame `first` (0 or 1), in whole px. A match is valid if it begins and ends at
/// finite pixels, its patch has texture, and it passes the forward-backward check.
template <class Backend>
void check_matches(Backend& backend, const MatchLevel& finest, int first, const MatchCheck& check,
                   const Matches& matches);

/// Sets matches of frame `first` (0 or 1) to a known flow where the match is ambiguous: the flow is a good
/// match, too, and costs nearly as little (see is_as_good). These are valid matches that are more than
/// missed_distance from the flow, and matches that are not valid. `flow`: of the frame at the finest level;
/// with `reversed`, of the other frame.
template <class Backend>
void prefer_flow(Backend& backend, const MatchLevel& finest, int first, FlowPlanes flow, bool reversed,
                 const Matches& matches);

/// Refines the valid matches to fractions of a pixel, in x and in y: the costs at the match and its two
/// neighbors lie on two lines of opposite slopes, which meet at the refined position.
template <class Backend>
void fit_matches(Backend& backend, const MatchLevel& finest, int first, const Matches& matches);

/// Flow of frame `first` (0 or 1) at the finest level, to compare with the matches of level `level`.
struct ComparedFlow {
  int first, level;
  View<const float> u, v;
};

/// Sets `missed` to whether the flow has missed motion that a level's matches have found: at least 1 of 250
/// seeds, and at least 3, must be missed. A seed is missed if it has texture, its match passes the forward-backward check, is
/// more than `missed_distance` from the flow and costs less than 4 / 5 of the flow's cost, and the flow stays
/// inside the frame. `counts`: scratch, one number for each row of seeds and at least two; it must be 0
/// before the first call.
template <class Backend>
void find_missed(Backend& backend, const MatchLevel& level, const ComparedFlow& flow, int* counts,
                 const Condition& missed);

/// A seed has texture if its patch's bytes add up to at least this. A textured patch has about 4000.
constexpr int least_patch_texture = 256;

constexpr float missed_distance = 2;  ///< px of the level
constexpr float missed_check = 1.5f;  ///< px of the level; tolerance of the forward-backward check

/// The flow at a seed, in whole px of the level and in halves of a pixel, and whether it is more than
/// missed_distance from the match.
struct FlowAtSeed {
  int u, v, u2, v2;
  bool is_far;
};
PF_HD FlowAtSeed compared_flow(float u, float v, const SeedMatch& match) {
  const float du = u - float(match.u), dv = v - float(match.v);
  constexpr float most = 1 << 20;  // NaN becomes a position outside the frame
  const auto rounded = [](float value, float parts) {
    return int(__builtin_floorf(clamp(value, -most, most) * parts + 0.5f));
  };
  return {rounded(u, 1), rounded(v, 1), rounded(u, 2), rounded(v, 2),
          !(fma(du, du, dv * dv) <= missed_distance * missed_distance)};
}
PF_HD FlowAtSeed flow_at_seed(const ComparedFlow& flow, int x, int y, const SeedMatch& match) {
  const int at_x = smaller(x << flow.level, flow.u.width - 1),
            at_y = smaller(y << flow.level, flow.u.height - 1);
  const float scale = 1 / float(1 << flow.level);
  return compared_flow(flow.u(at_x, at_y) * scale, flow.v(at_x, at_y) * scale, match);
}

/// Cost of a flow: the least cost of the whole pixel nearest to it and its eight neighbors, and of the half
/// pixel nearest to it. Fine repeated structure has a high cost even half a pixel off. `cost(u, v)` returns
/// the cost of whole pixels, `half_cost(u2, v2)` of halves. outside_cost if the flow itself leaves the frame.
template <class Cost, class HalfCost>
PF_HD int flow_cost(const FlowAtSeed& flow, Cost cost, HalfCost half_cost) {
  int least = cost(flow.u, flow.v);
  if (least >= outside_cost) return least;
  for (int k = 0; k < seed_neighbors; ++k) {
    const int place = k < seed_neighbors / 2 ? k : k + 1;
    least = smaller(least, cost(flow.u + place % 3 - 1, flow.v + place / 3 - 1));
  }
  return (flow.u2 | flow.v2) & 1 ? smaller(least, half_cost(flow.u2, flow.v2)) : least;
}

/// The flow of another frame, reversed, at a pixel: minus the flow of the pixel that leads there, which is
/// found in one step from the pixel at the same place.
PF_HD Motion reversed_flow(const FlowPlanes& flow, int x, int y) {
  const int width = flow.u.width, height = flow.u.height;
  const Motion here = flow.at(x, y);
  constexpr float most = 1 << 20;
  const int from_x = clamp(x - int(__builtin_floorf(clamp(here.u, -most, most) + 0.5f)), 0, width - 1),
            from_y = clamp(y - int(__builtin_floorf(clamp(here.v, -most, most) + 0.5f)), 0, height - 1);
  const Motion there = flow.at(from_x, from_y);
  return {-there.u, -there.v};
}

/// The flow that prefer_flow compares with a seed's match.
PF_HD Motion preferable_flow(const FlowPlanes& flow, bool reversed, int x, int y) {
  return reversed ? reversed_flow(flow, x, y) : flow.at(x, y);
}

/// Whether a flow that costs `flow_cost` has missed a match that costs `match_cost`. False if the flow leaves
/// the frame, because its cost is then unknown.
PF_HD bool is_missed(int match_cost, int flow_cost) {
  return (flow_cost < outside_cost) & (5 * match_cost < 4 * flow_cost);
}
/// Whether a flow explains a seed well, compared with the patch's texture, and nearly as well as its match.
/// More is required if the match is not valid, because the seed may be hidden in the other frame.
PF_HD bool is_as_good(int match_cost, int flow_cost, int texture, bool valid) {
  return (texture >= least_patch_texture) & (5 * match_cost >= 4 * flow_cost) &
         ((valid ? 4 : 8) * flow_cost < texture);
}
PF_HD bool are_many_missed(int missed, int seeds) { return (missed >= 3) & (250LL * missed >= seeds); }

/// Forward-backward check of a match. (x, y): the seed.
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

/// Where two lines of slopes t and -t meet, in px from the middle of three costs.
PF_HD float fitted(int before, int middle, int after) {
  const float rise = float(larger(before, after) - middle);
  return rise > 0 ? clamp(0.5f * float(before - after) / rise, -0.5f, 0.5f) : 0.0f;
}

}  // namespace parafield
