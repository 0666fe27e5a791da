// SPDX-License-Identifier: MIT
#pragma once
#include <utility>
#include <vector>

#include "parafield/methods/feature_matching.hpp"
#include "steps/matches/patch_match.hpp"
#include "steps/speckle/speckle.hpp"

namespace parafield {

/// Matches features between frames over any distance. Each slot holds the descriptors of one frame.
template <class Backend>
class FeatureMatcher {
 public:
  /// Sizes of the pyramid levels that `describe` expects.
  static std::vector<Size> level_sizes(const FeatureMatching& matching, Size size) {
    std::vector<Size> sizes = pyramid_sizes(size, matching.match_levels);
    while (sizes.size() > 1 && smaller(sizes.back().width, sizes.back().height) < shortest_side)
      sizes.pop_back();
    return sizes;
  }

  FeatureMatcher(Backend& backend, Workspace& workspace, const FeatureMatching& matching, Size size,
                 int slots)
      : backend_(backend), matching_(matching), sizes_(level_sizes(matching, size)) {
    for (int slot = 0; slot < slots; ++slot)
      for (const Size level : sizes_) descriptors_.push_back(make_descriptors(workspace, level));
    const SeedGrid grid = seed_grid_of(size, matching.match_stride),
                   coarse = seed_grid_of(sizes_[std::size_t(coarse_level())], matching.match_stride);
    const Size seeds{grid.columns, grid.rows};
    for (int i = 0; i < 2; ++i)
      for (int way = 0; way < 2; ++way) {
        fine_.matches[i][way] = workspace.array<SeedMatch>(std::size_t(grid.count()));
        coarse_.matches[i][way] = workspace.array<SeedMatch>(std::size_t(coarse.count()));
      }
    matches_ = make_matches(workspace, grid);
    if (matching.match_region > 1) {
      labels_ = workspace.image<std::int32_t>(seeds);
      counts_ = workspace.image<std::int32_t>(seeds);
    }
    if constexpr (Backend::is_gpu) {
      std::size_t pixels = 0;
      for (const Size level : sizes_) pixels += std::size_t(level.width) * std::size_t(level.height);
      for (DescriptorScratch& scratch : scratch_)
        scratch = {workspace.array<std::uint64_t>(2 * pixels), workspace.array<float>(pixels)};
    }
    backend.reserve_scratch(descriptor_scratch(size.width));
  }

  /// The finest level that find_coarse() matches: a quarter of the frame's size, or the coarsest level.
  int coarse_level() const { return smaller(2, int(sizes_.size()) - 1); }

  /// Describes the frames of one or two pyramids into slots `slot` and following.
  void describe(const Pyramid* pyramids, int slot, int count) {
    describe(pyramids, slot, count, 0, int(sizes_.size()));
  }
  /// Describes only the levels that find_coarse() needs, or only the others.
  void describe_coarse(const Pyramid* pyramids, int slot, int count) {
    describe(pyramids, slot, count, coarse_level(), int(sizes_.size()));
  }
  void describe_fine(const Pyramid* pyramids, int slot, int count) {
    if (coarse_level() > 0) describe(pyramids, slot, count, 0, coarse_level());
  }

  /// Matches two slots in both directions, from the coarsest level to coarse_level(). Keeps the matches of
  /// the previous call if they are for the same slots, not described again since.
  MatchLevel find_coarse(int slot0, int slot1) {
    const std::pair slots{smaller(slot0, slot1), larger(slot0, slot1)};
    if (slots != coarse_.slots) {
      for (int level = int(sizes_.size()) - 1; level >= coarse_level(); --level)
        search_level(backend_, search_of(slots, level, coarse_, coarse_));
      coarse_.slots = slots;
      fine_.slots = no_slots;
    }
    return level_of(slots, coarse_level(), coarse_);
  }

  /// Matches the frame in slot `from` with the frame in slot `to`; `luma0` and `luma1` are their luma. This
  /// also finds the matches in the opposite direction, so that a following find(to, from) only checks them.
  const Matches& find(int from, int to, View<const float> luma0, View<const float> luma1) {
    find_coarse(from, to);
    const std::pair slots{smaller(from, to), larger(from, to)};
    if (slots != fine_.slots)
      for (int level = coarse_level() - 1; level >= 0; --level)
        search_level(backend_, search_of(slots, level, level + 1 == coarse_level() ? coarse_ : fine_, fine_));
    fine_.slots = slots;
    const MatchLevel finest = level_of(slots, 0, coarse_level() > 0 ? fine_ : coarse_);
    const int first = from == slots.first ? 0 : 1;
    const float distance = matching_.match_check;
    check_matches(backend_, finest, first, {distance * distance, luma0, luma1}, matches_);
    drop_regions(matches_, matching_.match_region);
    fit_matches(backend_, finest, first, matches_);
    return matches_;
  }

