// SPDX-License-Identifier: MIT
#pragma once
#include <utility>
#include <vector>

#include "parafield/methods/feature_matching.hpp"
#include "steps/matches/patch_match.hpp"
#include "steps/speckle/speckle.hpp"

namespace parafield {

/// Matches frames over any distance. Each slot has the descriptors of a frame.
template <class Backend>
class FeatureMatcher {
 public:
  /// Sizes of the levels of the pyramids that `describe` takes.
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
    const SeedGrid grid = seed_grid_of(size, matching.match_stride);
    const Size seeds{grid.columns, grid.rows};
    for (SeedMatch*(&matches)[2] : buffers_)
      for (SeedMatch*& way : matches) way = workspace.array<SeedMatch>(std::size_t(grid.count()));
    matches_ = {grid, workspace.image<float>(seeds), workspace.image<float>(seeds),
                workspace.image<std::uint8_t>(seeds)};
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

  /// Describes the frames of one pyramid or two, in the slots from `slot` on.
  void describe(const Pyramid* pyramids, int slot, int count) {
    parafield::describe(backend_, pyramids, count, descriptors_of(slot), scratch_);
    matched_ = {-1, -1};
  }

  /// Matches the frame in slot `from` with the one in slot `to`. `luma0` and `luma1` are theirs. The way back
  /// is found at the same time: `find(to, from)` then only checks it.
  const Matches& find(int from, int to, View<const float> luma0, View<const float> luma1) {
    const std::pair slots{smaller(from, to), larger(from, to)};
    if (slots != matched_) search(slots.first, slots.second);
    matched_ = slots;
    const MatchLevel finest = level_of(slots.first, slots.second, 0);
    const int first = from == slots.first ? 0 : 1;
    const float distance = matching_.match_check;
    check_matches(backend_, finest, first, {distance * distance, luma0, luma1}, matches_);
    const View<float> flow[] = {matches_.u, matches_.v};
    if (matching_.match_region > 1)
      remove_speckles(backend_, flow, 2, region_difference, matching_.match_region - 1, matches_.valid,
                      labels_, counts_);
    fit_matches(backend_, finest, first, matches_);
    return matches_;
  }

  const Matches& matches() const { return matches_; }

 private:
  static constexpr int shortest_side = 16;       // px, of a level that is not the finest
  static constexpr float region_difference = 3;  // px: of neighbors in one region

  const Descriptors* descriptors_of(int slot) const {
    return descriptors_.data() + std::size_t(slot) * sizes_.size();
  }

  /// A level of two slots, with the matches of the last step.
  MatchLevel level_of(int slot0, int slot1, int level) const {
    return {seed_grid_of(sizes_[std::size_t(level)], matching_.match_stride),
            {descriptors_of(slot0)[level], descriptors_of(slot1)[level]},
            {buffers_[last_][0], buffers_[last_][1]}};
  }

  /// Matches two slots both ways, from the coarsest level to the finest.
  void search(int slot0, int slot1) {
    const int coarsest = int(sizes_.size()) - 1;
    last_ = 0;  // each solve uses the buffers in the same order
    for (int level = coarsest; level >= 0; --level) {
      const bool first = level == coarsest;
      if (first) {
        start_matches(backend_, level_of(slot0, slot1, level));
      } else {
        const MatchLevel coarser = level_of(slot0, slot1, level + 1);
        last_ = 1 - last_;
        refine_matches(backend_, coarser, level_of(slot0, slot1, level));
      }
      const int iterations = first ? 2 * matching_.match_iterations : matching_.match_iterations;
      for (int i = 0; i < iterations; ++i) {
        const MatchLevel from = level_of(slot0, slot1, level);
        last_ = 1 - last_;
        improve_matches(backend_, from, seed_search(from.grid, level, first, i, iterations), buffers_[last_]);
      }
    }
  }

  Backend& backend_;
  const FeatureMatching matching_;
  const std::vector<Size> sizes_;
  std::vector<Descriptors> descriptors_;  // of each slot all levels
  SeedMatch* buffers_[2][2] = {};         // read and written in turn; [1] of each is the way back
  int last_ = 0;                          // the buffer that was written last
  std::pair<int, int> matched_{-1, -1};   // slots whose matches the buffer has
  Matches matches_;
  View<std::int32_t> labels_, counts_;
  DescriptorScratch scratch_[2] = {};
};

}  // namespace parafield
