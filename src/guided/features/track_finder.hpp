// SPDX-License-Identifier: MIT
#pragma once
#include <optional>
#include <vector>

#include "core/workspace.hpp"
#include "guided/features/corners.hpp"
#include "guided/features/tracking.hpp"
#include "guided/features/tracks.hpp"
#include "steps/matches/matcher.hpp"
#include "steps/pyramid/pyramid.hpp"

namespace parafield {

/// Finds features in a frame and tracks or matches them, from any slot to any other. Each slot holds a
/// frame's pyramid.
template <class Backend>
class TrackFinder {
 public:
  TrackFinder(Backend& backend, Workspace& workspace, const FeatureTracking& tracking, Size size, int slots)
      : backend_(backend),
        tracking_(tracking),
        grid_(feature_grid_of(size, tracking.max_features)),
        pyramids_(std::size_t(slots)) {
    const bool matches = tracking.features == FeatureChoice::matches;
    const std::vector<Size> sizes = matches ? FeatureMatcher<Backend>::level_sizes(tracking.matching, size)
                                            : pyramid_sizes(size, tracking.track_levels);
    for (Pyramid& pyramid : pyramids_)
      for (const Size level : sizes) pyramid.level[pyramid.levels++] = workspace.image<float>(level);
    const auto cells = std::size_t(grid_.count());
    if (matches) {
      matcher_.emplace(backend, workspace, tracking.matching, size, slots);
      found_ = workspace.array<Track>(cells);
      return;
    }
    const int steps = tracking.track_rounds + (tracking.track_outliers > 0);
    for (int i = 0; i <= smaller(steps, buffers - 1); ++i) tracks_[i] = workspace.array<Track>(cells);
    found_ = tracks_[steps % buffers];
    if (tracking.features == FeatureChoice::corners) {
      scores_ = workspace.image<float>(size);
      corners_ = workspace.array<Feature>(cells);
    }
  }

  /// Converts one or two frames into luma pyramids, in the slots from `slot` on.
  void prepare(const Frame* frames, int slot, int count) {
    const Pyramid* const pyramids = pyramids_.data() + slot;
    convert_pyramids(backend_, frames, pyramids, count);
    if (matcher_) matcher_->describe(pyramids, slot, count);
  }

  /// Finds the features of the frame in slot `from` and tracks them to the frame in slot `to`.
  void find(int from, int to) {
    if (matcher_) return take_matches(backend_, find_matches(from, to), grid_, found_);
    if (corners_) find_corners(backend_, pyramid(from).level[0], grid_, scores_, corners_);
    const TrackingParameters p = tracking_parameters(tracking_);
    const auto buffer = [this](int step) { return tracks_[step % buffers]; };
    track_features(backend_, pyramid(from), pyramid(to), grid_, corners_, p, buffer(0));
    const int rounds = tracking_.track_rounds;
    for (int i = 0; i < rounds; ++i)
      retry_features(backend_, pyramid(from), pyramid(to), grid_, p, i > 0 ? buffer(i - 1) : nullptr,
                     buffer(i), buffer(i + 1));
    if (tracking_.track_outliers > 0)
      drop_outliers(backend_, buffer(rounds), grid_, tracking_.track_outliers, buffer(rounds + 1));
  }

  /// Matches the frame in slot `from` with the frame in slot `to`. Only for features = matches.
  const Matches& find_matches(int from, int to) {
    return matcher_->find(from, to, pyramid(from).level[0], pyramid(to).level[0]);
  }

  /// Tracks, one per cell, in the backend's memory. A dropped feature has u = v = NaN. If there was no corner
  /// or no match, x = y = NaN as well.
  const Track* tracks() const { return found_; }
  int count() const { return grid_.count(); }
  FeatureGrid grid() const { return grid_; }
  const Pyramid& pyramid(int slot) const { return pyramids_[std::size_t(slot)]; }

 private:
  static constexpr int buffers = 3;  // a round writes one buffer and reads the two written before it

  Backend& backend_;
  const FeatureTracking tracking_;
  const FeatureGrid grid_;
  std::vector<Pyramid> pyramids_;  // one for each slot
  Track* tracks_[buffers] = {};    // used in turn by tracking, rounds and outliers
  Track* found_ = nullptr;         // result of the last step
  View<float> scores_;
  std::optional<FeatureMatcher<Backend>> matcher_;
  Feature* corners_ = nullptr;  // null = features are at the centers of the cells
};

}  // namespace parafield