  /// Gives the matches of the last find(from, to) a known flow where it explains the frames nearly as well.
  /// `flow`: from the frame in slot `from` to the frame in slot `to`; with `reversed`, the other way.
  void prefer(int from, int to, FlowPlanes flow, bool reversed) {
    const std::pair slots{smaller(from, to), larger(from, to)};
    prefer_flow(backend_, level_of(slots, 0, coarse_level() > 0 ? fine_ : coarse_),
                from == slots.first ? 0 : 1, flow, reversed, matches_);
  }

  /// Drops connected regions of fewer than `fewest` matches; `fewest` must be at most match_region.
  void drop_regions(const Matches& matches, int fewest) {
    const View<float> flow[] = {matches.u, matches.v};
    if (fewest > 1)
      remove_speckles(backend_, flow, 2, region_difference, fewest - 1, matches.valid, labels_, counts_);
  }

  const Matches& matches() const { return matches_; }

 private:
  static constexpr std::pair no_slots{-1, -1};
  static constexpr int shortest_side = 16;       // px, of all levels but the finest
  static constexpr float region_difference = 3;  // px, between neighbors in one region

  /// Two sets of matches of two slots. The levels read one and write the other, in turn.
  struct Buffers {
    SeedMatch* matches[2][2] = {};  // [set][0]: forward, [set][1]: backward
    int last = 0;                   // the set that was written last
    std::pair<int, int> slots = no_slots;
  };

  const Descriptors* descriptors_of(int slot) const {
    return descriptors_.data() + std::size_t(slot) * sizes_.size();
  }

  /// Describes levels `first` to `end` - 1.
  void describe(const Pyramid* pyramids, int slot, int count, int first, int end) {
    Pyramid some[2];
    Descriptors to[2 * Pyramid::max_levels];
    for (int i = 0; i < count; ++i) {
      some[i].levels = end - first;
      for (int level = first; level < end; ++level) {
        some[i].level[level - first] = pyramids[i].level[level];
        to[i * (end - first) + level - first] = descriptors_of(slot + i)[level];
      }
    }
    parafield::describe(backend_, some, count, to, scratch_);
    if (end == int(sizes_.size())) coarse_.slots = no_slots;
    fine_.slots = no_slots;
  }

  /// A level of two slots, with the matches written last.
  MatchLevel level_of(std::pair<int, int> slots, int level, const Buffers& buffers) const {
    return {seed_grid_of(sizes_[std::size_t(level)], matching_.match_stride),
            {descriptors_of(slots.first)[level], descriptors_of(slots.second)[level]},
            {buffers.matches[buffers.last][0], buffers.matches[buffers.last][1]}};
  }

  /// The search on a level, in both directions. `coarser`: the buffers with the coarser level's matches.
  LevelSearch search_of(std::pair<int, int> slots, int level, const Buffers& coarser, Buffers& buffers) {
    LevelSearch search{};
    search.number = level;
    search.is_coarsest = level == int(sizes_.size()) - 1;
    search.starts_alone = search.is_coarsest || !Backend::is_gpu;
    search.iterations = (search.is_coarsest ? 2 : 1) * matching_.match_iterations;
    if (!search.is_coarsest) search.coarser = level_of(slots, level + 1, coarser);
    const bool first = search.is_coarsest || level + 1 == coarse_level();
    buffers.last = first ? 0 : 1 - buffers.last;  // replays need the same order in each solve
    search.level = level_of(slots, level, buffers);
    for (int way = 0; way < 2; ++way) search.spare[way] = buffers.matches[1 - buffers.last][way];
    if (search.matches_after(search.iterations) == search.spare) buffers.last = 1 - buffers.last;
    return search;
  }

  Backend& backend_;
  const FeatureMatching matching_;
  const std::vector<Size> sizes_;
  std::vector<Descriptors> descriptors_;  // all levels of slot 0, then of slot 1, ...
  Buffers coarse_, fine_;                 // levels from coarse_level() on; finer levels
  Matches matches_;
  View<std::int32_t> labels_, counts_;
  DescriptorScratch scratch_[2] = {};
};

}  // namespace parafield
