// SPDX-License-Identifier: MIT
#pragma once
#include "gradient/adaptive_ridge/fusion/fusion.hpp"
#include "steps/affine/interpolation.hpp"
#include "steps/colors/colors.hpp"
#include "steps/matches/matcher.hpp"

namespace parafield {

/// Flow from matches of two frames, used where it differs from the least-squares flow. Coarse matches tell
/// whether least squares missed any motion; `fuse` does the rest.
template <class Backend>
class MatchedFlow {
 public:
  MatchedFlow(Backend& backend, Workspace& workspace, const FeatureMatching& matching, Size size,
              const KeptFrames& kept)
      : matcher_(backend, workspace, matching, size, 2),
        color_taps_(gaussian_taps(color_sigma)),
        kept_(kept),
        colors_{make_color_planes<Backend>(workspace, size), make_color_planes<Backend>(workspace, size)},
        interpolation_(backend, workspace, seed_grid_of(size, matching.match_stride)),
        settled_(make_matches(workspace, seed_grid_of(size, matching.match_stride))),
        fused_(workspace.flow(size)),
        filled_(workspace.flow(size)),
        back_(workspace.flow(size)),
        missed_counts_(workspace.array<int>(std::size_t(larger(size.height, 2)))),
        missed_(workspace.array<int>(1)),
        backend_(backend),
        levels_(int(FeatureMatcher<Backend>::level_sizes(matching, size).size())),
        fewest_visible_(matching.match_region / 2) {}

  int levels() const { return levels_; }        ///< number of pyramid levels used to describe frames
  FlowPlanes fused() const { return fused_; }   ///< result of `fuse`
  FlowPlanes back() const { return back_; }     ///< flow of the second frame, from matches alone
  FlowPlanes spare() const { return filled_; }  ///< planes that are free after `fuse`
  /// Lends the memory that `fuse` overwrites.
  void lend(SharedWorkspace& to) const {
    for (const FlowPlanes& flow : {fused_, filled_, back_}) to.lend(flow);
    for (const Colors& colors : colors_) lend_colors<Backend>(colors, to);
  }

  /// Records that `count` slots from `slot` on hold new frames. The previous call's frames must already be
  /// described.
  void prepare(int slot, int count) {
    first_new_ = slot;
    new_count_ = count;
  }

  /// Describes the new frames for find_coarse. `pyramids`: of both slots.
  void describe_new(const Pyramid* pyramids) {
    if (new_count_ == 0) return;
    const Pyramid described[] = {described_part(pyramids[0]), described_part(pyramids[1])};
    matcher_.describe_coarse(described + first_new_, first_new_, new_count_);
    new_count_ = 0;
  }

  /// Finds the coarse matches that find_missed and fuse start from, unless this was done since `prepare`.
  /// `pyramids`: of both slots.
  void find_coarse(const Pyramid* pyramids) {
    describe_new(pyramids);
    matcher_.find_coarse(0, 1);
  }

  /// Compares the flow from slot `from` to slot `to` with the coarse matches. Sets `missed` to whether the
  /// flow missed any motion.
  void find_missed(int from, int to, FlowPlanes flow, const Condition& missed) {
    const int level = matcher_.coarse_level();
    parafield::find_missed(backend_, matcher_.find_coarse(from, to),
                           {from < to ? 0 : 1, level, flow.u, flow.v}, missed_counts_, missed);
  }
  /// Where find_missed stores its answer.
  int* missed() const { return missed_; }

  /// Computes the flow from the frame in slot `from` to the frame in slot `to`: `first`, or the flow of
  /// matches where the two differ. Hidden pixels take the flow of visible pixels around them, guided by
  /// color.
  void fuse(int from, int to, const Pyramid* pyramids, FlowPlanes first) {
    const Pyramid described[] = {described_part(pyramids[0]), described_part(pyramids[1])};
    matcher_.describe_fine(described, 0, 2);
    const View<float> scratch[] = {fused_.u, fused_.v, filled_.u};
    smooth_kept(backend_, kept_, color_taps_, scratch, colors_);
    const View<const float> luma0 = pyramids[from].level[0], luma1 = pyramids[to].level[0];
    const SettleFrames there{{colors_[from], colors_[to]}, {luma0, luma1}},
        back{{there.colors[1], there.colors[0]}, {luma1, luma0}};
    const Matches& matches_back = matcher_.find(to, from, luma1, luma0);
    matcher_.prefer(to, from, first, true);
    settle_matches(backend_, matches_back, back, settled_);
    interpolation_.interpolate(settled_, back.colors[0], back_, {});

    const Matches& matches = matcher_.find(from, to, luma0, luma1);
    matcher_.prefer(from, to, first, false);
    snap_matches(backend_, first, matches);
    settle_matches(backend_, matches, there, settled_);
    interpolation_.interpolate(settled_, there.colors[0], fused_, {});
    fuse_flow(backend_, first, fused_);

    take_visible(backend_, fused_, back_, settled_);
    matcher_.drop_regions(settled_, fewest_visible_);
    interpolation_.interpolate(settled_, there.colors[0], filled_, {});
    fill_hidden(backend_, fused_, back_, filled_);
  }

 private:
  static constexpr float color_sigma = 1;  // px: smooths out noise before colors are compared

  Pyramid described_part(Pyramid pyramid) const {
    pyramid.levels = levels_;
    return pyramid;
  }

  FeatureMatcher<Backend> matcher_;
  const Taps color_taps_;
  const KeptFrames kept_;
  const Colors colors_[2];  // smoothed
  AffineInterpolation<Backend> interpolation_;
  const Matches settled_;  // matches after settling, then the seeds of visible pixels
  const FlowPlanes fused_, filled_, back_;
  int *const missed_counts_, *const missed_;
  Backend& backend_;
  const int levels_;
  int first_new_ = 0, new_count_ = 0;  // slots whose frames are not yet described
  const int fewest_visible_;           // smallest region of visible pixels to keep, in seeds
};

}  // namespace parafield
