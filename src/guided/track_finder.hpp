#pragma once
#include <vector>

#include "steps/convert/convert.hpp"
#include "steps/pyramid/pyramid.hpp"
#include "core/workspace.hpp"
#include "guided/corners/corners.hpp"
#include "guided/outliers/outliers.hpp"
#include "guided/track/track.hpp"

namespace parafield {

/// Features found in one frame and tracked to the next. Frames live in slots, each with its pyramid: any two can be tracked
/// between, either way.
template <class Backend>
class TrackFinder {
 public:
  TrackFinder(Backend& backend, Workspace& workspace, const FeatureTracking& tracking, Size size, int slots)
      : backend_(backend),
        tracking_(tracking),
        grid_(feature_grid_of(size, tracking.max_features)),
        pyramids_(std::size_t(slots)) {
    const std::vector<Size> sizes = pyramid_sizes(size, tracking.track_levels);
    for (Pyramid& pyramid : pyramids_)
      for (const Size level : sizes) pyramid.level[pyramid.levels++] = workspace.image<float>(level);
    const auto cells = std::size_t(grid_.count());
    const int steps = tracking.track_rounds + (tracking.track_outliers > 0);
    for (int i = 0; i <= smaller(steps, buffers - 1); ++i) tracks_[i] = workspace.array<Track>(cells);
    found_ = tracks_[steps % buffers];
    if (tracking.features == FeatureChoice::corners) {
      scores_ = workspace.image<float>(size);
      corners_ = workspace.array<Feature>(cells);
    }
  }

  /// Takes frames into the slots from `slot` on: luma, and its pyramid.
  void prepare(const Frame* frames, int slot, int count) {
    constexpr int most = 2;  // of a step
    for (int i = 0; i < count; i += most) {
      const Pyramid* const pyramids = pyramids_.data() + slot + i;
      const int together = smaller(most, count - i);
      View<float> luma[most];
      for (int k = 0; k < together; ++k) luma[k] = pyramids[k].level[0];
      convert(backend_, frames + i, luma, together);
      build_pyramids(backend_, pyramids, together);
    }
  }

  /// Finds the features of the frame in slot `from` and tracks them to the one in slot `to`.
  void find(int from, int to) {
    if (corners_) find_corners<Backend>(backend_, pyramid(from).level[0], grid_, scores_, corners_);
    const FeatureTracker tracker = feature_tracker(tracking_);
    const auto buffer = [this](int step) { return tracks_[step % buffers]; };
    track_features<Backend>(backend_, pyramid(from), pyramid(to), grid_, corners_, tracker, buffer(0));
    const int rounds = tracking_.track_rounds;
    for (int i = 0; i < rounds; ++i)
      retry_features<Backend>(backend_, pyramid(from), pyramid(to), grid_, tracker,
                              i > 0 ? buffer(i - 1) : nullptr, buffer(i), buffer(i + 1));
    if (tracking_.track_outliers > 0)
      drop_outliers<Backend>(backend_, buffer(rounds), grid_, tracking_.track_outliers, buffer(rounds + 1));
  }

  /// One of each cell, in the backend's memory; one that was dropped has u = v = NaN, and one of a cell without a corner
  /// x = y = NaN, too.
  const Track* tracks() const { return found_; }
  int count() const { return grid_.count(); }
  FeatureGrid grid() const { return grid_; }
  const Pyramid& pyramid(int slot) const { return pyramids_[std::size_t(slot)]; }

 private:
  static constexpr int buffers = 3;  // a round writes one, and reads those of the two rounds before

  Backend& backend_;
  const FeatureTracking tracking_;
  const FeatureGrid grid_;
  std::vector<Pyramid> pyramids_;  // of the frame in each slot
  Track* tracks_[buffers] = {};    // of one step after the other: tracking, rounds, outliers
  Track* found_ = nullptr;         // of the last one
  View<float> scores_;             // of corners
  Feature* corners_ = nullptr;     // null: features are at the centers of the cells
};

}  // namespace parafield
